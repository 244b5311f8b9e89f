"""momento: a folder of tables: docs(id, content), queries(id, text, answer), qrels(query_id, doc_id, relevance)."""

from __future__ import annotations

from pathlib import Path

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._questions import QuestionReader, gold_notes, joined_judgements
from karat.io.input import Input

_ENDINGS = ("parquet", "jsonl", "csv", "tsv", "json")


def _table(folder: Path, name: str) -> Path | None:
    names = (f"{name}.{ending}{packed}" for ending in _ENDINGS for packed in ("", ".gz"))
    return next((path for each in names if (path := folder / each).is_file()), None)


def _sniff(given: Input, kind: Kind) -> Fit | None:
    if given.folder is None or _table(given.folder, "queries") is None or _table(given.folder, "qrels") is None:
        return None
    return Fit(0.9, "tables of queries and qrels")


def _read_testset(given: Input) -> tuple[TestSet, list[str]]:
    queries, qrels = (_table(given.folder, name) if given.folder else None for name in ("queries", "qrels"))
    if queries is None or qrels is None:
        raise given.error("no tables of queries and qrels in the folder", remedy="Name them queries.* and qrels.*")
    asked = Input.open(queries, given.columns)
    reader = QuestionReader(asked)
    questions = []
    for row, record in asked.records():
        questions.append(reader.read(record, row))
        reader.refuse_double(questions[-1].id, row)
    judged, _ = joined_judgements(given, questions, queries, qrels)
    testset = TestSet(judged, name=given.stem)
    return testset, [f"questions from {queries.name}, judgements from {qrels.name}", *gold_notes(testset)]


FORMAT = Format(
    name="momento", about="folder with tables docs, queries and qrels", sniff=_sniff, read_testset=_read_testset
)
