"""The fast way for plain ids: find the judged documents among the hits and their ranks, and look at nothing else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.judged import Judged
from karat.core.ranked import at_precision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Ints
    from karat.core.run import Run
    from karat.core.types import Qrels, TestSet
    from karat.match._judge import Settings

    Scores = NDArray[np.floating[Any]]

_FEW = 8  # hits of a list up to which counting what is better beats sorting it
_BLOCK = 256  # hits counted at once: what they are compared with stays in the processor's cache


def judge_plain(testset: TestSet, runs: Sequence[Run], settings: Settings) -> Judged:
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
    for s, run in enumerate(runs):
        list_of = _lists_of(run, testset.ids)
        slots[s] = np.where(list_of >= 0, np.append(np.diff(run.offsets), 0)[list_of], 0)
        unit, own = _found(run, qrels, docs, list_of[question])
        assert run.scores is not None
        scores, score = at_precision(run.scores, settings.ties), at_precision(own, settings.ties)
        pairs.append(s * width + question[unit])
        ranks.append(_ranks(run, scores, list_of[question[unit]], score, [docs[u] for u in unit.tolist()]))
        units.append(unit)
    pair, rank = np.concatenate(pairs), np.concatenate(ranks)
    order = np.lexsort((rank, pair))
    return Judged(
        tuple(run.name for run in runs),
        testset.ids,
        pair[order],
        rank[order],
        np.concatenate(units)[order],
        np.ones(len(pair), bool),
        question,
        np.fromiter(grades, np.int64, len(docs)),
        slots.ravel(),
        slots.ravel(),
        (np.zeros(0, np.int64), np.zeros(0, np.int64)),
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
        at = ids.is_in(gold["doc"].unique().implode()).arg_true()  # a first sieve, which few hits pass
        lists = np.searchsorted(run.offsets, at.to_numpy(), side="right") - 1
        hits = pl.DataFrame({"hit": at, "list": lists, "doc": ids.gather(at)})
        both = hits.join(gold, on=["list", "doc"])
        unit, score = both["unit"].to_numpy().astype(np.int64), run.scores[both["hit"].to_numpy()]
    order = np.argsort(listed[unit], kind="stable")
    return unit[order], score[order]


def _ranks(run: Run, scores: Scores, listed: Ints, score: Scores, docs: Sequence[str]) -> Ints:
    """Rank of each hit within its list (lists ascending): one more than what stands above it, ties by id."""
    better, equal = _count(scores, run.offsets, listed, score)
    ranks = better + 1
    ties: dict[tuple[int, float], list[str]] = {}
    for i in np.flatnonzero(equal > 1).tolist():
        tie = int(listed[i]), float(score[i])
        if tie not in ties:
            begin, end = run.offsets[tie[0]], run.offsets[tie[0] + 1]
            at = (np.flatnonzero(scores[begin:end] == tie[1]) + begin).tolist()
            ties[tie] = sorted(run.docs[hit] for hit in at)
        ranks[i] += len(ties[tie]) - bisect_right(ties[tie], docs[i])
    return ranks


def _count(scores: Scores, offsets: Ints, listed: Ints, score: Scores) -> tuple[Ints, Ints]:
    """For each hit, how many scores of its list are greater, and how many equal."""
    better, equal = np.zeros((2, len(listed)), np.int64)
    lists, first, held = np.unique(listed, return_index=True, return_counts=True)
    few = np.flatnonzero(np.repeat(held <= _FEW, held))
    for begin in range(0, len(few), _BLOCK):
        at = few[begin : begin + _BLOCK]
        sizes = offsets[listed[at] + 1] - offsets[listed[at]]
        starts = np.cumsum(sizes) - sizes
        others = scores[np.arange(int(sizes.sum())) + np.repeat(offsets[listed[at]] - starts, sizes)]
        own = np.repeat(score[at], sizes)
        better[at] = np.add.reduceat(others > own, starts, dtype=np.int64)
        equal[at] = np.add.reduceat(others == own, starts, dtype=np.int64)
    for number, begin, count in zip(lists[held > _FEW], first[held > _FEW], held[held > _FEW], strict=True):
        block = slice(begin, begin + count)
        ordered = np.sort(scores[offsets[number] : offsets[number + 1]])
        upto = np.searchsorted(ordered, score[block], side="right")
        better[block] = len(ordered) - upto
        equal[block] = upto - np.searchsorted(ordered, score[block], side="left")
    return better, equal
