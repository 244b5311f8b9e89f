"""momento: a folder of tables: docs(id, content), queries(id, text, answer), qrels(query_id, doc_id, relevance)."""

from __future__ import annotations

from pathlib import Path

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._judgements import joined_judgements
from karat.files._questions import gold_notes
from karat.io.input import Input

_ENDINGS = ("parquet", "jsonl", "csv", "tsv", "json")


def _table(folder: Path, name: str) -> Path | None:
    names = (f"{name}.{ending}{packed}" for ending in _ENDINGS for packed in ("", ".gz"))
    return next((path for each in names if (path := folder / each).is_file()), None)


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.folder is None or _table(input.folder, "queries") is None or _table(input.folder, "qrels") is None:
        return None
    return Fit(0.9, "tables of queries and qrels")


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    queries, qrels = (_table(input.folder, name) if input.folder else None for name in ("queries", "qrels"))
    if queries is None or qrels is None:
        raise input.error("no tables of queries and qrels in the folder", remedy="Name them queries.* and qrels.*")
    asked = Input.open(queries, input.columns)
    questions, _ = joined_judgements(input, asked, [Input.open(qrels)])
    input.learn_names(asked)
    testset = TestSet(questions.values(), name=input.stem)
    return testset, [f"questions from {queries.name}, judgements from {qrels.name}", *gold_notes(testset)]


FORMAT = Format(
    name="momento", about="folder with tables docs, queries and qrels", sniff=_sniff, read_testset=_read_testset
)
