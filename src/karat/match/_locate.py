"""Fast exact matching: find the judged documents among the hits and their ranks, and look at nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np

from karat.core.ranked import Ties, at_precision
from karat.match._ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Ints
    from karat.core.run import Run
    from karat.core.types import Qrels

_TOGETHER = 1 << 20  # hits of runs that are ranked in one go
_BLOCK = 1 << 19  # rows sieved together
_TABLE = (1 << 20) - 1  # a first sieve of one byte a slot


@dataclass(frozen=True)
class Wanted:
    """The gold units of all questions, one after the other: question number and document of each."""

    qrels: Qrels
    question: Ints

    @classmethod
    def of(cls, qrels: Qrels) -> Wanted:
        held = np.fromiter(map(len, qrels.values()), np.int64, len(qrels))
        return cls(qrels, np.repeat(np.arange(len(qrels)), held))

    @cached_property
    def docs(self) -> list[str]:
        return list(chain.from_iterable(self.qrels.values()))


@dataclass(frozen=True)
class Found:
    """Gold units among the hits of a run: unit, the list it stands in (rows ascending), its score."""

    run: Run
    unit: Ints
    row: Ints
    score: NDArray[np.float64]


def locate(runs: Sequence[Run], wanted: Wanted, ties: Ties) -> tuple[Ints, Ints, Ints]:
    """Pair, rank and gold unit of every judged hit, by pair and rank, of runs without repeats."""
    pairs, ranks, units = [], [], []
    for begin, batch in _batches(runs):
        found = [_find(run, wanted) for run in batch]
        systems = np.repeat(np.arange(begin, begin + len(batch)), [len(f.unit) for f in found])
        unit = np.concatenate([f.unit for f in found])
        pairs.append(systems * len(wanted.qrels) + wanted.question[unit])
        ranks.append(_rank(found, unit, wanted, ties))
        units.append(unit)
    pair, rank, unit = np.concatenate(pairs), np.concatenate(ranks), np.concatenate(units)
    order = np.lexsort((rank, pair))
    return pair[order], rank[order], unit[order]


def _batches(runs: Sequence[Run]) -> Iterator[tuple[int, list[Run]]]:
    """Runs in groups of about _TOGETHER hits, each with the number of its first run."""
    batch: list[Run] = []
    hits = 0
    for number, run in enumerate(runs):
        if batch and hits + len(run) > _TOGETHER:
            yield number - len(batch), batch
            batch, hits = [], 0
        batch.append(run)
        hits += len(run)
    yield len(runs) - len(batch), batch


def _rank(found: Sequence[Found], unit: Ints, wanted: Wanted, ties: Ties) -> Ints:
    """Ranks within all lists of several runs, laid end to end."""
    lists = np.cumsum([0, *(len(f.run.question_ids) for f in found)])
    if len(found) == 1:
        (only,) = found
        scores, offsets, row, score = only.run.scores, only.run.offsets, only.row, only.score
    else:
        hits = np.cumsum([0, *(len(f.run) for f in found)])
        scores = np.concatenate([f.run.scores for f in found if f.run.scores is not None])
        ends = [f.run.offsets[1:] + before for f, before in zip(found, hits.tolist(), strict=False)]
        offsets = np.concatenate(([0], *ends))
        row = np.concatenate([f.row + before for f, before in zip(found, lists.tolist(), strict=False)])
        score = np.concatenate([f.score for f in found])
    assert scores is not None
    compared = at_precision(scores, ties)

    def tied_docs(listed: int, tie: float) -> list[str]:
        number = int(np.searchsorted(lists, listed, side="right")) - 1
        run, place = found[number].run, listed - int(lists[number])
        equal = np.flatnonzero(compared[offsets[listed] : offsets[listed + 1]] == tie).tolist()
        if run.by_question is not None:
            ids = list(run.by_question[run.question_ids[place]])
            return [ids[i] for i in equal]
        begin = int(run.offsets[place])
        return [run.docs[begin + i] for i in equal]

    return ranks_of(compared, offsets, row, at_precision(score, ties), lambda i: wanted.docs[unit[i]], tied_docs)


def _find(run: Run, wanted: Wanted) -> Found:
    row_of = rows_of(run, tuple(wanted.qrels))
    unit, score = _in_dicts(run, wanted) if run.by_question is not None else _in_columns(run, wanted, row_of)
    row = row_of[wanted.question[unit]]
    if len(row) and (row[1:] < row[:-1]).any():
        order = np.argsort(row, kind="stable")
        unit, row, score = unit[order], row[order], score[order]
    return Found(run, unit, row, score)


def rows_of(run: Run, questions: tuple[str, ...]) -> Ints:
    """The list of each question in a run, -1 where it has none."""
    if questions == tuple(run.question_ids):
        return np.arange(len(questions))
    listed = dict(zip(run.question_ids, range(len(run.question_ids)), strict=True))
    return np.fromiter(map(listed.get, questions, repeat(-1)), np.int64, len(questions))


def _in_dicts(run: Run, wanted: Wanted) -> tuple[Ints, NDArray[np.float64]]:
    """Look every judged document up in the question's dict of hits."""
    score = run.look_up(wanted.qrels)
    unit = np.flatnonzero(~np.isnan(score))
    return unit, score[unit]


