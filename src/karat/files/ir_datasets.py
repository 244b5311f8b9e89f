"""ir_datasets: `irds:ID`, the queries and judgements of a dataset, from the cache of ir_datasets alone."""

from __future__ import annotations

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._judgements import joined_judgements
from karat.io.dataset_folder import is_dataset_id
from karat.io.input import Input
from karat.io.irds import qrels_of, queries_of, version


def _sniff(input: Input, kind: Kind) -> Fit | None:
    return Fit(1.0, "the id of a dataset") if is_dataset_id(input.name) else None


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    queries = Input.of_records(input.name, ({"id": id_, "question": text} for id_, text in queries_of(input.name)))
    qrels = Input.of_records(
        input.name, ({"question": id_, "doc": doc, "grade": grade} for id_, doc, grade in qrels_of(input.name))
    )
    questions, judged = joined_judgements(input, queries, [qrels])
    notes = [f"from the cache of ir_datasets {version()}; nothing was downloaded"]
    if missing := len(questions) - len(judged):
        notes.append(f"{missing} of {len(questions)} queries are not judged there and are left out")
    return TestSet([questions[qid] for qid in judged], name=input.stem), notes


FORMAT = Format(
    name="ir_datasets", about="`irds:ID`, a dataset of ir_datasets", sniff=_sniff, read_testset=_read_testset
)
"""Told by its name: there is no file to look at."""
