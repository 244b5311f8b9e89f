"""What a rewriter is: it turns a query into one or several, and says what it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from karat.core.errors import InputError, UsageError
from karat.core.registry import Registry

Texts = Callable[[], Iterable[str]]
"""Gives the corpus's texts to a rewriter that learns from them; not called otherwise."""

LIMIT = 256 << 20
"""The largest file that a rewriter reads, in bytes."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a rewriter did: `before` became `after`, or brought it in.

    `distance` is the number of edits between the two, where the rewriter counts them.
    """

    rewriter: str
    before: str
    after: str
    distance: int | None = None

    def __str__(self) -> str:
        edits = "" if self.distance is None else f" ({self.distance} edit{'s' * (self.distance != 1)})"
        return f"{self.rewriter}: {self.before} → {self.after}{edits}"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A query as it was, the queries to search instead, at least one, and what was changed."""

    original: str
    queries: tuple[str, ...]
    changes: tuple[Change, ...] = ()


@runtime_checkable
class Rewriter(Protocol):
    """A rewriter that is ready to use."""

    name: ClassVar[str]

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        """`target` is what follows the colon of `--rewrite expand:FILE`, if anything does."""
        ...

    def rewrite(self, query: str) -> Rewritten:
        """The queries to search instead of this one. A rewriter that finds nothing to do gives it back."""
        ...


def _find(source: Any) -> type[Rewriter] | None:
    found = getattr(source, "rewriter", source)
    fits = isinstance(found, type) and hasattr(found, "open") and hasattr(found, "rewrite")
    return found if fits else None


REWRITERS: Registry[type[Rewriter]] = Registry("rewriter", ("karat.retrieve.rewrite",), "karat.rewriters", _find)


def rewriter_named(text: str, texts: Texts) -> Rewriter:
    """From `spell` or `expand:FILE`."""
    name, _, target = text.partition(":")
    return REWRITERS.get(name).open(target or None, texts)


def rewrite(rewriters: Sequence[Rewriter], query: str) -> Rewritten:
    """The query through one rewriter after the other: each takes every query that the one before it gave."""
    queries: tuple[str, ...] = (query,)
    changes: dict[Change, None] = {}
    for rewriter in rewriters:
        results = [rewriter.rewrite(one) for one in queries]
        changes.update(dict.fromkeys(change for result in results for change in result.changes))
        queries = tuple(dict.fromkeys(one for result in results for one in result.queries))
    return Rewritten(query, queries, tuple(changes))


def wanted(target: str | None, rewriter: str, kind: str) -> str:
    """The file that a rewriter cannot do without."""
    if not target:
        raise UsageError(f"{rewriter} needs {kind}. Write {rewriter}:FILE.")
    return target


def read_text(path: str | Path) -> str:
    """A whole text file in UTF-8, with or without a byte order mark."""

    def refused(problem: str, remedy: str, row: int | None = None) -> InputError:
        return InputError(problem, place=str(path), row=row, remedy=remedy)

    try:
        file = Path(path)
        if file.is_dir():
            raise refused("is a folder where a file is meant", "Name a file in it.")
        if file.stat().st_size > LIMIT:
            raise refused(f"is larger than {LIMIT >> 20} MB, the most that is read", "Give a shorter file.")
        data = file.read_bytes()
    except FileNotFoundError:
        raise refused("does not exist", "Check the path.") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise refused(f"cannot be read: {reason}", "Check the path and its permissions.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        row = data.count(b"\n", 0, problem.start) + 1
        raise refused(f"the text is not UTF-8 (byte 0x{data[problem.start]:02x})", "Save it as UTF-8.", row) from None
