"""Recompute: what the rankings and gold of rows give for every measure, and what mistakes would give instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from karat.core.errors import KaratError
from karat.core.judged import Judged, Repeats
from karat.core.language import parse
from karat.core.measure import Measure
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.verify.names import BARE, CUTS, measure_of, spelled
from karat.diagnose.verify.numbers import cut_of
from karat.diagnose.verify.rows import Floats, MeasureValues, QuestionRows
from karat.match import JudgingSettings, Matched, address_of, is_url, judge
from karat.measures.compute import compute

Units = Sequence[tuple[str, ...]]  # hits or gold, a row each
NOT_FROM_LISTS = ("AQWV", "Judged", "bpref")  # need more than the hits and the gold of a question


def scores_of(judged: Judged, measures: Sequence[Measure]) -> dict[str, Floats]:
    """Measure -> its values, systems x questions in one row; a question without gold scores 0."""
    scores = compute(measures, judged.systems, judged.questions, judged=judged, no_gold_is_zero=True)
    return {m.name: scores.values[:, :, i].reshape(-1) for i, m in enumerate(scores.measures)}


def unit_of(text: str) -> str:
    """An id in the one form that is compared."""
    return (address_of(text) or text) if is_url(text) else text.strip()


def from_lists(rows: QuestionRows, repeats: Repeats = "once") -> dict[str, MeasureValues]:
    """Values of each printed column, worked out from the lists of its rows; empty where rows hold no such lists."""
    retrieved, gold = rows.retrieved_column, rows.gold_column
    if retrieved is None or gold is None:
        return {}
    hits = [tuple(map(unit_of, items or ())) for items in rows.table.lists(retrieved)]
    units = [tuple(dict.fromkeys(unit_of(one) for one in items or () if one)) for items in rows.table.lists(gold)]
    values = {}
    for column in rows.numbers:
        measures = _measures(rows, column)
        if measures and not (rows.k is None and spelled(column) in BARE):
            lists = _RankedRows(hits=hits, gold=units, written=rows.texts(gold), measures=measures, repeats=repeats)
            once = partial(lists.score, "once") if repeats == "count" else None
            values[column] = MeasureValues(lists.score(), lists.mistakes, once=once)
    return values


def _measures(rows: QuestionRows, column: str) -> list[tuple[Measure, list[int]]]:
    """The retrieval measure that a column holds, with the rows of each cut-off; empty where it is no such measure."""
    cut = next(iter(rows.named(*CUTS)), None)
    groups: dict[int | None, list[int]] = {}
    for i, text in enumerate(rows.texts(cut) if cut is not None else [""] * len(rows)):
        groups.setdefault(cut_of(text) or rows.k, []).append(i)
    measures = [(measure_of(column, k), places) for k, places in groups.items()]
    known = [(m, p) for m, p in measures if m and m.spec.stage == "retrieval" and m.spec.name not in NOT_FROM_LISTS]
    return known if len(known) == len(measures) else []


@dataclass(frozen=True, kw_only=True)
class _RankedRows:
    """Hits and gold a row, and the measure of them with the rows of each cut-off."""

    hits: Units
    gold: Units
    written: Sequence[str]  # the gold as the rows spell it
    measures: Sequence[tuple[Measure, list[int]]]
    repeats: Repeats

    def score(self, repeats: Repeats | None = None, named: Callable[[Measure], Measure] = lambda m: m) -> Floats:
        """The measure of each row, or the one `named` after it."""
        values = np.full(len(self.hits), np.nan)
        for measure, places in self.measures:
            hits, gold = [self.hits[i] for i in places], [self.gold[i] for i in places]
            values[places] = _score(hits, gold, named(measure), repeats or self.repeats)
        return values

    def mistakes(self) -> Iterator[tuple[str, Floats]]:
        """The measure as each mistake has it, by its cause."""
        name, once = self.measures[0][0].spec.name, self.score("once")
        deepest = max(map(len, self.hits), default=1) or 1
        depth = np.ones(len(self.hits))
        for measure, places in self.measures:
            depth[places] = measure.k or deepest
        sizes = np.array([max(1, len(units)) for units in self.gold], np.float64)
        precision = self.score("count", lambda m: parse(f"Precision@{m.k or deepest}"))
        recall = precision * depth / sizes
        if name == "Recall":
            yield "hit rate", self.score("once", lambda m: parse(f"Hit@{m.k}" if m.k else "AnyGold"))
            yield "repeats counted", recall
        elif self.repeats != "count":
            yield "repeats counted", self.score("count")
        if name == "F1":
            total = precision + recall
            yield "repeats counted", 2 * precision * recall / np.where(total > 0, total, 1.0)
        yield from self._lists_misread(name, once)
        if name == "nDCG":
            yield "ideal of the retrieved", self.score("count", lambda m: parse(f"nDCG(ideal=retrieved)@{m.k or 1000}"))

    def _lists_misread(self, name: str, once: Floats) -> Iterator[tuple[str, Floats]]:
        """The same where ids were compared in another way than as wholes."""
        lost = np.array(["" in hits for hits in self.hits])
        if lost.any():
            yield "missing scored 0", np.where(lost, 0.0, once)
        several = np.array([len(units) > 1 for units in self.gold])
        if several.any():
            yield "gold as text", np.where(several, 0.0, once)
        listed = np.array([text.startswith(("[", "(")) for text in self.written])
        if listed.any():
            if name in ("MRR", "Hit", "Precision"):
                pairs = zip(self.hits, self.written, strict=True)
                inside = [tuple(dict.fromkeys(hit for hit in hits if hit and hit in text)) for hits, text in pairs]
                yield "gold as text", replace(self, gold=inside).score()
            yield "gold as text", np.where(listed, 0.0, once)
        contained = [
            tuple(next((unit for unit in units if unit in hit), hit) for hit in hits)
            for hits, units in zip(self.hits, self.gold, strict=True)
        ]
        yield "substring", replace(self, hits=contained).score()
        for shift in (1, -1):
            moved = [tuple(str(int(hit) + shift) if hit.isdecimal() else hit for hit in hits) for hits in self.hits]
            yield "off by one page", replace(self, hits=moved).score()


def _score(hits: Units, gold: Units, measure: Measure, repeats: Repeats) -> Floats:
    """A measure of lists of hits and gold, one value a row: each row is a question of its own."""
    ids = [str(i) for i in range(len(hits))]
    testset = TestSet([Question(i, gold=tuple(Gold(id=u) for u in units)) for i, units in zip(ids, gold, strict=True)])
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(row) for row in hits]))).astype(np.int64)
    run = Run("rows", question_ids=ids, offsets=offsets, _docs=[hit or "\0" for row in hits for hit in row])
    try:
        return scores_of(judge(testset, [run], settings=JudgingSettings(repeats=repeats)), [measure])[measure.name]
    except KaratError:
        return np.full(len(hits), np.nan)


def from_testset(
    matched: Matched, runs: Sequence[Run], names: Sequence[str], k: int | None = None
) -> dict[str, MeasureValues]:
    """Values of each retrieval measure named, of all runs in one row, by a test set of one's own."""
    named = (m for name in names if (m := measure_of(name, k)) is not None and m.spec.stage == "retrieval")
    measures = list({measure.name: measure for measure in named}.values())
    if not measures:
        return {}
    judged = matched.judged
    counted = judge(matched.join.testset, runs, matched.join, replace(matched.settings, repeats="count"))
    mistakes = [("repeats counted", scores_of(counted, measures))]
    if (judged.gold_grade < 1).any():
        lifted = replace(judged, gold_grade=np.maximum(judged.gold_grade, 1), views={})
        mistakes.append(("irrelevant counted", scores_of(lifted, measures)))
    hit_of = {m.name: parse(f"Hit@{m.k}") for m in measures if m.spec.name == "Recall" and m.k}
    hit_rates = scores_of(judged, list(hit_of.values())) if hit_of else {}
    values = {}
    for name, own in scores_of(judged, measures).items():
        hit_rate = [("hit rate", hit_rates[hit_of[name].name])] if name in hit_of else []
        supposed = [*hit_rate, *((cause, scores[name]) for cause, scores in mistakes)]
        values[name] = MeasureValues(own, supposed.copy)
    return values
