"""Decisions: which measures speak for an evaluation, who is best in one, which failure costs most.

They are data that words and tables are made from: `diagnose.decisions` says them, `report` lays them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from karat.results.evaluation import SIGNIFICANT

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.comparison import ComparedMeasure, Comparison, Pair, SystemMean
    from karat.results.evaluation import Evaluation, Mean, Summary, Target
    from karat.results.study import FailureCount, Study

RETRIEVAL = ("Recall", "nDCG", "MRR", "Hit", "F1", "MAP", "Precision")
ANSWER = ("TokenF1", "ROUGE-L", "EM", "SemanticSimilarity")
QUALITY = ("Correctness", "TokenF1")  # by which an answer is good or bad, the first that there is
SUPPORT = ("Faithfulness", "SentenceSupport", "SupportDensity")  # by which its contexts hold what it says
DEPTH = {"nDCG": 10}  # the cut a headline stands at, 5 for all others
UNCUT = ("MRR", "MAP")  # known best without a cut
FEWEST = 5  # questions of a slice worth naming
APART = 0.02  # how far below the whole a slice must be, in shares of the range
SAME = 1e-12
ENOUGH = 0.9  # share of the questions of the fullest system: a mean that lacks more stands over other questions
BARRED = "!: not ranked, since more than a tenth of the questions that others have a value on have none."


def headlines(measures: Sequence[Measure], dialect: str = "karat") -> list[Measure]:
    """The measure that speaks for retrieval and the one that speaks for answers.

    A dialect of somebody else's names its main measure first.
    """
    heads: list[Measure] = []
    for stage, order in (("retrieval", RETRIEVAL), ("answer", ANSWER)):
        staged = [m for m in measures if m.spec.stage == stage]
        if not staged:
            continue
        if dialect not in ("karat", "trec") and stage == "retrieval":
            heads.append(staged[0])
            continue
        known = [m for m in staged if m.spec.name in order]
        fallback = [m for m in staged if m.spec.direction != "none"] or staged
        heads.append(min(known, key=lambda m: _rank(m, order)) if known else fallback[0])
    return heads


def _rank(measure: Measure, order: Sequence[str]) -> tuple[int, int, float, int]:
    depth = DEPTH.get(measure.spec.name, 5)
    cut = abs(measure.k - depth) if measure.k is not None else 1e9 if measure.tokens is not None else 1e6
    if measure.spec.name in UNCUT and measure.k is None and measure.tokens is None:
        cut = -1
    return order.index(measure.spec.name), len(measure.given), cut, measure.k or 0


def main_measures(measures: Sequence[Measure], dialect: str = "karat") -> list[Measure]:
    """The headlines, then one measure of each kind, the best known first."""
    order = (*RETRIEVAL, *ANSWER)
    chosen = dict.fromkeys(headlines(measures, dialect))
    named = {m.spec.name for m in chosen}
    kinds: dict[str, list[Measure]] = {}
    for measure in measures:
        kinds.setdefault(measure.spec.name, []).append(measure)
    for name in sorted(kinds, key=lambda n: order.index(n) if n in order else len(order)):
        if name not in named:
            chosen[min(kinds[name], key=lambda m: _rank(m, (m.spec.name,)))] = None
    return list(chosen)


@dataclass(frozen=True)
class BestSystems:
    """Systems with the best mean of a row, those whose interval overlaps that of a best one, and those not ranked."""

    best: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()

    def sign(self, system: str) -> str:
        signs = {"*": self.best, "~": self.near, "!": self.barred}
        return next((sign for sign, systems in signs.items() if system in systems), "")


def is_full(n: int, most: int) -> bool:
    """Whether a mean over n questions can be ranked beside one over the most that a system has."""
    return n > 0 and n >= ENOUGH * most


def best_systems(measure: Measure, row: Sequence[Summary], unranked: frozenset[str] = frozenset()) -> BestSystems:
    """Which of several systems are best in a measure, by its direction; all of those that tie.

    Nothing is marked in a measure without a direction, where fewer than two systems have a mean, or where the best
    has no interval to judge it by. Systems that are `unranked` are no part of it in measures of retrieval, and none is
    that lacks more than a tenth of the questions: its mean is over other questions.
    """
    left_out = unranked if measure.spec.stage == "retrieval" else ()
    means = [(s, s.mean) for s in row if s.mean is not None and s.system not in left_out]
    most = max((s.n for s, _ in means), default=0)
    known = [(s, mean) for s, mean in means if is_full(s.n, most)]
    barred = frozenset(s.system for s, _ in means if not is_full(s.n, most))
    if measure.spec.direction == "none" or len(known) < 2:
        return BestSystems(barred=barred if measure.spec.direction != "none" else frozenset())
    top = (max if measure.spec.direction == "higher" else min)(mean for _, mean in known)
    best = [s for s, mean in known if abs(mean - top) <= SAME]
    if any(s.low is None or s.high is None for s in best):
        return BestSystems()
    names = frozenset(s.system for s in best)
    near = frozenset(s.system for s, _ in known if s.system not in names and any(overlap(s, b) for b in best))
    return BestSystems(names, near, barred)


def overlap(one: Mean, other: Mean) -> bool:
    """Whether two intervals share a point."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high


