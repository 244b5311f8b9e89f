"""Records of other tools, one for each answer, as rows of a flat claims table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.io import cells
from karat.io.cells import Record, quoted
from karat.io.fields import Columns

if TYPE_CHECKING:
    import polars as pl

    from karat.io.input import Input

Row = tuple[str | int | None, ...]


def records_frame(
    input: Input,
    table: Mapping[str, tuple[str, ...]],
    names: Sequence[str],
    rows_of: Callable[[Record], Sequence[Row]],
    systems: Sequence[str] = (),
) -> tuple[pl.DataFrame, list[int]]:
    """What `rows_of` makes of each record, as columns of these names, with its question and system; and its number.

    `table` says which fields hold those. Where the records are of one system, and one is scored, it is that one.
    """
    import polars as pl

    columns = Columns(table, input.fields)
    if not columns.has("question"):
        known = table["question"][0]
        raise input.error(f'no field holds the id of the question ("{known}")', remedy="Give every record one.")
    rows: list[Row] = []
    numbers: list[int] = []
    seen: dict[Any, int] = {}
    for number, record in input.records():
        with input.reading(number, columns):
            question = cells.id_text(columns.value(record, "question"))
            name = columns.value(record, "system")
            system = None if name is None else cells.id_text(name)
            input.refuse_repeat(seen, (system, question), number, f"question {quoted(question)}", "Keep one of them.")
            columns.at = None
            record_rows = rows_of(record)
        rows += [(system, question, *row) for row in record_rows]
        numbers += [number] * len(record_rows)
    if len(systems) == 1 and len({row[0] for row in rows}) == 1:
        rows = [(systems[0], *row[1:]) for row in rows]
    types = {name: pl.Int64 if name == "claim" else pl.String for name in ("system", "question", *names)}
    return pl.DataFrame(rows, schema=types, orient="row"), numbers
