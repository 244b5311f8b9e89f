"""healthcare: questions with page numbers as gold, and the rows CSV of its evaluation with several systems."""

from __future__ import annotations

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.io import cells
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    fields = set(input.fields) if input.has_records else set()
    if {"retrieved_pages", "relevant_pages"} <= fields:
        return Fit(0.95, "retrieved_pages beside relevant_pages")
    if kind == "testset" and {"query", "relevant_docs"} <= fields and _holds_pages(input):
        return Fit(0.95, "query with page numbers in relevant_docs")
    return None


def _holds_pages(input: Input) -> bool:
    """Whether every relevant_docs of the first records is a page number."""
    try:
        pages = [page for record in input.sample for page in cells.page_items(record.get("relevant_docs"))]
    except cells.CellError:
        return False
    return all(isinstance(page, str | int | float) and str(page).strip().isdecimal() for page in pages)


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    notes = ["relevant_docs are page numbers"] if "relevant_docs" in input.fields else []
    testset, more = read_questions(input, pages_in=("relevant_docs",), number_from=0)
    return testset, notes + more


FORMAT = Format(
    name="healthcare",
    about="questions with gold pages; rows CSV with retrieved_pages",
    sniff=_sniff,
    read_testset=_read_testset,
    read_results=read_systems,
)
