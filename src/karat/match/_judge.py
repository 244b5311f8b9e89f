"""From runs and a test set to Judged: the fast way where ids are plain and unique, the general way elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import InputError
from karat.core.judged import Judged, Repeats
from karat.core.ranked import Ties
from karat.match._credit import Credits, credit, units_of
from karat.match._entries import Entries
from karat.match._locate import Wanted, locate, rows_of
from karat.match._matcher import Context, Matcher, Options, column
from karat.match.exact import gold_key

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.core.run import Run
    from karat.core.types import TestSet


@dataclass(frozen=True)
class Settings:
    """How hits become judged ranks."""

    matcher: Matcher
    options: Options = field(default_factory=Options)
    repeats: Repeats = "once"
    ties: Ties = "float32"
    tokens: bool = False  # whether a measure cuts by tokens
    collection: int | None = None


def judge(testset: TestSet, runs: Sequence[Run], settings: Settings) -> Judged:
    """Where the judged units of each question stand in each run."""
    if settings.matcher.name == "exact" and not settings.tokens and all(_is_plain(run) for run in runs):
        return _plainly(testset, runs, settings)
    return _generally(testset, runs, settings)


def _is_plain(run: Run) -> bool:
    return run.order == "score" and run.unique


def _plainly(testset: TestSet, runs: Sequence[Run], settings: Settings) -> Judged:
    qrels = testset.qrels if testset.is_plain else _keyed_qrels(testset)
    assert qrels is not None
    wanted = Wanted.of(qrels)
    pair, rank, unit = locate(runs, wanted, settings.ties)
    judged = map(methodcaller("values"), qrels.values())
    grades = np.fromiter(chain.from_iterable(judged), np.int64, len(wanted.question))
    width = len(testset.ids)
    slots = np.zeros((len(runs), width), np.int64)
    for s, run in enumerate(runs):
        row = rows_of(run, testset.ids)
        slots[s] = np.where(row >= 0, np.append(np.diff(run.offsets), 0)[row], 0)
    return Judged(
        tuple(run.name for run in runs),
        testset.ids,
        pair,
        rank,
        unit,
        np.ones(len(pair), bool),
        wanted.question,
        grades,
        slots.ravel(),
        slots.ravel(),
        (np.zeros(0, np.int64), np.zeros(0, np.int64)),
        repeats=settings.repeats,
        tokens_missing="it was not asked for",
        collection=settings.collection,
    )


def _keyed_qrels(testset: TestSet) -> dict[str, dict[str, int]]:
    """Qrels by exact key, as units_of would make them."""
    table: dict[str, dict[str, int]] = {}
    for question in testset.questions:
        row = table.setdefault(question.id, {})
        for i, gold in enumerate(question.gold):
            key = gold_key(gold) or f"\x00{i}"
            row[key] = max(gold.grade, row.get(key, gold.grade))
    return table


def _generally(testset: TestSet, runs: Sequence[Run], settings: Settings) -> Judged:
    matcher = settings.matcher
    golds = [g for q in testset.questions for g in q.gold]
    if matcher.prepare is None:
        matcher = Entries(testset, dict.fromkeys(golds, matcher.name), runs, settings.options).matcher
    assert matcher.prepare is not None
    of_gold, of_hits = matcher.prepare(Context(golds, runs, settings.options))
    units = units_of(testset, of_gold)
    credits: list[Credits] = []
    missing = None if settings.tokens else "it was not asked for"
    for run in runs:
        sizes = _sizes(run) if settings.tokens else None
        if settings.tokens and sizes is None:
            missing = f"the hits of {run.name!r} have neither"
        credits.append(credit(run, testset, units, of_hits, repeats=settings.repeats, ties=settings.ties, tokens=sizes))
    width = len(testset)
    together = [np.concatenate(c) for c in zip(*((c.question, c.rank, c.unit, c.new) for c in credits), strict=True)]
    shift = np.repeat(np.arange(len(runs)) * width, [len(c.question) for c in credits])
    question, rank, unit, new = together
    return Judged(
        tuple(run.name for run in runs),
        testset.ids,
        question + shift,
        rank,
        unit,
        new.astype(bool),
        units.question,
        units.grade,
        np.concatenate([c.slots for c in credits]),
        np.concatenate([c.distinct for c in credits]),
        (
            np.concatenate([c.stale[0] + s * width for s, c in enumerate(credits)]),
            np.concatenate([c.stale[1] for c in credits]),
        ),
        repeats=settings.repeats,
        tokens=_join_sizes(credits) if missing is None else None,
        tokens_missing=missing,
        collection=settings.collection,
    )


def _sizes(run: Run) -> Ints | None:
    """Tokens of each hit: as given, else counted as words in its text. None when some hit has neither."""
    from karat.core.text.normalise import tokenise

    given = column(run, "tokens") or [None] * len(run)
    texts = column(run, "text") or [None] * len(run)
    sizes = np.zeros(len(run), np.int64)
    for i, (count, text) in enumerate(zip(given, texts, strict=True)):
        if count is None and text is None:
            return None
        sizes[i] = int(count) if count is not None else len(tokenise(text, "words"))
        if sizes[i] < 0:
            raise InputError(f"a hit has {count} tokens", place=run.source, remedy="Give counts from 0 up, or none.")
    return sizes


def _join_sizes(credits: Sequence[Credits]) -> tuple[Ints, Ints]:
    offsets, sizes, before = [np.zeros(1, np.int64)], [], 0
    for c in credits:
        assert c.sizes is not None
        offsets.append(c.sizes[0][1:] + before)
        sizes.append(c.sizes[1])
        before += int(c.sizes[0][-1])
    return np.concatenate(offsets), np.concatenate(sizes)


def share_matched(judged: Judged) -> dict[str, float]:
    """Share of the relevant gold units that stand anywhere in each system's hits; nothing without such gold."""
    found = judged.found_within().reshape(len(judged.systems), -1).sum(1)
    total = judged.relevant.reshape(len(judged.systems), -1).sum(1)
    return {s: float(f / t) for s, f, t in zip(judged.systems, found, total, strict=True) if t}