def _in_columns(run: Run, wanted: Wanted, row_of: Ints, seed: int = 0) -> tuple[Ints, NDArray[np.float64]]:
    """Sieve the hashes of all hits by those of the judged documents, then compare the few that pass as text."""
    import polars as pl

    assert run.scores is not None
    docs = run.docs if isinstance(run.docs, pl.Series) else pl.Series(run.docs, dtype=pl.String)
    gold_docs = pl.Series(wanted.docs, dtype=pl.String)
    salts = _salts(len(run.question_ids))
    row = row_of[wanted.question]
    asked = np.flatnonzero(row >= 0)
    keys = gold_docs.hash(seed).to_numpy()[asked] ^ salts[row[asked]]
    order = np.argsort(keys)
    keys, unit = keys[order], asked[order]
    if (keys[1:] == keys[:-1]).any():  # two judged documents share a 64-bit key: hash anew
        return _in_columns(run, wanted, row_of, seed + 1)
    hit, at = _sieve(run.offsets, lambda begin, end: docs[begin:end].hash(seed).to_numpy(), salts, keys)
    unit = unit[at]
    same = (docs.gather(hit) == gold_docs.gather(unit)).to_numpy()
    return unit[same], run.scores[hit[same]]


def _sieve(
    offsets: Ints,
    hashes: Callable[[int, int], NDArray[np.uint64]],
    salts: NDArray[np.uint64],
    keys: NDArray[np.uint64],
) -> tuple[Ints, Ints]:
    """Hits whose salted hash is one of the sorted keys, and which."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    table = np.zeros(_TABLE + 1, bool)
    table[keys & np.uint64(_TABLE)] = True

    def of_block(lists: tuple[int, int]) -> tuple[Ints, Ints]:
        first, last = lists
        begin, end = int(offsets[first]), int(offsets[last])
        salted = hashes(begin, end) ^ np.repeat(salts[first:last], np.diff(offsets[first : last + 1]))
        passed = np.flatnonzero(table[salted & np.uint64(_TABLE)])
        at = np.minimum(np.searchsorted(keys, salted[passed]), len(keys) - 1)
        same = keys[at] == salted[passed]
        return passed[same] + begin, at[same]

    blocks = _blocks(offsets)
    if len(blocks) == 1:
        return of_block(blocks[0])
    with ThreadPoolExecutor(2) as workers:
        hits, places = zip(*workers.map(of_block, blocks), strict=True)
    return np.concatenate(hits), np.concatenate(places)


def _salts(count: int) -> NDArray[np.uint64]:
    """A well-mixed number per list, so that the same document in another list has another key."""
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def _blocks(offsets: Ints) -> list[tuple[int, int]]:
    """Ranges of whole lists of about _BLOCK rows."""
    last = len(offsets) - 1
    cuts = np.searchsorted(offsets, np.arange(_BLOCK, int(offsets[-1]), _BLOCK))
    edges = [0, *dict.fromkeys(int(c) for c in cuts if 0 < c < last), last]
    return list(pairwise(edges))
