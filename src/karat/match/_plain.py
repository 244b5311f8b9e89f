"""The fast way for plain ids: find the judged documents among the hits and their ranks, and look at nothing else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.judged import Ints, Judged
from karat.core.ranked import at_precision
from karat.core.run import Run
from karat.core.types import Qrels, TestSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.match._judge import JudgingSettings

    Scores = NDArray[np.floating[Any]]

_FEW = 8  # hits of a list up to which counting what is better beats sorting it
_TOGETHER = (
    1 << 20
)  # hits of runs that are ranked together, copied end to end, and those that gold is looked for in at once
_BLOCK = 1 << 16  # scores compared at once: they stay in the processor's cache


def judge_plain(testset: TestSet, runs: Sequence[Run], settings: JudgingSettings) -> Judged:
    """Judge runs ranked by score, without repeats, by ids as they are."""
    qrels = testset.qrels if testset.is_plain else _qrels(testset)
    assert qrels is not None
    docs = list(chain.from_iterable(qrels.values()))
    judged_of = np.fromiter(map(len, qrels.values()), np.int64, len(qrels))
    question = np.repeat(np.arange(len(qrels)), judged_of)
    grades = chain.from_iterable(row.values() for row in qrels.values())
    width = len(testset.ids)
    slots = np.zeros((len(runs), width), np.int64)
    pairs, ranks, units = [], [], []
    for numbers in _batches(runs):
        listed, scores, matched = [], [], []
        for s in numbers:
            list_of = _lists_of(runs[s], testset.ids)
            slots[s] = np.where(list_of >= 0, np.append(np.diff(runs[s].offsets), 0)[list_of], 0)
            unit, score = _found(runs[s], qrels, docs, list_of[question])
            pairs.append(s * width + question[unit])
            listed.append(list_of[question[unit]])
            scores.append(score)
            matched.append(unit)
        unit = np.concatenate(matched)
        ranks.append(_Lists([runs[s] for s in numbers], settings).ranks(listed, np.concatenate(scores), docs, unit))
        units.append(unit)
    pair, rank, unit = np.concatenate(pairs), np.concatenate(ranks), np.concatenate(units)
    order = np.lexsort((rank, pair))
    return Judged(
        systems=tuple(run.name for run in runs),
        questions=testset.ids,
        pair=pair[order],
        rank=rank[order],
        unit=unit[order],
        new=np.ones(len(pair), bool),
        gold_question=question,
        gold_grade=np.fromiter(grades, np.int64, len(docs)),
        slots=slots.ravel(),
        distinct=slots.ravel(),
        stale=(np.zeros(0, np.int64), np.zeros(0, np.int64)),
        repeats=settings.repeats,
        tokens_missing="it was not asked for",
        collection=settings.collection,
    )


def _qrels(testset: TestSet) -> Qrels:
    """Gold by its label, blanks aside; an entry without one is a unit that is never found."""
    table: dict[str, dict[str, int]] = {}
    for question in testset.questions:
        row = table.setdefault(question.id, {})
        for i, gold in enumerate(question.gold):
            key = gold.label.strip() or f"\x00{i}"
            row[key] = max(gold.grade, row.get(key, gold.grade))
    return table


def _lists_of(run: Run, questions: tuple[str, ...]) -> Ints:
    """The list of each question in a run, -1 where it has none."""
    if questions == tuple(run.question_ids):
        return np.arange(len(questions))
    listed = dict(zip(run.question_ids, range(len(run.question_ids)), strict=True))
    return np.fromiter(map(listed.get, questions, repeat(-1)), np.int64, len(questions))


def _found(run: Run, qrels: Qrels, docs: Sequence[str], listed: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """The gold units among the hits of a run, ordered by list, with their scores; `listed` is the list of each unit."""
    if run.by_question is not None:
        score = run.look_up(qrels)
        unit = np.flatnonzero(~np.isnan(score))
        score = score[unit]
    else:
        import polars as pl

        assert run.scores is not None
        gold = pl.DataFrame({"list": listed, "doc": docs}, schema_overrides={"doc": pl.String}).with_row_index("unit")
        ids = run.docs if isinstance(run.docs, pl.Series) else pl.Series(run.docs, dtype=pl.String)
        judged = gold["doc"].unique().implode()
        units, hits = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for start in range(0, len(ids), _TOGETHER):
            part = ids.slice(start, _TOGETHER)
            at = part.is_in(judged).arg_true()  # a first sieve, which few hits pass
            lists = np.searchsorted(run.offsets, at.to_numpy() + start, side="right") - 1
            both = pl.DataFrame({"hit": at, "list": lists, "doc": part.gather(at)}).join(gold, on=["list", "doc"])
            units.append(both["unit"].to_numpy().astype(np.int64))
            hits.append(both["hit"].to_numpy().astype(np.int64) + start)
        unit, score = np.concatenate(units), run.scores[np.concatenate(hits)]
    order = np.argsort(listed[unit], kind="stable")
    return unit[order], score[order]


def _batches(runs: Sequence[Run]) -> Iterator[range]:
    """The numbers of runs that are ranked together: of many small ones at once, of large ones each alone."""
    begin = hits = 0
    for number, run in enumerate(runs):
        if number > begin and hits + len(run) > _TOGETHER:
            yield range(begin, number)
            begin, hits = number, 0
        hits += len(run)
    yield range(begin, len(runs))


class _Lists:
    """The lists of some runs end to end, numbered through; `first` is the number of each run's first."""

    def __init__(self, runs: Sequence[Run], settings: JudgingSettings) -> None:
        self.runs, self.ties = runs, settings.ties
        self.first = np.cumsum([0, *(len(run.offsets) - 1 for run in runs)])
        scores = [at_precision(run.scores, settings.ties) for run in runs if run.scores is not None]
        self.scores = scores[0] if len(scores) == 1 else np.concatenate(scores)
        self.offsets = np.cumsum(np.concatenate(([0], *(np.diff(run.offsets) for run in runs))))

    def ranks(self, lists: Sequence[Ints], scores: NDArray[np.float64], docs: Sequence[str], unit: Ints) -> Ints:
        """Rank of each hit within its list: one more than what stands above it, ties by id.

        `lists` are those of the hits of each run, ascending.
        """
        listed = np.concatenate([first + own for first, own in zip(self.first.tolist(), lists, strict=False)])
        score = at_precision(scores, self.ties)
        better, equal = _count(self.scores, self.offsets, listed, score)
        ranks = better + 1
        ties: dict[tuple[int, float], list[str]] = {}
        for i in np.flatnonzero(equal > 1).tolist():
            tie = int(listed[i]), float(score[i])
            if tie not in ties:
                tied = np.flatnonzero(self.scores[self.offsets[tie[0]] : self.offsets[tie[0] + 1]] == tie[1])
                ids = self._ids(tie[0])
                ties[tie] = sorted(ids[hit] for hit in tied.tolist())
            ranks[i] += len(ties[tie]) - bisect_right(ties[tie], docs[unit[i]])
        return ranks

    def _ids(self, number: int) -> Sequence[str]:
        """The ids of one list; of dicts they are read without laying out all others."""
        at = bisect_right(self.first, number) - 1
        run, number = self.runs[at], number - int(self.first[at])
        if run.by_question is not None:
            return list(run.by_question[run.question_ids[number]])
        return list(run.docs[run.offsets[number] : run.offsets[number + 1]])


