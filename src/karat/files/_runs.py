"""Runs being built: one system's hits, answers and failures, collected row by row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from karat.core.run import HIT_FIELDS, Run
from karat.core.text.words import plural
from karat.core.types import Answer
from karat.files import _cells
from karat.files._cells import CellError
from karat.files._units import hit_id

_KEPT = frozenset(HIT_FIELDS)


class Building:
    """Collects the rows of one system; `done` makes the Run."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}  # question -> row it was read from
        self.listed: list[str] = []  # questions with a list of hits, if only an empty one
        self.sizes: list[int] = []
        self.docs: list[str] = []
        self.scores: list[float | None] = []
        self.fields: dict[str, list[Any]] = {}
        self.answers: dict[str, Answer] = {}
        self.failed: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.blank = 0  # questions whose list of hits is an empty cell
        self.falls = True  # scores never rise within a list

    def add(self, qid: str, row: int, hits: list[dict[str, Any]] | None) -> None:
        """The hits of one question, best first; None where the row holds no list of them."""
        self.rows[qid] = row
        if hits is None:
            return
        self.listed.append(qid)
        self.sizes.append(len(hits))
        last: float | None = None
        for hit in hits:
            place = len(self.docs)
            self.docs.append(hit_id(hit))
            score = hit.get("score")
            self.scores.append(score)
            if last is not None and score is not None and score > last:
                self.falls = False
            last = score
            if len(hit) == 1 and "id" in hit:
                continue
            for field, value in hit.items():
                if field in _KEPT:
                    column = self.fields.setdefault(field, [])
                    column.extend([None] * (place - len(column)))
                    column.append(value)

    def done(self, name: str, source: str, settings: Mapping[str, float] | None = None) -> Run:
        """The run. Where every list is an empty cell beside answers, it holds answers alone."""
        size = len(self.docs)
        if self.blank == len(self.listed) and self.answers:
            self.listed, self.sizes = [], []
        for column in self.fields.values():
            column.extend([None] * (size - len(column)))
        scored = size and all(score is not None for score in self.scores)
        return Run(
            name,
            self.listed,
            np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(self.sizes, np.int64)))),
            self.docs,
            np.array(self.scores, np.float64) if scored else None,
            fields=self.fields,
            answers=self.answers,
            failed=self.failed,
            source=source,
            texts=self.texts,
            settings=settings or {},
        )


def described(runs: list[Run]) -> str:
    """ "bm25: 7,000 hits for 120 questions"; several systems separated by semicolons."""
    return "; ".join(_described(run) for run in runs[:5]) + (f"; {len(runs) - 5} more" if len(runs) > 5 else "")


def _described(run: Run) -> str:
    parts = []
    if len(run):
        parts.append(plural(len(run), "hit"))
    spoken = sum(answer.text is not None for answer in run.answers.values())
    if spoken:
        parts.append(plural(spoken, "answer"))
    what = " and ".join(parts) or "nothing retrieved"
    failures = f" ({len(run.failed)} failed)" if run.failed else ""
    return f"{run.name}: {what} for {plural(len(run.asked), 'question')}{failures}"


def named_by(variants: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """Names for (system, alpha, k): alpha and k are added where they vary under one name."""
    variants = list(variants)
    names: dict[tuple[str, str, str], str] = {}
    for key in variants:
        system, alpha, k = key
        group = [other for other in variants if other[0] == system]
        name = system
        if len({other[1] for other in group}) > 1:
            name += f" alpha={alpha}"
        if len({other[2] for other in group}) > 1:
            name += f" k={k}"
        names[key] = name
    return names


def settings_of(key: tuple[str, str, str]) -> dict[str, float]:
    """alpha and k as numbers, where they are numbers."""
    found: dict[str, float] = {}
    _, alpha, k = key
    with suppress(CellError):
        found |= {"alpha": _cells.finite(alpha, "alpha")} if alpha else {}
    with suppress(CellError):
        found |= {"k": _cells.whole(k, "k")} if k else {}
    return found


def list_notes(built: Collection[Building]) -> list[str]:
    """What to say of the lists of all systems, a sentence each."""
    notes = []
    if not all(building.falls for building in built):
        notes.append("scores do not fall within the lists: the order of the lists is kept")
    if any(None in building.scores and len(set(building.scores)) > 1 for building in built):
        notes.append("some hits have no score: scores are left aside, the order of the lists is kept")
    blank = sum(building.blank for building in built)
    if blank and any(building.docs for building in built):
        notes.append(f"{plural(blank, 'row')} with an empty list of hits: nothing was retrieved there")
    return notes
