"""What a matcher is: the rule by which a hit holds a gold unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.registry import Registry
from karat.core.run import Run
from karat.core.types import Gold

if TYPE_CHECKING:
    import polars as pl

    from karat.core.judged import Ints

    Column = Sequence[Any] | pl.Series

Keys = str | tuple[str, ...] | None


@dataclass(frozen=True)
class Options:
    """What `--match` carries beside the name."""

    pattern: str | None = None  # of regex:...
    page_offset: int = 0  # added to the page numbers of hits
    any_file: bool = False  # whether a page number means that page of any file, whatever file the gold names
    labels: frozenset[str] = frozenset()  # printed page numbers, each one page though it may look like a range


@dataclass(frozen=True)
class Context:
    """All gold and all runs of a call: some rules depend on the whole (is there only one file?)."""

    golds: Sequence[Gold]
    runs: Sequence[Run]
    options: Options


@dataclass(frozen=True)
class Matcher:
    """A rule of matching, exact after normalisation.

    Either keyed (a hit holds a gold unit when their keys are equal: `prepare` gives the two key functions), or `find`
    gives the hits of a run that hold an entry, and `unit_of` says which entries are one unit. `strictness` orders
    automatic choice, strictest first. A key function returns None for what has no unit of this kind; several keys are
    several units.
    """

    name: str
    unit: str
    summary: str
    strictness: int
    prepare: Callable[[Context], tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]] | None = None
    find: Callable[[Context], Callable[[Gold, Run], Sequence[int] | Ints]] | None = None
    unit_of: Callable[[Gold], Keys] = lambda gold: gold.label
    fits: Callable[[Context], str | None] = lambda context: None
    """Why the shapes of gold and hits suit this matcher, or None when they do not."""
    lacks: Callable[[Run], str | None] = lambda run: None
    """What the hits of a run lack to show such units at all ("page", "text"), or None."""
    ambiguity: Callable[[Context], str | None] = lambda context: None
    """A sentence on entries that may mean several units, which then have no key, and what to add; None without any."""


def find_matcher(source: Any) -> Matcher | None:
    """The matcher a module defines as `matcher`, or the object itself."""
    found = getattr(source, "matcher", source)
    return found if isinstance(found, Matcher) else None


MATCHERS: Registry[Matcher] = Registry("matcher", ("karat.match",), "karat.matchers", find_matcher)


def column(run: Run, field: str) -> Sequence[Any] | None:
    """A column of the hits, or None when no hit has it."""
    values = run.fields.get(field)
    return values if values is not None and any(v is not None for v in values) else None


def lacking(field: str) -> Callable[[Run], str | None]:
    """The `lacks` of a matcher that reads one field of the hits."""
    return lambda run: field if len(run) and column(run, field) is None else None


def each(keys: Keys) -> tuple[str, ...]:
    """Keys as a tuple."""
    return (keys,) if isinstance(keys, str) else keys or ()


def ids_of(golds: Sequence[Gold]) -> list[str]:
    """Plain ids of the gold, of whatever kind: qrels id, chunk, url or document."""
    return [i for g in golds if (i := plain_id(g)) is not None]


def plain_id(gold: Gold) -> str | None:
    """The one identifier of a gold that is not a page, quote or span."""
    if gold.id is not None or gold.chunk is not None:
        return gold.id if gold.id is not None else gold.chunk
    if gold.page is None and gold.span is None and gold.quote is None:
        return gold.url if gold.url is not None else gold.doc
    return None


def sample(values: Column, most: int = 2000) -> Column:
    """An even sample: shapes are told from some ids, not from millions."""
    step = max(1, len(values) // most)
    return values[::step]


def share_matching(test: Callable[[str], Any], values: Column) -> float:
    """Share of the sampled values that pass a test."""
    seen = [v for v in sample(values) if v is not None]
    return sum(1 for v in seen if test(str(v))) / len(seen) if seen else 0.0


def matcher_named(
    text: str, *, page_offset: int = 0, labels: frozenset[str] = frozenset(), any_file: bool = False
) -> tuple[Matcher, Options]:
    """The matcher a `--match` value names, and its options."""
    name, _, pattern = text.partition(":")
    return MATCHERS.get(name), Options(pattern or None, page_offset, any_file, labels)