def _count(scores: Scores, offsets: Ints, listed: Ints, score: Scores) -> tuple[Ints, Ints]:
    """For each hit, how many scores of its list are greater, and how many equal."""
    better, equal = np.zeros((2, len(listed)), np.int64)
    first = np.flatnonzero(np.diff(listed, prepend=-1))
    held = np.diff(first, append=len(listed))
    for nth in range(int(held[held <= _FEW].max(initial=0))):
        here = first[(held <= _FEW) & (held > nth)] + nth  # at most one hit of each list
        edges = np.flatnonzero(np.diff(offsets[listed[here]] // _BLOCK)) + 1
        for at in np.split(here, edges):
            begin, end = listed[at[0]], listed[at[-1]] + 1
            own = np.full(end - begin, np.inf, scores.dtype)
            own[listed[at] - begin] = score[at]
            sizes = np.diff(offsets[begin : end + 1])
            filled = sizes > 0
            starts = (offsets[begin:end] - offsets[begin])[filled]
            place = (np.cumsum(filled) - 1)[listed[at] - begin]
            others, against = scores[offsets[begin] : offsets[end]], np.repeat(own, sizes)
            better[at] = np.add.reduceat(others > against, starts, dtype=np.int32)[place]
            equal[at] = np.add.reduceat(others == against, starts, dtype=np.int32)[place]
    for begin, count in zip(first[held > _FEW].tolist(), held[held > _FEW].tolist(), strict=True):
        block, number = slice(begin, begin + count), listed[begin]
        ordered = np.sort(scores[offsets[number] : offsets[number + 1]])
        upto = ordered.searchsorted(score[block], side="right")
        better[block] = len(ordered) - upto
        if (ordered[1:] == ordered[:-1]).any():
            equal[block] = upto - ordered.searchsorted(score[block], side="left")
    return better, equal
