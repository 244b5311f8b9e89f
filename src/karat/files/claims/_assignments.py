"""Nuggets with assignments, as nuggetizer writes them, as rows of a claims table: the side `nugget`, by the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from karat.files._nuggets import ASSIGN, FORM, NuggetEntry, nugget_entries
from karat.files.claims._records import Row, records_frame
from karat.io.cells import CellError, Record
from karat.io.fields import ID, RESULTS

if TYPE_CHECKING:
    import polars as pl

    from karat.io.input import Input

_FIELDS: dict[str, tuple[str, ...]] = {
    "question": (*ID, "topic_id"),
    "system": ("run_id", "run", *RESULTS["system"]),
}
_NAMES = ("side", "claim", "text", "importance", "premise", "verdict")


def has_assignments(input: Input) -> bool:
    """Whether the records hold nuggets with assignments, as nuggetizer writes them."""
    lists = (record.get("nuggets") for record in input.sample)
    return any(
        isinstance(item, Mapping) and "assignment" in item
        for value in lists
        if isinstance(value, list)
        for item in value
    )


def assignment_frame(input: Input, systems: Sequence[str]) -> tuple[pl.DataFrame, list[int], list[str]]:
    """Records of nuggets with assignments as rows of a flat claims table, the record of each row, and notes.

    The side is `nugget`, the premise the answer. `run_id` names the system; where there is one of each, they are the
    same.
    """
    return *records_frame(input, _FIELDS, _NAMES, _rows, systems), []


def _rows(record: Record) -> list[Row]:
    """The rows of a record: side, claim, text, importance, premise and verdict."""
    entries = nugget_entries(record.get("nuggets"))
    return [_row(entry, number) for number, entry in enumerate(entries, 1)] or [("nugget", *[None] * 5)]


def _row(entry: NuggetEntry, number: int) -> Row:
    if entry.vital is None:
        raise CellError(f"nugget {number} has no importance", FORM)
    if entry.assignment is None:
        raise CellError(f"nugget {number} has no assignment", ASSIGN)
    return "nugget", number, entry.text, "vital" if entry.vital else "okay", "answer", entry.assignment
