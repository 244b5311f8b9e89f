"""quote: the hit's text contains the gold quote, word for word, after normalisation."""

from __future__ import annotations

from collections.abc import Callable

from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.types import Gold
from karat.match._matcher import Context, Matcher, column


def _padded(text: str) -> str:
    return f" {normalise(text, 'words')} "


def _unit(gold: Gold) -> str | None:
    """A quote is the same unit wherever its words stand; documents tell equal quotes apart."""
    wanted = _padded(gold.quote or "").strip()
    return f"{gold.doc}\x1f{wanted}" if wanted else None


def _holds(context: Context) -> Callable[[Gold, Run], Callable[[int], bool]]:
    texts: dict[int, list[str]] = {}

    def of_pair(gold: Gold, run: Run) -> Callable[[int], bool]:
        wanted = _padded(gold.quote or "")
        if not wanted.strip():
            return lambda i: False
        if id(run) not in texts:
            texts[id(run)] = [_padded(t) if t is not None else "" for t in column(run, "text") or [None] * len(run)]
        held = texts[id(run)]
        return lambda i: wanted in held[i]

    return of_pair


def _fits(context: Context) -> str | None:
    if any(g.quote is not None for g in context.golds) and any(column(r, "text") is not None for r in context.runs):
        return "the gold are quotes and the hits have texts"
    return None


matcher = Matcher(
    "quote",
    unit="quote",
    summary="the text of the hit contains the gold quote, word for word, after normalisation",
    strictness=20,
    holds=_holds,
    unit_of=_unit,
    fits=_fits,
)
