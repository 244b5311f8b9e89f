"""Fast exact matching: find the judged documents among the hits and their ranks, and look at nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karat.core.order import Ties, comparable
from karat.match._ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Ints
    from karat.core.run import Run
    from karat.core.types import Qrels

_BLOCK = 1 << 20  # rows looked at together
_TABLE = (1 << 20) - 1  # a first sieve of one byte a slot


def locate(run: Run, qrels: Qrels, first_unit: Ints, ties: Ties) -> tuple[Ints, Ints, Ints]:
    """Question, rank and gold unit of every judged hit of a run without repeats, by question and rank.

    `first_unit[q]` is the number of question q's first gold unit; units follow the order of the qrels.
    """
    assert run.scores is not None
    if run.by_question is not None:
        question, unit, row, score, doc = _in_dicts(run, qrels, first_unit)
    else:
        question, unit, row, score, doc = _in_columns(run, qrels, first_unit)
    by_list = np.argsort(row, kind="stable")
    question, unit, row = question[by_list], unit[by_list], row[by_list]
    doc = [doc[i] for i in by_list.tolist()]
    with_ties = comparable(score[by_list], ties)
    scores = comparable(run.scores, ties)

    def tied_docs(listed: int, tie: float) -> Sequence[str]:
        if run.by_question is not None:
            hits = run.by_question[run.question_ids[listed]]
            keys = list(hits)
        else:
            begin, end = int(run.offsets[listed]), int(run.offsets[listed + 1])
            keys = run.docs[begin:end]  # type: ignore[assignment]
        here = scores[run.offsets[listed] : run.offsets[listed + 1]] == tie
        return [keys[i] for i in np.flatnonzero(here).tolist()]

    rank = ranks_of(scores, run.offsets, row, with_ties, doc, tied_docs)
    order = np.lexsort((rank, question))
    return question[order], rank[order], unit[order]


def _in_dicts(run: Run, qrels: Qrels, first_unit: Ints) -> tuple[Ints, Ints, Ints, NDArray[np.float64], list[str]]:
    """Look every judged document up in the question's dict of hits."""
    assert run.by_question is not None
    listed = {qid: i for i, qid in enumerate(run.question_ids)}
    question: list[int] = []
    unit: list[int] = []
    score: list[float] = []
    doc: list[str] = []
    row: list[int] = []
    starts = first_unit.tolist()
    for q, (qid, judged) in enumerate(qrels.items()):
        hits = run.by_question.get(qid)
        if not hits:
            continue
        begin = starts[q]
        for j, name in enumerate(judged):
            if name in hits:
                question.append(q)
                unit.append(begin + j)
                score.append(hits[name])
                doc.append(name)
                row.append(listed[qid])
    ints = (np.array(question, np.int64), np.array(unit, np.int64), np.array(row, np.int64))
    return *ints, np.array(score, np.float64), doc


def _in_columns(
    run: Run, qrels: Qrels, first_unit: Ints, seed: int = 0
) -> tuple[Ints, Ints, Ints, NDArray[np.float64], list[str]]:
    """Sieve the hashes of all hits by those of the judged documents, then compare the few that pass as text."""
    import polars as pl

    assert run.scores is not None
    docs = run.docs if isinstance(run.docs, pl.Series) else pl.Series(run.docs, dtype=pl.String)
    hashes = run.hashes if run.hashes is not None and seed == 0 else docs.hash(seed).to_numpy()
    listed = {qid: i for i, qid in enumerate(run.question_ids)}
    gold_row: list[int] = []
    gold_question: list[int] = []
    gold_unit: list[int] = []
    names: list[str] = []
    for q, (qid, judged) in enumerate(qrels.items()):
        row = listed.get(qid)
        if row is None:
            continue
        begin = int(first_unit[q])
        names.extend(judged)
        gold_row.extend([row] * len(judged))
        gold_question.extend([q] * len(judged))
        gold_unit.extend(range(begin, begin + len(judged)))
    gold_docs = pl.Series(names, dtype=pl.String)
    salts = _salts(len(run.question_ids))
    rows_of_gold = np.array(gold_row, np.int64)
    gold_keys = gold_docs.hash(seed).to_numpy() ^ salts[rows_of_gold]

    sieve = np.zeros(_TABLE + 1, bool)
    sieve[gold_keys & np.uint64(_TABLE)] = True
    order = np.argsort(gold_keys)
    sorted_keys = gold_keys[order]
    if (sorted_keys[1:] == sorted_keys[:-1]).any():  # two judged documents share a 64-bit key: hash anew
        return _in_columns(run, qrels, first_unit, seed + 1)
    passed, found = [], []
    for begin_list, end_list in _blocks(run.offsets):
        begin, end = int(run.offsets[begin_list]), int(run.offsets[end_list])
        sizes = np.diff(run.offsets[begin_list : end_list + 1])
        keys = hashes[begin:end] ^ np.repeat(salts[begin_list:end_list], sizes)
        candidates = np.flatnonzero(sieve[keys & np.uint64(_TABLE)])
        at = np.searchsorted(sorted_keys, keys[candidates])
        at[at == len(sorted_keys)] = 0
        same = sorted_keys[at] == keys[candidates] if len(sorted_keys) else np.zeros(len(candidates), bool)
        passed.append(candidates[same] + begin)
        found.append(order[at[same]])
    rows = np.concatenate(passed) if passed else np.zeros(0, np.int64)
    gold = np.concatenate(found) if found else np.zeros(0, np.int64)
    same_text = (docs.gather(rows) == gold_docs.gather(gold)).to_numpy()
    rows, gold = rows[same_text], gold[same_text]
    question = np.array(gold_question, np.int64)[gold]
    unit = np.array(gold_unit, np.int64)[gold]
    return question, unit, rows_of_gold[gold], run.scores[rows], gold_docs.gather(gold).to_list()


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
