"""beir: a folder with queries.jsonl and qrels/*.tsv; the corpus beside them is not read here."""

from __future__ import annotations

from pathlib import Path

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._retrieval_folder import read_retrieval_folder
from karat.files._write import lost_of, write_lines, written
from karat.io.dataset_folder import retrieval_parts
from karat.io.formulas import guarded_cell
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.folder is None or (input.folder / "queries").is_dir() or retrieval_parts(input.folder) is None:
        return None
    return Fit(0.97, "a file of queries and qrels/*.tsv")


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    write_lines(path / "queries.jsonl", ({"_id": question.id, "text": question.text} for question in testset))
    with written(path / "qrels" / "test.tsv") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for qid, docs in (testset.qrels or {}).items():
            for doc, grade in docs.items():
                file.write(f"{_cell(qid)}\t{_cell(doc)}\t{grade}\n")
    lost = lost_of(testset, keeps=("texts", "gold", "grades"))
    return [*lost, "corpus.jsonl (a test set holds no documents)"]


def _cell(text: str) -> str:
    return guarded_cell(" ".join(text.split()) if any(letter in text for letter in '\t\r\n"') else text)


FORMAT = Format(
    name="beir",
    about="BEIR folder: queries.jsonl and qrels/*.tsv",
    sniff=_sniff,
    read_testset=read_retrieval_folder,
    write_testset=_write_testset,
    endings=("/",),
)
