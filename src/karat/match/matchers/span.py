"""span: the hit's characters overlap the gold span in the same document."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from karat.core.judged import Ints
from karat.core.run import Run
from karat.core.text.words import excerpt
from karat.core.types import Gold
from karat.match._files import FileNames
from karat.match._matcher import Matcher, MatchInputs, Reason, column_or_none, lacking

if TYPE_CHECKING:
    from karat.match._resolve import IndexView


def _unit(gold: Gold) -> Gold | None:
    return None if gold.span is None else Gold(doc=gold.doc, span=gold.span)


def _files(inputs: MatchInputs) -> FileNames:
    return FileNames([g for g in inputs.golds if g.span is not None], inputs.runs)


def _find(inputs: MatchInputs) -> Callable[[Gold, Run], list[int]]:
    names = _files(inputs)

    @lru_cache(maxsize=1)
    def columns(run: Run) -> tuple[list[str | None], Ints]:
        spans = [(-1, -1) if span is None else span for span in column_or_none(run, "span")]
        return names.of_run(run), np.array(spans, np.int64).reshape(-1, 2)

    def overlapping(gold: Gold, run: Run) -> list[int]:
        if gold.span is None or names.is_ambiguous(gold):
            return []
        files, spans = columns(run)
        overlap = np.flatnonzero((spans[:, 0] < gold.span[1]) & (spans[:, 1] > gold.span[0]))
        file = names.of_gold(gold)
        return [hit for hit in overlap.tolist() if files[hit] == file]

    return overlapping


def _why(gold: Gold, key: Gold, view: IndexView) -> tuple[Reason, str]:
    start, end = gold.span or (0, 0)
    where = f" of {excerpt(gold.doc)}" if gold.doc else ""
    return "span outside", f"no chunk overlaps characters {start} to {end}{where}"


matcher = Matcher(
    "span",
    unit="span",
    summary="the characters of the hit overlap the gold span in the same document",
    strictness=10,
    find=_find,
    unit_of=_unit,
    lacks=lacking("span"),
    why=_why,
    within_file=lambda gold: "a span",
    ambiguity=lambda inputs: _files(inputs).ambiguity("character span"),
)
