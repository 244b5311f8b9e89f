"""Judgement: one rule beside the values of one system, and of its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.experiment._subjects import Subject
from karat.results.gating import GateOutcome, Rule, RuleCounterexample, RuleResult
from karat.stats.arrays import TIE, Bools, Floats, Ints
from karat.stats.intervals import CONFIDENCE, mean_intervals
from karat.stats.permutation import drawn_pairs

MOST_BROKEN = 10
SLACK = 1e-9  # by which rounding may carry a value over its bound
_FAILS = {">=": "below", ">": "not above", "<=": "above", "<": "not below", "==": "not", "!=": "exactly"}


@dataclass(frozen=True)
class HeldRule:
    """All that a rule is judged by."""

    rule: Rule
    system: str
    subject: Subject  # of the rule's questions alone
    questions: int
    beside: Subject | None  # the same of the baseline
    baseline_system: str | None
    ids: Sequence[str]
    texts: Mapping[str, str]
    seed: int
    allow_incomplete: bool
    conversations: tuple[int, ...] | None = None  # the number of that of each question


def keeps(value: float, rule: Rule, bound: float) -> bool:
    """Whether a value keeps a rule; what rounding may have done is forgiven.

    >>> rule = Rule(text="x >= 0.3", subject="x", sign=">=", number=0.3)
    >>> keeps(0.1 + 0.1 + 0.1 - 1e-12, rule, 0.3), keeps(0.2999, rule, 0.3)
    (True, False)
    """
    slack = SLACK * max(1.0, abs(bound))
    apart = value - bound
    if rule.sign in ("==", "!="):
        return (abs(apart) <= slack) == (rule.sign == "==")
    edge = -slack if rule.sign in (">=", "<=") else slack
    return apart >= edge if rule.is_kept_by_more else -apart >= edge


def judged(held: HeldRule) -> RuleResult:
    """The verdict on a rule."""
    rule, subject, beside = held.rule, held.subject, held.beside
    known = subject.known if beside is None or not subject.is_measure else subject.known & beside.known
    value = _value(subject, known)
    before = _value(beside, known) if beside is not None else None
    bound = rule.number if rule.factor is None else None if before is None else rule.factor * before + rule.number
    counted = subject.is_sum and not subject.missing.any() and subject.bounds[0] == -np.inf
    n = held.questions if counted else int(known.sum())
    low, high, level = _interval(held, known)

    outcome, reason = _outcome(held, value, bound, (low, high))
    broken = _broken(held, bound) if outcome == "fail" else []
    return RuleResult(
        rule=rule,
        outcome=outcome,
        system=held.system,
        subject=_named(subject.name, rule),
        value=value,
        bound=bound,
        n=n,
        low=low,
        high=high,
        level=level,
        baseline=before,
        baseline_system=held.baseline_system,
        reason=reason,
        broken=tuple(broken[:MOST_BROKEN]),
        n_broken=len(broken),
        n_failed=_failed(held),
    )


def _value(subject: Subject, known: Bools) -> float | None:
    """The value over what is known; None where a part of it is not known and not left out either."""
    if subject.is_measure:
        return subject.of(known).value
    return None if subject.missing.any() else subject.value


def _named(name: str, rule: Rule) -> str:
    return name + (f"[{', '.join(f'{slice}={value}' for slice, value in rule.where)}]" if rule.where else "")


def _interval(held: HeldRule, known: Bools) -> tuple[float | None, float | None, float | None]:
    """The interval of the mean, as a run's tables have it, or of the differences, as `karat compare` has it."""
    if not held.subject.is_measure:
        return None, None, None
    level = held.rule.confidence or CONFIDENCE
    values, clusters = held.subject.values[known], None
    if held.conversations is not None:
        clusters = np.array(held.conversations)[known]
    if held.beside is None or held.rule.factor is None:
        ends = mean_intervals(values[None, :], held.subject.bounds, level=level, clusters=clusters)
        low, high = float(ends[0][0]), float(ends[1][0])
    else:
        order = np.argsort(np.array(held.ids)[known])
        before = held.rule.factor * held.beside.values[known][order]
        low, high = _beside(values[order], before, held, level, None if clusters is None else clusters[order])
    return (low, high, level) if np.isfinite(low) else (None, None, None)


def _beside(values: Floats, before: Floats, held: HeldRule, level: float, clusters: Ints | None) -> tuple[float, float]:
    """The interval of the paired differences, by the test of the number that the rule compares them with.

    Differences that are all the same are that number, if there are enough of them for the test.
    """
    alpha, number = round(1 - level, 9), held.rule.number
    both = np.stack([before + number, values])[None]
    tested = drawn_pairs(both, [(0, 1)], seed=held.seed, alpha=alpha, clusters=clusters)
    if len(values) and np.ptp(values - before) <= TIE and tested.p[0, 0] <= alpha:
        return (float(np.mean(values - before)),) * 2
    return float(tested.low[0, 0]) + number, float(tested.high[0, 0]) + number


