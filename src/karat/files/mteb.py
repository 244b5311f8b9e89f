"""mteb: a folder with the folders queries and qrels (or default, data), and mostly corpus, as MTEB's datasets are."""

from __future__ import annotations

from karat.files._format import Fit, Format, Kind
from karat.files._retrieval_folder import read_retrieval_folder
from karat.io.dataset_folder import retrieval_parts
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.folder is None or not (input.folder / "queries").is_dir() or retrieval_parts(input.folder) is None:
        return None
    return Fit(0.97, "folders of queries and judgements")


FORMAT = Format(
    name="mteb",
    about="MTEB folder: queries and qrels (or default, data), a folder of Parquet, Arrow or JSONL each",
    sniff=_sniff,
    read_testset=read_retrieval_folder,
)
