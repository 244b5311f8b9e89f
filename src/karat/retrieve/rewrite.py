"""Rewriting: a query becomes one or several, and what was changed is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from karat.core.errors import UsageError
from karat.core.models import Models, Need
from karat.core.registry import Registry
from karat.io.source import Source

if TYPE_CHECKING:
    from karat.core.ranked import Ints

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
    """A query as it was, the queries to search instead, at least one, and what was changed.

    `remarks` are what should be known of how it went. `error` is why it could not be rewritten: then there is nothing
    to search. `seconds` are those of a model that was asked.
    """

    original: str
    queries: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    remarks: tuple[str, ...] = ()
    error: str | None = None
    seconds: float = 0.0


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


@runtime_checkable
class Prepares(Protocol):
    """A rewriter that asks a model, for many queries at a time: it is told of all of them before any is rewritten."""

    needs: ClassVar[tuple[Need, ...]]

    def prepare(self, queries: Sequence[str], models: Models) -> None: ...


def _find(source: Any) -> type[Rewriter] | None:
    entry = getattr(source, "rewriter", source)
    fits = isinstance(entry, type) and hasattr(entry, "open") and hasattr(entry, "rewrite")
    return entry if fits else None


REWRITERS: Registry[type[Rewriter]] = Registry("rewriter", ("karat.retrieve.rewriters",), "karat.rewriters", _find)


def rewriter_named(text: str, texts: Texts) -> Rewriter:
    """From `spell` or `expand:FILE`."""
    name, _, target = text.partition(":")
    return REWRITERS.get(name).open(target or None, texts)


def needs_of(text: str) -> tuple[Need, ...]:
    """What the rewriter of `hyde` or `expand:FILE` must be given to ask; one that asks takes no file."""
    return tuple(getattr(REWRITERS.get(text.partition(":")[0]), "needs", ()))


def check_named(text: str) -> None:
    """Refuse a rewriter that is unknown, and what one that asks a model does not take, before anything is read."""
    if needs_of(text):
        rewriter_named(text, lambda: ())


def rewrite_all(rewriters: Sequence[Rewriter], queries: Sequence[str], models: Models | None = None) -> list[Rewritten]:
    """The queries through one rewriter after the other: each takes every query that the one before it gave.

    A query that cannot be rewritten says why, and the rest go on.
    """
    done = [Rewritten(query, (query,)) for query in queries]
    for rewriter in rewriters:
        if isinstance(rewriter, Prepares):
            rewriter.prepare(list(dict.fromkeys(query for one in done for query in one.queries)), models or Models())
        done = [_further(rewriter, one) for one in done]
    return done


def _further(rewriter: Rewriter, before: Rewritten) -> Rewritten:
    results = [rewriter.rewrite(query) for query in before.queries]
    error = next((result.error for result in results if result.error is not None), before.error)
    return Rewritten(
        before.original,
        () if error is not None else tuple(dict.fromkeys(query for result in results for query in result.queries)),
        tuple(dict.fromkeys((*before.changes, *(change for result in results for change in result.changes)))),
        tuple(dict.fromkeys((*before.remarks, *(remark for result in results for remark in result.remarks)))),
        error,
        before.seconds + sum(result.seconds for result in results),
    )


def queries_with_owner(rewritten: Sequence[Rewritten]) -> tuple[list[str], Ints]:
    """All queries to search, and the number of the question that each belongs to: its owner."""
    queries = [query for one in rewritten for query in one.queries]
    owner = np.repeat(np.arange(len(rewritten)), [len(one.queries) for one in rewritten])
    return queries, owner.astype(np.int64)


def required_file(target: str | None, rewriter: str, kind: str) -> str:
    """The file that a rewriter cannot do without."""
    if not target:
        raise UsageError(f"{rewriter} needs {kind}. Write {rewriter}:FILE.")
    return target


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file in UTF-8 with their numbers from 1."""
    return enumerate(Source(path).text(LIMIT).split("\n"), 1)
