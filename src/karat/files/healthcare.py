"""healthcare: questions with page numbers as gold, and the rows CSV of its evaluation with several systems."""

from __future__ import annotations

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files import _cells, _results, _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import has_records
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if not has_records(look):
        return None
    fields = set(look.fields)
    if {"retrieved_pages", "relevant_pages"} <= fields:
        return Fit(0.95, "retrieved_pages beside relevant_pages")
    if kind == "testset" and {"query", "relevant_docs"} <= fields and _holds_pages(look):
        return Fit(0.95, "query with page numbers in relevant_docs")
    return None


def _holds_pages(look: Look) -> bool:
    """Whether every relevant_docs of the first records is a page number."""
    for record in look.sample:
        try:
            pages = _cells.page_items(record.get("relevant_docs"))
        except _cells.CellError:
            return False
        if not all(isinstance(page, str | int | float) and str(page).strip().isdecimal() for page in pages):
            return False
    return True


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    notes = ["relevant_docs are page numbers"] if "relevant_docs" in look.fields else []
    return _testset.read_records(look, FORMAT.name, pages_in=("relevant_docs",), number_from=0, notes=notes)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    return _results.read_records(look, FORMAT.name)


FORMAT = Format(
    "healthcare", "questions with gold pages; rows CSV with retrieved_pages", _sniff, _read_testset, _read_results
)
