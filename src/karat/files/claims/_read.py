"""Read claims: which form a file has, and which systems and questions its rows belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.collection import without_collection
from karat.core.text.words import plural
from karat.files._columns import table_frame
from karat.files.claims._assignments import assignment_frame, has_assignments
from karat.files.claims._flat import FlatClaims
from karat.files.claims._ragbench import is_ragbench, ragbench_frame
from karat.files.claims._ragchecker import is_ragchecker, ragchecker_frame
from karat.io.cells import Record
from karat.io.fields import CLAIMS, Columns
from karat.io.input import TABLES, Input
from karat.results.evaluation import InputInfo

if TYPE_CHECKING:
    import polars as pl

    from karat.core.claims import ClaimTable

_FORM = (
    "A claims table has the columns question, side (answer, reference), claim (its number), text, premise (reference, "
    'answer, or passages: "1", "1,3") and verdict, and one for the system where there are several; RAGChecker\'s JSON, '
    "nuggetizer's assignments and RAGBench's records are read too."
)
RAGCHECKER, ASSIGNMENTS, RAGBENCH = "RAGChecker claims", "nugget assignments", "RAGBench records"
_FOREIGN = {RAGCHECKER: is_ragchecker, ASSIGNMENTS: has_assignments, RAGBENCH: is_ragbench}
_FRAMES = {ASSIGNMENTS: assignment_frame, RAGBENCH: ragbench_frame}
_JOINED = {"text": " ", "cites": ",", "premise": ","}  # lists in a cell, by field


@without_collection
def read_claims(
    source: Any,
    systems: Sequence[str],
    questions: Sequence[str],
    columns: Mapping[str, str] | None = None,
    *,
    system: str | None = None,
    passages: Sequence[int] | None = None,
) -> tuple[ClaimTable, InputInfo]:
    """A claims table from a path, a list of dicts, a frame, or the object of a RAGChecker file.

    Nuggets with assignments and RAGBench's records are told by their fields.

    `columns` renames the user's columns to karat's fields (`--map`). `system` is the one whose claims these are, where
    the rows do not say; without it there must be one. `passages` is how many passages each pair has, -1 where that is
    not known: verdicts by others are refused.
    """
    if isinstance(source, Mapping):
        source = source.get("results") if isinstance(source.get("results"), Sequence) else [source]
    input = Input.from_any(source, "claims", columns)
    if input.folder is not None:
        raise input.error("is a folder where a file of claims is meant", remedy="Name a file in it.")
    if not input.has_records:
        raise input.error("is no table of claims", remedy=_FORM)
    form = next((name for name, fits in _FOREIGN.items() if fits(input)), "claims table")
    rows: Sequence[int]
    notes: list[str] = []
    if form == RAGCHECKER:
        frame, rows = ragchecker_frame(input)
    elif form in _FRAMES:
        frame, rows, notes = _FRAMES[form](input, systems if system is None else [system])
    else:
        frame, rows = _frame(input)
        named = Columns(CLAIMS, frame.columns)
        _check_columns(input, named)
        notes = input.column_notes([aliases[0] for aliases in named.of.values() if aliases])
    flat = FlatClaims(input, frame, rows, systems, questions, system=system, passages=passages)
    table = flat.table()
    judged = f"{plural(len(table.pair), 'claim')}, {plural(len(table.claim), 'verdict')}"
    what = f"{judged} for {plural(int(table.known.any(axis=1).sum()), 'answer')}"
    return table, InputInfo(input.name, form, what, (*notes, *flat.notes, *input.map_notes))


def _frame(input: Input) -> tuple[pl.DataFrame, Sequence[int]]:
    """The table in columns; lists in the cells of records are joined to one text."""
    with input.reading():
        if input.shape in TABLES:
            return table_frame(input)
        of = Columns(CLAIMS, input.fields).of
        names = {name: joint for field, joint in _JOINED.items() for name in of[field]}
        return table_frame(input.with_rows((row, _joined(record, names)) for row, record in input.records()))


def _joined(record: Record, names: Mapping[str, str]) -> Record:
    lists = {name: value for name, value in record.items() if name in names and isinstance(value, list)}
    return {**record, **{name: names[name].join(map(str, value)) for name, value in lists.items()}}


def _check_columns(input: Input, named: Columns) -> None:
    for need in ("question", "side"):
        if not named.has(need):
            remedy = f"{named.nearest((need,))} {_FORM}".strip()
            raise input.error(f"no column holds the {need} (there are {input.named(input.fields)})", remedy=remedy)
    if not named.has("text", "claim"):
        raise input.error(f"no column holds the claims (there are {input.named(input.fields)})", remedy=_FORM)
