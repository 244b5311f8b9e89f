"""span: the hit's characters overlap the gold span in the same document."""

from __future__ import annotations

from collections.abc import Callable

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._files import FileNames, file_keys
from karat.match._matcher import Context, Matcher, column


def _unit(gold: Gold) -> str | None:
    return None if gold.span is None else f"{gold.doc}\x1f{gold.span[0]}\x1f{gold.span[1]}"


def _holds(context: Context) -> Callable[[Gold, Run], Callable[[int], bool]]:
    names = FileNames([g for g in context.golds if g.span is not None], context.runs, "character spans")
    files = {id(run): file_keys(names, run) for run in context.runs}

    def of_pair(gold: Gold, run: Run) -> Callable[[int], bool]:
        spans, of_hits, file = column(run, "span"), files[id(run)], names.of_gold(gold)
        if gold.span is None or spans is None:
            return lambda i: False
        start, end = gold.span

        def overlaps(i: int) -> bool:
            span = spans[i]
            return span is not None and span[0] < end and start < span[1] and of_hits[i] == file

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
    unit_of=_unit,
    fits=_fits,
)
