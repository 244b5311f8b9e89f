"""Nuggets: the facts that answers should state, in test sets, and what was said of them in files of assignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.types import Nugget
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import ID, RESULTS, Columns

if TYPE_CHECKING:
    import polars as pl

    from karat.io.input import Input

_IMPORTANCE = {"vital": True, "okay": False, "ok": False}
_TEXT = ("text", "nugget", "nugget_text", "content")
_FORM = 'Write {"text": "...", "importance": "vital"} or "okay".'
_FIELDS: dict[str, tuple[str, ...]] = {
    "question": (*ID, "topic_id"),
    "system": ("run_id", "run", *RESULTS["system"]),
    "nuggets": ("nuggets",),
}


@dataclass(frozen=True)
class NuggetEntry:
    """A nugget as a file has it: whether it is vital, and what was said of an answer, None where that is not said."""

    text: str
    vital: bool | None
    assignment: str | None


def nugget_entries(value: Any) -> list[NuggetEntry]:
    """The nuggets of a cell: objects with text and importance, or plain texts."""
    return [_entry(item, number) for number, item in enumerate(cells.as_list(cells.as_object(value)) or (), 1)]


def _entry(item: Any, number: int) -> NuggetEntry:
    fields: Mapping[Any, Any] = item if isinstance(item, Mapping) else {"text": item}
    texts = (fields[name] for name in _TEXT if not cells.is_missing(fields.get(name)))
    text = next(texts, None)
    if not isinstance(text, str):
        raise CellError(f"nugget {number} has no text", _FORM)
    importance, assignment = fields.get("importance"), fields.get("assignment")
    vital = None
    if not cells.is_missing(importance):
        if not isinstance(importance, str) or importance.strip().lower() not in _IMPORTANCE:
            raise CellError(f"the importance {quoted(importance)} of nugget {number} is not known", _FORM)
        vital = _IMPORTANCE[importance.strip().lower()]
    if not (cells.is_missing(assignment) or isinstance(assignment, str)):
        raise CellError(f"the assignment {quoted(assignment)} of nugget {number} is no word", _ASSIGN)
    return NuggetEntry(text.strip(), vital, None if cells.is_missing(assignment) else str(assignment))


class NuggetReader:
    """Reads the nuggets of test sets: where none of a file says how important it is, all are vital."""

    def __init__(self) -> None:
        self.total = self.vital = 0
        self._stated: bool | None = None  # whether importance is stated, by the first nugget

    def read(self, value: Any) -> tuple[Nugget, ...]:
        """The nuggets of one question."""
        entries = nugget_entries(value)
        for number, entry in enumerate(entries, 1):
            if self._stated is None:
                self._stated = entry.vital is not None
            if self._stated != (entry.vital is not None):
                lacks = f"nugget {number} has no importance, and others have one"
                has = f"nugget {number} has an importance, and others before it have none"
                raise CellError(lacks if self._stated else has, f"{_FORM} Or give none to any: all are vital then.")
        nuggets = tuple(Nugget(entry.text, entry.vital is not False) for entry in entries)
        self.total += len(nuggets)
        self.vital += sum(nugget.vital for nugget in nuggets)
        return nuggets

    def notes(self) -> list[str]:
        """How many nuggets there are, and how their importance was read."""
        if not self.total:
            return []
        if not self._stated:
            return [f"{self.total:,} nuggets, all taken as vital: none says whether it is vital or okay"]
        return [f"{self.total:,} nuggets, {self.vital:,} of them vital"]


_ASSIGN = "Write support, partial_support or not_support."


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
    import polars as pl

    columns = Columns(_FIELDS, input.fields)
    if not columns.has("question"):
        raise input.error('no field holds the id of the question ("qid")', remedy="Give every record one.")
    rows: list[dict[str, str | int | None]] = []
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
    names = ("system", "question", "side", "claim", "text", "importance", "premise", "verdict")
    types = {name: pl.Int64 if name == "claim" else pl.String for name in names}
    return pl.DataFrame(with_own_system(rows, systems), schema=types, orient="row"), numbers, []


def _row(entry: NuggetEntry, number: int) -> dict[str, str | int | None]:
    if entry.vital is None:
        raise CellError(f"nugget {number} has no importance", _FORM)
    if entry.assignment is None:
        raise CellError(f"nugget {number} has no assignment", _ASSIGN)
    importance = "vital" if entry.vital else "okay"
    judged = {"premise": "answer", "verdict": entry.assignment}
    return {"claim": number, "text": entry.text, "importance": importance, **judged}


def with_own_system(
    rows: list[dict[str, str | int | None]], systems: Sequence[str]
) -> list[dict[str, str | int | None]]:
    """Rows of one system, whatever it is called there, as those of the only one that is scored."""
    named = {row["system"] for row in rows} - {None}
    alone = len(systems) == 1 and len(named) == 1
    return [{**row, "system": systems[0]} for row in rows] if alone else rows
