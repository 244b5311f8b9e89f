"""quote: the hit's text holds the gold quote, word for word but for typography, where the gold says it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.text.typography import without_typography
from karat.core.types import Gold
from karat.match._files import Whereabouts
from karat.match._matcher import Context, Matcher, column, lacking
from karat.match._passages import Passages

if TYPE_CHECKING:
    from karat.core.judged import Ints


def _unit(gold: Gold) -> str | None:
    """Equal words are one unit, unless the entries say that they stand in different places."""
    wanted = normalise(without_typography(gold.quote or ""), "words")
    return f"{gold.doc or gold.url}\x1f{gold.page}\x1f{wanted}" if wanted else None


def _find(context: Context) -> Callable[[Gold, Run], Ints]:
    places = Whereabouts(context)
    passages: dict[int, tuple[Run, Passages]] = {}  # the run is held, so that its id stays its own

    def holding(gold: Gold, run: Run) -> Ints:
        texts = column(run, "text")
        if texts is None or not gold.quote:
            return np.zeros(0, np.int64)
        if id(run) not in passages:
            passages[id(run)] = (run, Passages([text or "" for text in texts]))
        return places.within(gold, run, passages[id(run)][1].holding(gold.quote))

    return holding


def _fits(context: Context) -> str | None:
    if any(g.quote is not None for g in context.golds) and any(column(r, "text") is not None for r in context.runs):
        return "the gold are quotes and the hits have texts"
    return None


matcher = Matcher(
    "quote",
    unit="quote",
    summary="the text of the hit holds the gold quote, or half of it where the text ends, in the document named",
    strictness=20,
    find=_find,
    unit_of=_unit,
    fits=_fits,
    lacks=lacking("text"),
)
