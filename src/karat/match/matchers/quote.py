"""quote: the hit's text holds the gold quote, word for word but for typography, where the gold says it stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.text.typography import without_typography
from karat.core.types import Gold
from karat.io.pages import pages_of, shift
from karat.match._files import Whereabouts
from karat.match._matcher import Context, Matcher, Reason, column, column_or_none, lacking, shown
from karat.match._passages import Passages

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.match._index import IndexView


def _unit(gold: Gold) -> Gold | None:
    """Equal words are one unit, unless the entries say that they stand in different places."""
    wanted = normalise(without_typography(gold.quote or ""), "words")
    return Gold(doc=gold.doc or gold.url, page=gold.page, quote=wanted) if wanted else None


def _find(context: Context) -> Callable[[Gold, Run], Ints]:
    places = Whereabouts(context)

    @lru_cache(maxsize=1)
    def passages(run: Run) -> Passages:
        return Passages([text or "" for text in column_or_none(run, "text")])

    def holding(gold: Gold, run: Run) -> Ints:
        return places.within(gold, run, passages(run).holding(gold.quote or ""))

    return holding


def _fits(context: Context) -> str | None:
    if any(g.quote is not None for g in context.golds) and any(column(r, "text") is not None for r in context.runs):
        return "the gold are quotes and the hits have texts"
    return None


def _why(gold: Gold, key: Gold, view: IndexView) -> tuple[Reason, str]:
    quote, where, texts = f'"{shown(gold.quote)}"', shown(gold.doc or gold.url), view.places.texts_of(gold)
    if texts is not None and not texts:
        return "unknown file", f"no document is called {where}"
    places, offset = view.places.of(gold), view.options.page_offset
    pages = sorted({p for place in places for p in view.places.pages_at(place)}, key=lambda p: (len(p), p))
    named = set(pages_of(gold.page, view.options.labels))
    if pages and named and named.isdisjoint(shift(p, offset) for p in pages):
        return "quote elsewhere", f"{quote} stands on page {', '.join(pages[:4])}, not on page {gold.page}"
    if places:
        return "quote not found", f"{quote} stands in {shown(places[0].doc)}, in no chunk or split over many"
    if texts is None:
        return "quote not found", f"{quote} stands in no document"
    other = view.places.elsewhere(gold)
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
    fits=_fits,
    lacks=lacking("text"),
    why=_why,
)
