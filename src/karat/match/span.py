"""span: the hit's characters overlap the gold span in the same document."""

from __future__ import annotations

from collections.abc import Callable

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import Context, Matcher, column


def _holds(context: Context) -> Callable[[Gold, Run], Callable[[int], bool]]:
    def of_pair(gold: Gold, run: Run) -> Callable[[int], bool]:
        spans, docs = column(run, "span"), column(run, "doc")
        if gold.span is None or spans is None:
            return lambda i: False
        start, end = gold.span

        def overlaps(i: int) -> bool:
            span = spans[i]
            if span is None or not (span[0] < end and start < span[1]):
                return False
            return docs is None or gold.doc is None or docs[i] == gold.doc

        return overlaps

    return of_pair


def _fits(context: Context) -> str | None:
    if any(g.span is not None for g in context.golds) and any(column(r, "span") is not None for r in context.runs):
        return "gold and hits are character spans of documents"
    return None


matcher = Matcher(
    "span",
    unit="span",
    summary="the characters of the hit overlap the gold span in the same document",
    strictness=10,
    holds=_holds,
    fits=_fits,
)
