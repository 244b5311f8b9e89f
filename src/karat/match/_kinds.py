"""By which matcher each gold entry goes: one for all systems, by the finest thing that the entry names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.types import Gold
from karat.match._matcher import MATCHERS, MatchInputs, MatchOptions, by_strictness

if TYPE_CHECKING:
    ShareFound = Callable[[Sequence[Gold], str], float]

LOW = 0.1  # share of the gold below which plain ids look like ids of something else
AS_THEY_ARE = "ids compared as they are"


def matcher_of_each(
    golds: Sequence[Gold], runs: Sequence[Run], options: MatchOptions, share_found: ShareFound
) -> tuple[dict[Gold, str], str]:
    """The matcher of each entry, whatever system is matched, and why the ids among them are matched as they are.

    A span or quote goes before a page, and a page before anything that names a whole: chunks hold them under any
    chunking. Of what is equally fine the first that the hits of every system show is taken. An id or chunk that is
    named alone, or beside its document, is compared as an id, a document as a whole. `share_found` tells the share of
    some entries that is among the hits, under a matcher, of the system that has fewest.
    """
    kind_of: dict[Gold, str] = {}
    ids: list[Gold] = []
    documents: list[Gold] = []
    first_shown = cache(partial(_first_shown, runs))
    for gold in golds:
        kind = first_shown(tuple(_finest_matchers(gold)))
        if kind is not None:
            kind_of[gold] = kind
        else:
            (documents if gold.doc is not None and gold.id is None and gold.chunk is None else ids).append(gold)
    reasons, finest = [], set(kind_of.values())
    for names, first in ((ids, "exact"), (documents, "doc")):
        if names:
            kind, why = _matcher_for_ids(first, MatchInputs(names, runs, options), share_found)
            kind_of.update(dict.fromkeys(names, kind))
            reasons.append(why)
            finest.discard(kind)
    if finest:
        reasons.insert(0, "each gold entry by the finest thing it names")
    return kind_of, "; ".join(dict.fromkeys(reasons)) or AS_THEY_ARE


def _finest_matchers(gold: Gold) -> list[str]:
    """Matchers of the finest thing that an entry names, if that is no name of a whole; any of them will do."""
    has_id = gold.id is not None or gold.chunk is not None
    kinds = ["span"] if gold.span is not None else []
    if gold.quote is not None and normalise(gold.quote, "words"):
        kinds.append("quote")
    if not kinds and gold.page is not None:
        kinds = ["page"]
    if kinds:
        return [*kinds, "exact"] if has_id else kinds
    if gold.url is None or has_id:
        return []
    return ["url", "doc"] if gold.doc is not None else ["url"]


def _first_shown(runs: Sequence[Run], kinds: Sequence[str]) -> str | None:
    """The first that the hits of every run can show, else the first that those of some can."""
    for enough in (all, any):
        for kind in kinds:
            if enough(MATCHERS.get(kind).lacks(run) is None for run in runs):
                return kind
    return kinds[0] if kinds else None


def _matcher_for_ids(first: str, inputs: MatchInputs, share_found: ShareFound) -> tuple[str, str]:
    """By what ids or documents are compared: as they are, else by the strictest matcher that finds them."""
    whys: dict[str, str] = {}
    best, share = first, 0.0
    for name, why in _fitting(first, inputs):
        whys[name] = why
        here = share_found(inputs.golds, name)
        if here > share:
            best, share = name, here
        if share > LOW or (share > 0 and first == "exact"):
            break  # it clearly wins, or ids as they are find something: nothing looser unasked
    if not share:  # what would find them if they were not ambiguous says what to add
        best = next((name for name in whys if MATCHERS.get(name).ambiguity(inputs) is not None), best)
    return best, whys[best]


def _fitting(first: str, inputs: MatchInputs) -> Iterator[tuple[str, str]]:
    """Matchers that suit the shapes of ids or documents and of the hits, and why; looked for as each is tried."""
    if first == "exact":
        yield first, AS_THEY_ARE
    golds = inputs.golds
    whole = {"doc" for gold in golds if gold.doc is not None} | {"url" for gold in golds if gold.url is not None}
    others = [matcher for matcher in by_strictness() if matcher.is_keyed and matcher.name != first]
    if first == "doc":  # an address or a uuid says more exactly which document it is
        others = [matcher for matcher in others if matcher.name in ("url", "uuid")]
    else:  # what an id stands in is no name of it
        others = [matcher for matcher in others if matcher.name not in whole]
    for matcher in others:
        if why := matcher.fits(inputs):
            yield matcher.name, why
    if first == "doc":
        yield first, "documents compared whole"