def weakest_slice(head: Measure, whole: Summary, summaries: Sequence[Summary]) -> Summary | None:
    """The slice that does worst, if one does clearly worse than the whole."""
    if whole.mean is None or head.spec.direction == "none":
        return None
    sign = 1 if head.spec.direction == "higher" else -1
    parts = [
        (sign * s.mean, i, s)
        for i, s in enumerate(summaries)
        if s.measure == head.name and s.slice is not None and s.mean is not None and s.n >= FEWEST
    ]
    if not parts:
        return None
    mean, _, worst = min(parts)
    least, most = head.bounds
    span = most - least if most - least < float("inf") else abs(whole.mean) or 1.0
    return None if sign * whole.mean - mean < APART * span else worst


def ranked_systems(evaluation: Evaluation, main: str) -> list[str]:
    """Systems that have a mean of the main measure, the best first; of equal ones the earlier."""
    lower = any(m.name == main and m.spec.direction == "lower" for m in evaluation.scores.measures)
    means = {
        s.system: s.mean if lower else -s.mean
        for s in evaluation.summaries
        if s.slice is None and s.measure == main and s.mean is not None and isfinite(s.mean)
    }
    return sorted(means, key=means.__getitem__)


def best_system(study: Study) -> str | None:
    """The chosen system of a study, else the first by its main measure; None where none has a mean of it."""
    if study.choice is not None:
        return study.choice.best.system
    return next(iter(ranked_systems(study.evaluation, study.main)), None)


def is_out_of_reach(target: Target) -> bool:
    """Whether a target is missed and the gold allows no value that would meet it."""
    return target.met is False and target.ceiling <= target.threshold


def costliest(counts: Iterable[FailureCount]) -> list[FailureCount]:
    """Counts of one system, what costs most first: by gain, or by questions where gains are of different measures."""
    several = list(counts)
    alike = len({count.measure for count in several}) < 2
    return sorted(several, key=lambda c: (-c.gain if alike else 0.0, -len(c.questions), -c.gain, c.label))


def main_failure(study: Study) -> FailureCount | None:
    """The way in which the best system fails that costs most; None where it does not fail, or nothing is known."""
    system = study.choice.best.system if study.choice is not None else None
    counts = [c for c in study.failure_counts if system is None or c.system == system]
    return next(iter(costliest(counts)), None)


def has_no_gain(count: FailureCount) -> bool:
    """Whether these answers have no score that fixing them could raise, as those to unanswerable questions."""
    return bool(count.measure) and count.gain == 0


def better(comparison: Comparison, pair: Pair) -> str | None:
    """Who of a pair that differs significantly is better; None where the measure has no better, or they do not."""
    measure = next(m for m in comparison.measures if m.name == pair.measure)
    if not comparison.is_told_apart(pair) or not pair.difference or measure.direction == "none":
        return None
    return pair.b if (pair.difference > 0) == (measure.direction != "lower") else pair.a


def ranked_means(comparison: Comparison, measure: ComparedMeasure) -> list[SystemMean]:
    """Systems by a measure, the best first; of equal ones the earlier."""
    means = [(mean.mean, mean) for mean in comparison.means if mean.measure == measure.name and mean.mean is not None]
    sign = 1.0 if measure.direction == "lower" else -1.0
    return [mean for _, mean in sorted(means, key=lambda one: sign * one[0])]


def best_means(comparison: Comparison, measure: ComparedMeasure) -> list[SystemMean]:
    """The systems with the best mean: several where they tie, none in a measure without a better."""
    means = ranked_means(comparison, measure) if measure.direction != "none" else []
    most = max((one.n for one in means), default=0)
    ranked = [one for one in means if is_full(one.n, most)]
    return [one for one in ranked if abs((one.mean or 0.0) - (ranked[0].mean or 0.0)) <= SAME]


def can_show_nothing(others: int, questions: int) -> bool:
    """Whether no difference from so many others could be significant, not even one on every question."""
    return others * 2.0 ** (1 - questions) > SIGNIFICANT
