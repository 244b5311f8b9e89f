"""From runs and gold to Judged: the fast way where ids are plain and unique, the join elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from karat.core.errors import InputError
from karat.core.judged import Judged, Repeats
from karat.core.ranked import Ties, ranking
from karat.core.run import Run
from karat.core.types import TestSet
from karat.match._join import Join
from karat.match._matcher import column_or_none
from karat.match._plain import judge_plain

_NOT_ASKED = "it was not asked for"


@dataclass(frozen=True)
class JudgingSettings:
    """How matched hits become judged ranks."""

    repeats: Repeats = "once"
    ties: Ties = "float32"
    tokens: bool = False  # whether a measure cuts by tokens
    collection: int | None = None  # documents searched, when known


def judge(
    testset: TestSet, runs: Sequence[Run], by: str | Join = "exact", settings: JudgingSettings | None = None
) -> Judged:
    """Where the judged units of each question stand in each run, by a matcher for all gold or by a join."""
    settings = settings or JudgingSettings()
    join = Join(testset, runs, by) if isinstance(by, str) else by
    if join.is_plain and not settings.tokens and all(run.order == "score" and run.unique for run in runs):
        return judge_plain(testset, runs, settings)
    return _judge_joined(testset, runs, join, settings)


def _judge_joined(testset: TestSet, runs: Sequence[Run], join: Join, settings: JudgingSettings) -> Judged:
    """Any matcher, repeated units, several units a hit, token budgets."""
    units = join.units if testset is join.testset else join.units_of(testset)
    width = len(testset)
    entries: list[tuple[int, int, int, bool]] = []  # pair, rank, unit, new
    stale: list[tuple[int, int]] = []  # pair and rank
    slots, distinct = np.zeros((2, len(runs) * width), np.int64)
    tokens: list[int] = []
    missing = None if settings.tokens else _NOT_ASKED
    for s, run in enumerate(runs):
        sizes = _sizes(run) if settings.tokens else None
        if settings.tokens and sizes is None:
            missing = f"the hits of {run.name!r} have neither"
        keys, lists = join.hit_keys(run), _lists(run, testset, settings.ties)
        for q, hits in sorted(lists.items()):
            pair, rank = s * width + q, 0
            seen: set[Hashable] = set()
            for hit in hits:
                held = keys[hit] or (hit,)  # a hit without a key is a unit of its own
                repeated = seen.issuperset(held)
                if repeated and settings.repeats == "collapse":
                    continue
                rank += 1
                if repeated:
                    stale.append((pair, rank))
                if sizes is not None:
                    tokens.append(sizes[hit])
                for key in held:
                    unit = units.number.get((q, key))
                    if unit is not None:
                        entries.append((pair, rank, unit, key not in seen))
                    seen.add(key)
            slots[pair], distinct[pair] = rank, len(seen)
    pairs, ranks, numbers, new = np.array(entries, np.int64).reshape(-1, 4).T
    repeats = np.array(stale, np.int64).reshape(-1, 2).T
    return Judged(
        systems=tuple(run.name for run in runs),
        questions=testset.ids,
        pair=pairs,
        rank=ranks,
        unit=numbers,
        new=new.astype(bool),
        gold_question=units.question,
        gold_grade=units.grade,
        slots=slots,
        distinct=distinct,
        stale=(repeats[0], repeats[1]),
        repeats=settings.repeats,
        tokens=(np.concatenate(([0], np.cumsum(slots))), np.array(tokens, np.int64)) if missing is None else None,
        tokens_missing=missing,
        collection=settings.collection,
    )


def _lists(run: Run, testset: TestSet, ties: Ties) -> dict[int, list[int]]:
    """The hits of each question of the test set that the run has, best first."""
    number = {qid: q for q, qid in enumerate(testset.ids)}
    order = ranking(run, ties).tolist()
    lists: dict[int, list[int]] = {}
    for i, qid in enumerate(run.question_ids):
        if qid in number:
            lists.setdefault(number[qid], []).extend(order[run.offsets[i] : run.offsets[i + 1]])
    return lists


def _sizes(run: Run) -> list[int] | None:
    """Tokens of each hit: as given, else counted as words in its text. None when some hit has neither."""
    from karat.core.text.normalise import tokenise

    sizes = []
    for count, text in zip(column_or_none(run, "tokens"), column_or_none(run, "text"), strict=True):
        if count is None and text is None:
            return None
        sizes.append(int(count) if count is not None else len(tokenise(text, "words")))
        if sizes[-1] < 0:
            raise InputError(f"a hit has {count} tokens", place=run.source, remedy="Give counts from 0 up, or none.")
    return sizes


def share_matched(judged: Judged) -> dict[str, float]:
    """Share of the relevant gold units that stand anywhere in each system's hits; nothing without such gold."""
    found = judged.found_within().reshape(len(judged.systems), -1).sum(1)
    total = judged.relevant.reshape(len(judged.systems), -1).sum(1)
    return {s: float(f / t) for s, f, t in zip(judged.systems, found, total, strict=True) if t}


def least_share(judged: Judged) -> float:
    """Share of the gold found for the system that finds least; 1 where there is none to find."""
    return min(share_matched(judged).values(), default=1.0)
