"""Nuggets: the facts that answers should state, as files have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.core.types import Nugget
from karat.io import cells
from karat.io.cells import CellError, quoted

_IMPORTANCE = {"vital": True, "okay": False, "ok": False}
_TEXT = ("text", "nugget", "nugget_text", "content")
FORM = 'Write {"text": "...", "importance": "vital"} or "okay".'
ASSIGN = "Write support, partial_support or not_support."


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
        raise CellError(f"nugget {number} has no text", FORM)
    importance, assignment = fields.get("importance"), fields.get("assignment")
    vital = None
    if not cells.is_missing(importance):
        if not isinstance(importance, str) or importance.strip().lower() not in _IMPORTANCE:
            raise CellError(f"the importance {quoted(importance)} of nugget {number} is not known", FORM)
        vital = _IMPORTANCE[importance.strip().lower()]
    if not (cells.is_missing(assignment) or isinstance(assignment, str)):
        raise CellError(f"the assignment {quoted(assignment)} of nugget {number} is no word", ASSIGN)
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
                raise CellError(lacks if self._stated else has, f"{FORM} Or give none to any: all are vital then.")
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
