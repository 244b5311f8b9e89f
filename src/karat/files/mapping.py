"""mapping: a JSON object `{question: {doc: number}}` or `{question: [doc, ...]}`, as Python keeps runs and qrels."""

from __future__ import annotations

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._objects import is_numbers, qrels_testset, run_of
from karat.io.fields import looks_keyed
from karat.io.input import Input


def _sniff(given: Input, kind: Kind) -> Fit | None:
    document = given.document if given.shape in ("json object", "jsonl") and _is_one_object(given) else None
    if not document or not looks_keyed(document):
        return None
    values = list(document.values())
    if all(isinstance(value, dict) and is_numbers(value) for value in values):
        graded = all(isinstance(number, int) for value in values for number in value.values())
        return Fit(0.85 if graded == (kind == "testset") else 0.6, "an object of questions, documents and numbers")
    if all(isinstance(value, list) and all(isinstance(d, str | int) for d in value) for value in values):
        return Fit(0.6, "an object of questions and lists of documents")
    return None


def _is_one_object(given: Input) -> bool:
    return given.shape == "json object" or len(given.sample) == 1


def _read_testset(given: Input) -> tuple[TestSet, list[str]]:
    return qrels_testset(given.document, given.name), []


def _read_results(given: Input) -> tuple[list[Run], list[str]]:
    return [run_of(given.document, given.stem, given.name)], []


FORMAT = Format(
    name="mapping",
    about="JSON object {question: {doc: number}} or {question: [doc]}",
    sniff=_sniff,
    read_testset=_read_testset,
    read_results=_read_results,
)
