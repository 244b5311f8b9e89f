"""What the guards and the row files need to know of runs and test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from karat.core.ranked import Ties, ranking
from karat.core.text import drop_blocks
from karat.diagnose.guards import Facts
from karat.experiment._answered import missing_of, unanswered

if TYPE_CHECKING:
    from karat.core.answered import AnswerTable
    from karat.core.judged import Judged
    from karat.core.run import Run
    from karat.core.types import TestSet

T = TypeVar("T")
UNKNOWN = "N/A"


def facts_of(
    testset: TestSet,
    runs: Sequence[Run],
    judged: Judged | None,
    answered: AnswerTable | None,
    dialect: str,
    repeats: str,
    missing_is_zero: bool,
) -> Facts:
    """Counts taken where runs and test set meet."""
    known = set(testset.ids)
    asked = {run.name: set(run.asked) for run in runs}
    listed = {run.name: {*run.question_ids, *run.failed} for run in runs if run.has_rankings or not run.has_answers}
    missing = {run.name: missing_of(testset, run) for run in runs}
    empty: dict[str, tuple[int, int]] = {}
    if answered is not None:
        width = len(testset)
        for s, run in enumerate(runs):
            if run.has_answers:
                given = zip(testset.ids, answered.answers[s * width : (s + 1) * width], strict=True)
                lost = {*run.failed, *run.unasked, *unanswered(run), *missing[run.name]}
                asked_for = [a for qid, a in given if qid not in lost]
                empty[run.name] = (sum(1 for a in asked_for if not drop_blocks(a or "").strip()), len(asked_for))
    gold = next((g.label for q in testset.questions for g in q.gold), None) if not testset.is_plain else None
    return Facts(
        dialect=dialect,
        repeats=repeats,
        extra={name: len(ids - known) for name, ids in asked.items()},
        missing={name: len(known - ids) for name, ids in listed.items()},
        missing_answers={name: len(questions) for name, questions in missing.items()},
        missing_is_zero=missing_is_zero,
        empty_answers=empty,
        depth={run.name: int(np.diff(run.offsets).max()) for run in runs if run.has_rankings},
        unjudged=_unjudged(judged) if judged is not None else {},
        gold_example=gold,
        hit_examples={run.name: run.first_doc for run in runs if len(run)},
    )


def _unjudged(judged: Judged) -> dict[str, float]:
    """Share of each system's top 10 hits that nobody judged, where somebody judged hits as not relevant."""
    from karat.core.language import parse

    if not judged.judged_not_relevant.any():
        return {}
    share = np.asarray(parse("Judged@10").of(judged)).reshape(len(judged.systems), -1)
    return {
        name: float(1 - np.nanmean(row))
        for name, row in zip(judged.systems, share, strict=True)
        if not np.isnan(row).all()
    }


class RankedLists(Mapping[str, Sequence[Sequence[T]]]):
    """A column of the hits in ranked order, a list for each question, made when asked for: a run may hold millions."""

    def __init__(self, testset: TestSet, runs: Sequence[Run], ties: Ties, column: Callable[[Run], Sequence[T]]) -> None:
        self._ids, self._ties, self._column = testset.ids, ties, column
        self._runs = {run.name: run for run in runs if run.has_rankings}

    def __getitem__(self, system: str) -> list[list[T]]:
        run = self._runs[system]
        order, column = ranking(run, self._ties).tolist(), self._column(run)
        rows = {
            qid: [column[i] for i in order[run.offsets[q] : run.offsets[q + 1]]]
            for q, qid in enumerate(run.question_ids)
        }
        return [rows.get(qid, []) for qid in self._ids]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


def ranked_ids(testset: TestSet, runs: Sequence[Run], ties: Ties) -> RankedLists[str]:
    """Ids of the hits."""
    return RankedLists(testset, runs, ties, lambda run: run.doc_list)


def ranked_places(testset: TestSet, runs: Sequence[Run], ties: Ties, field: str) -> RankedLists[str]:
    """The documents ("doc") or the pages ("page") of the hits, of runs that know them."""
    known = [run for run in runs if any(value is not None for value in run.fields.get(field, ()))]
    return RankedLists(testset, known, ties, lambda run: [_place(value) for value in run.fields[field]])


def _place(value: object) -> str:
    return UNKNOWN if value is None else ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def ranked_scores(testset: TestSet, runs: Sequence[Run], ties: Ties) -> RankedLists[float]:
    """Scores of the hits, of runs that have them."""
    scored = [run for run in runs if run.scores is not None]
    return RankedLists(testset, scored, ties, lambda run: [] if run.scores is None else run.scores.tolist())
