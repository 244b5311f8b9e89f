"""momento: a folder of tables: docs(id, content), queries(id, text, answer), qrels(query_id, doc_id, relevance)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from karat.core.types import Gold, TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._qrels import read_judgements
from karat.files._testset import Reader, refuse_double, testset_of
from karat.results.evaluation import Taken

_ENDINGS = ("parquet", "jsonl", "csv", "tsv", "json")


def _table(folder: Path, name: str) -> Path | None:
    names = (f"{name}.{ending}{packed}" for ending in _ENDINGS for packed in ("", ".gz"))
    return next((path for each in names if (path := folder / each).is_file()), None)


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if kind != "testset" or look.folder is None:
        return None
    if _table(look.folder, "queries") is None or _table(look.folder, "qrels") is None:
        return None
    return Fit(0.9, "tables of queries and qrels")


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    tables = {name: _table(look.folder, name) if look.folder else None for name in ("queries", "qrels")}
    queries, qrels = tables["queries"], tables["qrels"]
    if queries is None or qrels is None:
        raise look.error("no tables of queries and qrels in the folder", remedy="Name them queries.* and qrels.*")
    asked = Look(queries, look.columns)
    reader = Reader(asked)
    rows: dict[str, int] = {}
    questions = []
    for row, record in asked.records():
        question = reader.question(record, row)
        refuse_double(asked, question.id, row, rows, reader.has_ids)
        questions.append(question)
    if not questions:
        raise asked.error("no questions", remedy="Give at least one.")
    judged = read_judgements(Look(qrels))
    unknown = next((qid for qid in judged if qid not in rows), None)
    if unknown is not None:
        raise look.error(
            f"question {unknown!r} of {qrels.name} is not in {queries.name}", remedy="Give matching tables."
        )
    made = [
        replace(q, gold=tuple(Gold(id=doc, grade=grade) for doc, grade in judged.get(q.id, {}).items()))
        for q in questions
    ]
    bare = sum(not q.gold for q in made)
    notes = [f"questions from {queries.name}, judgements from {qrels.name}"]
    if bare:
        notes.append(f"{bare} of {len(made)} questions have no gold")
    return testset_of(look, made, FORMAT.name, notes)


FORMAT = Format("momento", "folder with tables docs, queries and qrels", _sniff, _read_testset)
