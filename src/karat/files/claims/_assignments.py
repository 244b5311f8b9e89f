"""Nuggets with assignments, as nuggetizer writes them, as rows of a claims table: the side `nugget`, by the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.files._nuggets import ASSIGN, FORM, NuggetEntry, nugget_entries
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import ID, RESULTS, Columns

if TYPE_CHECKING:
    import polars as pl

    from karat.io.input import Input

_FIELDS: dict[str, tuple[str, ...]] = {
    "question": (*ID, "topic_id"),
    "system": ("run_id", "run", *RESULTS["system"]),
    "nuggets": ("nuggets",),
}
_NAMES = ("system", "question", "side", "claim", "text", "importance", "premise", "verdict")
Row = dict[str, str | int | None]


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
    columns = Columns(_FIELDS, input.fields)
    if not columns.has("question"):
        raise input.error('no field holds the id of the question ("qid")', remedy="Give every record one.")
    rows: list[Row] = []
    numbers: list[int] = []
    seen: dict[Any, int] = {}
    for number, record in input.records():
        with input.reading(number, columns):
            question = cells.id_text(columns.value(record, "question"))
            name = columns.value(record, "system")
            system = None if name is None else cells.id_text(name)
            entries = nugget_entries(columns.value(record, "nuggets"))
            about = {"system": system, "question": question, "side": "nugget"}
            made = [{**about, **_row(entry, place)} for place, entry in enumerate(entries, 1)]
        input.refuse_repeat(seen, (system, question), number, f"question {quoted(question)}", "Keep one of them.")
        rows += made or [{**about, "claim": None, "text": None, "importance": None, "premise": None, "verdict": None}]
        numbers += [number] * max(1, len(made))
    return flat_frame(rows, _NAMES, systems), numbers, []


def _row(entry: NuggetEntry, number: int) -> Row:
    if entry.vital is None:
        raise CellError(f"nugget {number} has no importance", FORM)
    if entry.assignment is None:
        raise CellError(f"nugget {number} has no assignment", ASSIGN)
    importance = "vital" if entry.vital else "okay"
    judged = {"premise": "answer", "verdict": entry.assignment}
    return {"claim": number, "text": entry.text, "importance": importance, **judged}


def flat_frame(rows: list[Row], names: Sequence[str], systems: Sequence[str]) -> pl.DataFrame:
    """Rows of a flat claims table. Those of one system, whatever it is called, are of the only one that is scored."""
    import polars as pl

    named = {row["system"] for row in rows} - {None}
    if len(systems) == 1 and len(named) == 1:
        rows = [{**row, "system": systems[0]} for row in rows]
    return pl.DataFrame(rows, schema={name: pl.Int64 if name == "claim" else pl.String for name in names}, orient="row")
