"""mapping: a JSON object `{question: {doc: number}}` or `{question: [doc, ...]}`, as Python keeps runs and qrels."""

from __future__ import annotations

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._from_python import is_numbers, qrels_testset, run_of
from karat.io.fields import looks_keyed
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    document = input.document if input.shape in ("json object", "jsonl") and _is_one_object(input) else None
    if not document or not looks_keyed(document):
        return None
    values = list(document.values())
    if all(isinstance(value, dict) and is_numbers(value) for value in values):
        graded = all(isinstance(number, int) for value in values for number in value.values())
        return Fit(0.85 if graded == (kind == "testset") else 0.6, "an object of questions, documents and numbers")
    if all(isinstance(value, list) and all(isinstance(d, str | int) for d in value) for value in values):
        return Fit(0.6, "an object of questions and lists of documents")
    return None


def _is_one_object(input: Input) -> bool:
    return input.shape == "json object" or len(input.sample) == 1


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    return qrels_testset(input.document, input.name), []


def _read_results(input: Input) -> tuple[list[Run], list[str]]:
    run = run_of(input.document, input.stem, input.name)
    _ = run.scores  # a score that is not finite is refused while the file is read, not when it is first ranked
    return [run], []


FORMAT = Format(
    name="mapping",
    about="JSON object {question: {doc: number}} or {question: [doc]}",
    sniff=_sniff,
    read_testset=_read_testset,
    read_results=_read_results,
)
