"""How guards put counts and lists into words."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.evaluation import Note

SHOWN = 4


def warn(guard: str, text: str) -> Note:
    """A note of a guard that fired."""
    return Note("warning", text, guard)


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def plural(count: int, noun: str) -> str:
    """'1 question', '1,200 questions'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """A share in percent that does not round to all or nothing."""
    return f"{100 * share:.0f}%" if share in (0, 1) or 0.01 <= share <= 0.99 else f"{100 * share:.2g}%"
