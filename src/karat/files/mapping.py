"""mapping: a JSON object `{question: {doc: number}}` or `{question: [doc, ...]}`, as Python keeps runs and qrels."""

from __future__ import annotations

from typing import Any

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files._aliases import record_names
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._objects import is_numbers, qrels_from, run_from
from karat.io.fields import field_name
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if look.shape not in ("json object", "jsonl") or look.source is None:
        return None
    document = _document(look)
    if not document:
        return None
    known = set(record_names())
    if any(field_name(key) in known for key in document):
        return None
    values = list(document.values())
    if all(isinstance(value, dict) and is_numbers(value) for value in values):
        graded = all(isinstance(number, int) for value in values for number in value.values())
        return Fit(0.85 if graded == (kind == "testset") else 0.6, "an object of questions, documents and numbers")
    if all(isinstance(value, list) and all(isinstance(d, str | int) for d in value) for value in values):
        return Fit(0.6, "an object of questions and lists of documents")
    return None


def _document(look: Look) -> dict[str, Any] | None:
    if look.shape == "jsonl":
        rows = look.sample
        return rows[0] if len(rows) == 1 and isinstance(rows[0], dict) else None
    return look.document if isinstance(look.document, dict) else None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return qrels_from(look.document, look.name, FORMAT.name)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    run, taken = run_from(look.document, look.stem, look.name, FORMAT.name)
    return [run], taken


FORMAT = Format(
    "mapping", "JSON object {question: {doc: number}} or {question: [doc]}", _sniff, _read_testset, _read_results
)
