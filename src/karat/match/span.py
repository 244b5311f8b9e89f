"""span: the hit's characters overlap the gold span in the same document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._files import FileNames, file_keys
from karat.match._matcher import Context, Matcher, column, lacking

if TYPE_CHECKING:
    from karat.core.judged import Ints


def _unit(gold: Gold) -> str | None:
    return None if gold.span is None else f"{gold.doc}\x1f{gold.span[0]}\x1f{gold.span[1]}"


def _files(context: Context) -> FileNames:
    return FileNames([g for g in context.golds if g.span is not None], context.runs)


def _find(context: Context) -> Callable[[Gold, Run], Ints]:
    names = _files(context)
    columns: dict[int, tuple[Run, list[str | None], Ints, Ints]] = {}  # the run is held, so that its id stays its own

    def overlapping(gold: Gold, run: Run) -> Ints:
        spans = column(run, "span")
        if gold.span is None or spans is None or names.is_ambiguous(gold):
            return np.zeros(0, np.int64)
        if id(run) not in columns:
            ends = np.array([(-1, -1) if span is None else span for span in spans], np.int64).reshape(-1, 2)
            columns[id(run)] = (run, file_keys(names, run), ends[:, 0], ends[:, 1])
        _, files, starts, stops = columns[id(run)]
        file = names.of_gold(gold)
        rows = np.flatnonzero((starts < gold.span[1]) & (stops > gold.span[0])).tolist()
        return np.array([row for row in rows if files[row] == file], np.int64)

    return overlapping


def _fits(context: Context) -> str | None:
    if any(g.span is not None for g in context.golds) and any(column(r, "span") is not None for r in context.runs):
        return "gold and hits are character spans of documents"
    return None


matcher = Matcher(
    "span",
    unit="span",
    summary="the characters of the hit overlap the gold span in the same document",
    strictness=10,
    find=_find,
    unit_of=_unit,
    fits=_fits,
    lacks=lacking("span"),
    ambiguity=lambda context: _files(context).ambiguity("character span"),
)
