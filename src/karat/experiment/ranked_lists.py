"""The hits of every system as lists in ranked order, a list for each question of a test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from karat.core.ranked import Ties, ranking

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet

T = TypeVar("T")
_UNKNOWN = "N/A"  # the place of a hit that says none, beside others that do


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
    return _UNKNOWN if value is None else ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def ranked_scores(testset: TestSet, runs: Sequence[Run], ties: Ties) -> RankedLists[float]:
    """Scores of the hits, of runs that have them."""
    scored = [run for run in runs if run.scores is not None]
    return RankedLists(testset, scored, ties, lambda run: [] if run.scores is None else run.scores.tolist())
