"""What a matcher is: the rule by which a hit, or a chunk of an index, holds a gold unit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from karat.core.judged import Ints
from karat.core.registry import Registry, instance_of
from karat.core.run import Run
from karat.core.text.words import excerpt
from karat.core.types import Gold
from karat.io.pages import pages_of, shift

if TYPE_CHECKING:
    import polars as pl

    from karat.match._resolve import IndexView

    Column = Sequence[Any] | pl.Series

Keys = Hashable | tuple[Hashable, ...] | None  # of one entry or hit: one unit, several, or none
Rule = tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]
Reason = Literal[
    "unknown file", "unknown address", "unknown id", "beyond the end", "page without text", "quote not found",
    "quote elsewhere", "span outside", "ambiguous", "names no unit",
]  # fmt: skip


@dataclass(frozen=True)
class MatchOptions:
    """What `--match` carries beside the name."""

    pattern: str | None = None  # of regex:...
    page_offset: int = 0  # added to the page numbers of hits
    any_file: bool = False  # whether a page number means that page of any file, whatever file the gold names
    labels: frozenset[str] = frozenset()  # printed page numbers, each one page though it may look like a range

    def gold_pages(self, page: Any) -> tuple[str, ...]:
        """The pages that an entry names, in the form that is compared."""
        return pages_of(page, self.labels)

    def hit_pages(self, page: Any) -> tuple[str, ...]:
        """The pages of a hit or chunk, shifted, in the same form."""
        return tuple(shift(number, self.page_offset) for number in pages_of(page, self.labels))


@dataclass(frozen=True)
class MatchInputs:
    """All gold that goes by a matcher, and all runs: some rules depend on the whole (is there only one file?)."""

    golds: Sequence[Gold]
    runs: Sequence[Run]
    options: MatchOptions


def _unknown_id(gold: Gold, key: Any, view: IndexView) -> tuple[Reason, str]:
    return "unknown id", f"no chunk holds {excerpt(gold.label)}"


def unknown_document(gold: Gold, key: Any, view: IndexView) -> tuple[Reason, str]:
    """The `why` of a matcher of documents."""
    return "unknown file", f"no chunk comes from the document {excerpt(gold.doc or gold.label)}"


@dataclass(frozen=True)
class Matcher:
    """A rule of matching, exact after normalisation, for the hits of runs and the chunks of an index alike.

    Either keyed (a hit holds a gold unit when their keys are equal: `prepare` gives the two key functions), or `find`
    gives the hits of a run that hold an entry, and `unit_of` says which entries are one unit. `strictness` orders
    automatic choice, strictest first. A key function returns None for what has no unit of this kind; a tuple is
    several units.
    """

    name: str
    _: KW_ONLY
    unit: str
    summary: str
    strictness: int
    prepare: Callable[[MatchInputs], Rule] | None = None
    find: Callable[[MatchInputs], Callable[[Gold, Run], Sequence[int] | Ints]] | None = None
    unit_of: Callable[[Gold], Keys] = lambda gold: gold.label
    fits: Callable[[MatchInputs], str | None] = lambda inputs: None
    """Why the shapes of gold and hits suit this matcher, or None when they do not."""
    lacks: Callable[[Run], str | None] = lambda run: None
    """What the hits of a run lack to show such units at all ("page", "text"), or None."""
    ambiguity: Callable[[MatchInputs], str | None] = lambda inputs: None
    """A sentence on entries that may mean several units, which then have no key, and what to add; None without any."""
    why: Callable[[Gold, Any, IndexView], tuple[Reason, str]] = _unknown_id
    """Why no chunk of an index holds an entry with this key: a word and a sentence."""
    within_file: Callable[[Gold], str] | None = None
    """What an entry names that only means something within a file, as a sentence has it."""
    larger: bool = False  # whether it may count a larger unit than the ids name
    must_fit: bool = False  # whether it is suggested only where it fits: any short id reads as a page number
    plain: bool = False  # whether ids are compared as they are

    @property
    def is_keyed(self) -> bool:
        """Whether hits have units of this kind, gold or not."""
        return self.prepare is not None

    def rule(self, inputs: MatchInputs) -> Rule:
        """The keys of a gold entry, and those of every hit of a run."""
        if self.prepare is not None:
            return self.prepare(inputs)
        assert self.find is not None
        find = self.find(inputs)

        def hit_keys(run: Run) -> list[Keys]:
            held: list[dict[Hashable, None]] = [{} for _ in range(len(run))]
            for gold in inputs.golds:
                keys = dict.fromkeys(as_tuple(self.unit_of(gold)))
                for hit in find(gold, run) if keys else ():
                    held[int(hit)] |= keys
            return [tuple(keys) for keys in held]

        return self.unit_of, hit_keys


MATCHERS = Registry("matcher", ("karat.match.matchers",), "karat.matchers", instance_of(Matcher, "matcher"))


def by_strictness() -> list[Matcher]:
    """All matchers, the strictest first."""
    return sorted(MATCHERS, key=lambda matcher: matcher.strictness)


def as_tuple(keys: Keys) -> tuple[Hashable, ...]:
    """Keys as a tuple."""
    return keys if isinstance(keys, tuple) else () if keys is None else (keys,)


def column(run: Run, field: str) -> Sequence[Any] | None:
    """A column of the hits, or None when no hit has it."""
    values = run.fields.get(field)
    return values if values is not None and any(v is not None for v in values) else None


def column_or_none(run: Run, field: str) -> Sequence[Any]:
    """A column of the hits, None for each where no hit has it."""
    return column(run, field) or [None] * len(run)


def lacking(field: str) -> Callable[[Run], str | None]:
    """The `lacks` of a matcher that reads one field of the hits."""
    return lambda run: field if len(run) and column(run, field) is None else None


def plain_id(gold: Gold) -> str | None:
    """The one identifier of a gold that is not a page, quote or span: qrels id, chunk, url or document."""
    if gold.id is not None or gold.chunk is not None:
        return gold.id if gold.id is not None else gold.chunk
    if gold.page is None and gold.span is None and gold.quote is None:
        return gold.url if gold.url is not None else gold.doc
    return None


def ids_of(golds: Sequence[Gold]) -> list[str]:
    """Plain ids of the gold, of whatever kind."""
    return [identifier for gold in golds if (identifier := plain_id(gold)) is not None]


def sample(values: Column, most: int = 2000) -> Column:
    """An even sample: shapes are told from some ids, not from millions."""
    return values[:: max(1, len(values) // most)]


def share_matching(test: Callable[[str], Any], values: Column) -> float:
    """Share of the sampled values that pass a test."""
    seen = [v for v in sample(values) if v is not None]
    return sum(1 for v in seen if test(str(v))) / len(seen) if seen else 0.0


def best_share(test: Callable[[str], Any], runs: Sequence[Run], field: str | None = None) -> float:
    """The highest share, among the runs, of ids that pass a test; of a field where the hits have it."""
    columns = [column(run, field) if field is not None else None for run in runs]
    shares = [share_matching(test, run.docs if c is None else c) for run, c in zip(runs, columns, strict=True)]
    return max(shares, default=0.0)
