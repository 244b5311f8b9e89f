"""quote: the hit's text holds the gold quote, word for word but for typography, where the gold says it stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from karat.core.judged import Ints
from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.text.typography import without_typography
from karat.core.text.words import excerpt
from karat.core.types import Gold
from karat.match._files import Places
from karat.match._matcher import Matcher, MatchInputs, Reason, column_or_none, lacking
from karat.match._passages import Passages

if TYPE_CHECKING:
    from karat.match._resolve import IndexView


def _unit(gold: Gold) -> Gold | None:
    """Equal words are one unit, unless the entries say that they stand in different places."""
    wanted = normalise(without_typography(gold.quote or ""), "words")
    return Gold(doc=gold.doc or gold.url, page=gold.page, quote=wanted) if wanted else None


def _find(inputs: MatchInputs) -> Callable[[Gold, Run], Ints]:
    places = Places(inputs)

    @lru_cache(maxsize=1)
    def passages(run: Run) -> Passages:
        return Passages([text or "" for text in column_or_none(run, "text")])

    def holding(gold: Gold, run: Run) -> Ints:
        return places.within(gold, run, passages(run).holding(gold.quote or ""))

    return holding


def _why(gold: Gold, key: Gold, view: IndexView) -> tuple[Reason, str]:
    quote, where = f'"{excerpt(gold.quote)}"', excerpt(gold.doc or gold.url)
    if where and not len(view.quotes.texts_of(gold)):
        return "unknown file", f"no document is called {where}"
    positions, options = view.quotes.of(gold), view.options
    pages = sorted({p for one in positions for p in view.quotes.pages_at(one)}, key=lambda p: (len(p), p))
    named = set(options.gold_pages(gold.page))
    if pages and named and named.isdisjoint(options.hit_pages(pages)):
        return "quote elsewhere", f"{quote} stands on page {', '.join(pages[:4])}, not on page {gold.page}"
    if positions:
        return "quote not found", f"{quote} stands in {excerpt(positions[0].doc)}, in no chunk or split over many"
    if not where:
        return "quote not found", f"{quote} stands in no document"
    other = view.quotes.elsewhere(gold)
    if other is not None:
        return "quote elsewhere", f"{quote} stands in {other}, not in {where}"
    return "quote not found", f"{quote} does not stand in {where}"


matcher = Matcher(
    "quote",
    unit="quote",
    summary="the text of the hit holds the gold quote, or half of it where the text ends, in the document named",
    strictness=20,
    find=_find,
    unit_of=_unit,
    lacks=lacking("text"),
    why=_why,
)