def _outcome(
    held: HeldRule, value: float | None, bound: float | None, ends: tuple[float | None, float | None]
) -> tuple[GateOutcome, str]:
    rule, subject = held.rule, held.subject
    sides = [("", subject), *([("of the baseline, ", held.beside)] if held.beside is not None else [])]
    for whose, side in sides:
        if side.missing.any():
            some = f"{int(side.missing.sum()):,} of {held.questions:,}"
            return "fail", f"{whose}{subject.name} is not known of {some} questions, and what is not known is not 0"
    failed = _failed(held)
    if failed and not held.allow_incomplete:
        return _whatever_failed(held, failed)
    if value is None or bound is None:
        return "fail", f"no question has a value of {subject.name}" + (
            f": {failed:,} failed" if failed else ", all are undefined"
        )
    if rule.confidence is not None:
        return _surely(held, ends)
    if keeps(value, rule, bound):
        return "pass", ""
    shown, edge = _figures(value, bound)
    than = f"{edge} ({rule.bound})" if rule.needs_baseline else edge
    return "fail", f"{shown} is {_FAILS[rule.sign]} {than}"


def _failed(held: HeldRule) -> int:
    return sum(int(side.failed.sum()) for side in (held.subject, held.beside) if side is not None)


def _surely(held: HeldRule, ends: tuple[float | None, float | None]) -> tuple[GateOutcome, str]:
    """Whether every value of the interval keeps the rule."""
    rule = held.rule
    low, high = ends
    assert rule.confidence is not None
    if low is None or high is None:
        what = "questions" if held.conversations is None else "conversations"
        few = f"too few {what} differ from the bound" if rule.needs_baseline else f"too few {what} have a value"
        return "fail", f"{few} for an interval"
    end = low if rule.is_kept_by_more else high
    if keeps(end, rule, rule.number):
        return "pass", ""
    of = (
        "the difference"
        if rule.factor == 1
        else f"the value less {rule.factor:g} * baseline"
        if rule.factor
        else "the mean"
    )
    reaches, edge = _figures(end, rule.number)
    below = "below" if rule.is_kept_by_more else "above"
    return "fail", f"the {100 * rule.confidence:g}% interval of {of} reaches {reaches}, {below} {edge}"


def _whatever_failed(held: HeldRule, failed: int) -> tuple[GateOutcome, str]:
    """The verdict that holds whatever the rows that failed would have had, or that it cannot be told."""
    rule, subject, beside = held.rule, held.subject, held.beside
    rows = "row" if failed == 1 else "rows"
    if not subject.is_measure:
        return "unknown", f"{failed:,} {rows} failed and have no {subject.name}"
    least, most = (np.where(subject.failed, end, subject.values) for end in subject.bounds)
    if beside is not None and rule.factor is not None:
        least = least - rule.factor * np.where(beside.failed, beside.bounds[1], beside.values)
        most = most - rule.factor * np.where(beside.failed, beside.bounds[0], beside.values)
    counts = ~np.isnan(least) & ~np.isnan(most)
    if not counts.any():
        return "unknown", f"{failed:,} {rows} failed, and nothing is left"
    ends = float(least[counts].mean()), float(most[counts].mean())
    holds = [keeps(end, rule, rule.number) for end in ends]
    what = "the difference" if rule.needs_baseline else "it"
    between = f"with the {failed:,} {rows} that failed {what} lies between {ends[0]:.4f} and {ends[1]:.4f}"
    if rule.is_kept_by_more is not None and not any(holds):
        return "fail", f"{between}, and neither keeps the rule"
    if all(holds) and rule.is_kept_by_more is not None and rule.confidence is None:
        return "pass", between
    return "unknown", between


def _figures(value: float, bound: float) -> tuple[str, str]:
    """Both with as many digits as tell them apart."""
    for digits in (4, 6, 9):
        shown = f"{value:.{digits}f}", f"{bound:.{digits}f}"
        if shown[0] != shown[1]:
            break
    whole = value == int(value) and bound == int(bound) if np.isfinite(value) and np.isfinite(bound) else False
    return (f"{value:,.0f}", f"{bound:,.0f}") if whole else shown


def _broken(held: HeldRule, bound: float | None) -> list[RuleCounterexample]:
    """The questions that speak against the rule, the worst first."""
    rule, subject, beside = held.rule, held.subject, held.beside
    if subject.missing.any():
        some = subject.known.any()  # else there is nothing to tell apart
        return [_one(held, int(q), None) for q in np.flatnonzero(subject.missing)] if some else []
    more = rule.is_kept_by_more
    counted = subject.is_sum and subject.name != "questions"
    if more is None:
        if not counted or rule.sign == "!=" or (subject.value or 0.0) <= (bound or 0.0):
            return []
        more = False
    if counted and more:
        return []
    ours = 1.0 if more else -1.0
    if beside is not None and (subject.is_measure or subject.share is None):
        excess = ours * (subject.values - beside.values)
    elif counted:
        excess = -subject.values
    else:
        excess = ours * (subject.values - (bound if bound is not None else np.inf))
    excess = np.where(np.isfinite(excess), excess, 0.0)
    order = np.argsort(excess, kind="stable")
    return [_one(held, int(q), beside) for q in order if excess[q] < -SLACK and subject.known[q]]


def _one(held: HeldRule, q: int, beside: Subject | None) -> RuleCounterexample:
    name, value = held.ids[q], held.subject.values[q]
    before = beside.values[q] if beside is not None else np.nan
    return RuleCounterexample(
        name,
        value=float(value) if np.isfinite(value) else None,
        before=float(before) if np.isfinite(before) else None,
        text=held.texts.get(name, ""),
        why=held.subject.why.get(q, ""),
    )
