"""Every error a user can meet.

KaratError                 a user's mistake or bad input: one sentence, exit code 2
├── UsageError             an option, a name or an argument that cannot be
├── InputError             a file or an object that cannot be read: names the place and the remedy
└── NoOverlapError         gold and results share no ids, or no questions: exit code 3

Anything else that escapes is a bug in karat: exit code 1.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_LONG = 80  # letters of a name that are compared


class KaratError(Exception):
    """What was wrong, where, and what to do, in one clear sentence or two."""

    exit_code = 2


class UsageError(KaratError):
    """An option, a name or an argument that cannot be."""


class InputError(KaratError):
    """Input that cannot be read as it stands.

    `place` is a file name or a description ("results"); `row` counts lines or records from 1.
    """

    def __init__(
        self,
        problem: str,
        *,
        place: str | None = None,
        row: int | None = None,
        unit: str = "line",
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.place, self.row, self.unit = problem, place, row, unit
        self.field, self.remedy = field, remedy
        where = place or ""
        if row is not None:
            where = f"{where} {unit} {row}".strip()
        if field is not None:
            where = f'{where} field "{field}"'.strip()
        text = f"{where}: {problem}" if where else problem
        if remedy:
            text = f"{text.rstrip('.')}. {remedy}"
        super().__init__(text)


class NoOverlapError(KaratError):
    """Gold and results share no ids, or no questions; `runs` is what systems returned that were asked for it."""

    exit_code = 3
    runs: tuple[Any, ...] = ()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' Did you mean X?' with the nearest known name, or nothing.

    >>> did_you_mean("Recal", ["Recall", "MRR"])
    ' Did you mean Recall?'
    """
    by_lower = {k.lower(): k for k in known}
    letters = set(name.lower())
    # the others share too little, and difflib is slow: a table may name thousands of things
    possible = [k for k in by_lower if 2 * len(letters & set(k)) >= min(len(letters), len(set(k)))]
    near = difflib.get_close_matches(name.lower()[:_LONG], possible, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[near[0]]}?" if near else ""
