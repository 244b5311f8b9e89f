"""Crediting in general: any matcher, repeated units, several units a hit, token budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.ranked import Ties, ranking
from karat.match._matcher import Keys, each

if TYPE_CHECKING:
    from karat.core.judged import Bools, Ints, Repeats
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet


@dataclass(frozen=True)
class Units:
    """The gold of a test set as units: ordered by question, each once, with the highest grade it was given."""

    question: Ints
    grade: Ints
    code: Ints  # of its key
    gold: list[Gold]
    codes: dict[str, int]  # key -> code


def units_of(testset: TestSet, keys_of: Callable[[Gold], Keys]) -> Units:
    """Gold entries as units: equal keys of a question are one unit; an entry without a key is one never found."""
    codes: dict[str, int] = {}
    question: list[int] = []
    grade: list[int] = []
    code: list[int] = []
    gold: list[Gold] = []
    for q, one in enumerate(testset.questions):
        seen: dict[str, int] = {}
        for entry, g in enumerate(one.gold):
            keys = keys_of(g)
            for key in each(keys) or (f"\x00{q}\x00{entry}",):
                if key in seen:
                    grade[seen[key]] = max(grade[seen[key]], g.grade)
                    continue
                seen[key] = len(gold)
                question.append(q)
                grade.append(g.grade)
                code.append(codes.setdefault(key, len(codes)))
                gold.append(g)
    arrays = (np.array(question, np.int64), np.array(grade, np.int64), np.array(code, np.int64))
    return Units(*arrays, gold, codes)


@dataclass(frozen=True)
class Credits:
    """Judged entries of one run, by question, then rank; slots, distinct units and slot sizes of each question."""

    question: Ints
    rank: Ints
    unit: Ints
    new: Bools
    slots: Ints
    distinct: Ints
    stale: tuple[Ints, Ints]  # question and rank of slots that bring nothing new
    sizes: tuple[Ints, Ints] | None  # offsets per question, tokens of each slot


def credit(
    run: Run,
    testset: TestSet,
    units: Units,
    hit_keys: Callable[[Run], Sequence[Keys]],
    *,
    repeats: Repeats,
    ties: Ties,
    tokens: Ints | None = None,
) -> Credits:
    """Which judged units each slot of a run holds."""
    index = {qid: q for q, qid in enumerate(testset.ids)}
    of_list = np.array([index.get(qid, -1) for qid in run.question_ids], np.int64)
    order = ranking(run, ties)
    question = np.repeat(of_list, np.diff(run.offsets))[order] if len(run) else np.zeros(0, np.int64)
    asked = question >= 0
    hit, question = order[asked], question[asked]
    by_question = np.argsort(question, kind="stable")
    hit, question = hit[by_question], question[by_question]

    slot, code = _coded(hit_keys(run), hit, units.codes)
    question, slot, code, hit, new = _first_seen(question, slot, code, hit, collapse=repeats == "collapse")

    slots = np.bincount(question, minlength=len(testset))
    starts = np.cumsum(slots) - slots
    rank_of_slot = np.arange(len(question)) - starts[question] + 1
    unit = _unit_of(question[slot], code, units)
    judged = unit >= 0
    stale = np.bincount(slot[new], minlength=len(question)) == 0
    sizes = None
    if tokens is not None:
        sizes = (np.concatenate(([0], np.cumsum(slots))), tokens[hit])
    return Credits(
        question[slot][judged],
        rank_of_slot[slot][judged],
        unit[judged],
        new[judged],
        slots,
        np.bincount(question[slot][new], minlength=len(testset)),
        (question[stale], rank_of_slot[stale]),
        sizes,
    )


def _coded(keys: Sequence[Keys], hit: Ints, codes: dict[str, int]) -> tuple[Ints, Ints]:
    """Slot and code of every unit the hits hold. A hit without a key is a unit of its own."""
    known = dict(codes)
    slot: list[int] = []
    code: list[int] = []
    for s, h in enumerate(hit.tolist()):
        held = keys[h]
        for key in (held,) if isinstance(held, str) or held is None else held:
            slot.append(s)
            code.append(known.setdefault(key, len(known)) if key is not None else -1 - s)
    return np.array(slot, np.int64), np.array(code, np.int64)


def _first_seen(
    question: Ints, slot: Ints, code: Ints, hit: Ints, *, collapse: bool
) -> tuple[Ints, Ints, Ints, Ints, Bools]:
    """Mark the first slot of each unit; under collapse, remove the slots that bring nothing new."""
    if not len(slot):
        return question, slot, code, hit, np.zeros(0, bool)
    of_entry = question[slot]
    order = np.lexsort((slot, code, of_entry))
    q, c = of_entry[order], code[order]
    new = np.empty(len(slot), bool)
    new[order] = np.concatenate(([True], (q[1:] != q[:-1]) | (c[1:] != c[:-1])))
    if not collapse:
        return question, slot, code, hit, new
    brings = np.zeros(len(question), bool)
    brings[slot[new]] = True
    place = np.cumsum(brings) - 1
    kept = brings[slot]
    return question[brings], place[slot[kept]], code[kept], hit[brings], new[kept]


def _unit_of(question: Ints, code: Ints, units: Units) -> Ints:
    """Number of the gold unit that a (question, code) is, or -1."""
    if not len(units.question) or not len(question):
        return np.full(len(question), -1, np.int64)
    width = len(units.codes) + 1
    keys = units.question * width + units.code
    order = np.argsort(keys)
    wanted = question * width + np.clip(code, -1, width - 1)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    same = (keys[order[at]] == wanted) & (code >= 0) & (code < width - 1)
    return np.where(same, order[at], -1)
