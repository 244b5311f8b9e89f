"""Comparisons in words: who is better than whom, by how much and how sure, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from karat.report._numbers import NONE, number, percent, short

if TYPE_CHECKING:
    from karat.results.comparison import ComparedPair, Comparison, Measured, Pair, SystemMean

TESTS = {
    "permutation": "paired permutation test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "t": "paired t test",
    "tukey": "randomised Tukey HSD",
}
CORRECTIONS = {
    "holm": "Holm's correction", "bonferroni": "Bonferroni's correction", "bh": "Benjamini and Hochberg's correction",
    "none": "no correction",
}  # fmt: skip
NO_INTERVAL = (
    "A pair without an interval differs on fewer than 6 questions, so that no p of .05 or less exists, or by the same "
    "amount on all of them."
)
_FEW = 4


def signed(value: float | None) -> str:
    """A difference with its sign.

    >>> signed(0.0312), signed(-0.2), signed(None)
    ('+.0312', '-.2000', '–')
    """
    text = number(value)
    return f"+{text}" if value is not None and value > 0 and text != number(0) else text


def chance(p: float | None) -> str:
    """A p value as papers print it.

    >>> chance(0.0312), chance(0.00004), chance(1), chance(None)
    ('.031', '<.001', '1', '–')
    """
    if p is None:
        return NONE
    return "<.001" if p < 0.001 else ">.999" if 0.9995 <= p < 1 else "1" if p == 1 else short(p)


def ends(low: float | None, high: float | None) -> str:
    """The ends of an interval, or nothing."""
    return "" if low is None or high is None else f"[{short(low)}, {short(high)}]"


def correction(found: Comparison) -> str:
    """How p was corrected, and over how many tests."""
    if found.test == "tukey":
        measures = len(found.measures) if found.correction != "none" else 1
        return f"times {measures} measures" if measures > 1 else ""
    many = f" over {found.tests:,} tests" if found.correction != "none" and found.tests > 1 else ""
    return f"{CORRECTIONS[found.correction]}{many}"


def method(found: Comparison) -> str:
    """How it was decided, in one sentence."""
    drawn = f"{found.draws:,} draws" if found.test in ("permutation", "tukey") else ""
    sides, over = "" if found.test == "tukey" else "two-sided", correction(found)
    settled = ", ".join(filter(None, (sides, drawn, f"seed {found.seed}")))
    how = f"{TESTS[found.test]} ({settled})" + (f", {over}" if over else "")
    decided = f"Told apart: adjusted p of {found.level:g} or less, by the {how}."
    return f"{decided} 95% intervals of differences: the permutation test, inverted."


def better(found: Comparison, pair: Pair) -> str | None:
    """Who of a pair that is told apart is better; None where the measure has no better, or they are not."""
    measure = next(m for m in found.measures if m.name == pair.measure)
    if not found.is_told_apart(pair) or not pair.difference or measure.direction == "none":
        return None
    return pair.b if (pair.difference > 0) == (measure.direction != "lower") else pair.a


def pair_sentence(found: Comparison, pair: ComparedPair) -> str:
    """One pair by one measure."""
    measure = next(m for m in found.measures if m.name == pair.measure)
    if pair.difference is None:
        return f"By {pair.measure}, {pair.a} and {pair.b} have no question in common that both have a value for."
    if not pair.wins and not pair.losses:
        return f"By {pair.measure}, {pair.a} and {pair.b} are the same on all {pair.n:,} questions."
    sure = f"adjusted p {chance(pair.adjusted)}"
    if found.is_told_apart(pair):
        first, second = (pair.b, pair.a) if pair.difference > 0 else (pair.a, pair.b)
        word = "higher"
        if measure.direction != "none":
            first, second = (second, first) if measure.direction == "lower" else (first, second)
            word = "better"
        by = f"{number(abs(pair.difference))}{_of(pair, turned=pair.difference < 0)}"
        return f"By {pair.measure}, {first} is {word} than {second} by {by} ({sure}, {pair.n:,} questions)."
    could = f" {pair.n:,} questions like these find a difference of {short(pair.detectable)} in 80% of studies."
    by = f"{signed(pair.difference)}{_of(pair)}, {sure}"
    told = f"By {pair.measure}, {pair.a} and {pair.b} are not distinguishable: {by}."
    return told + (could if pair.detectable is not None else "")


def _of(pair: ComparedPair, *, turned: bool = False) -> str:
    """The interval of b - a, or `turned` of a - b."""
    low, high = pair.low, pair.high
    told = ends(0.0 - high, 0.0 - low) if turned and low is not None and high is not None else ends(low, high)
    return f" {told}" if told else ""


def without_interval(pairs: Iterable[Pair]) -> str:
    """Why pairs have no interval, where some have none."""
    return NO_INTERVAL if any(pair.low is None and pair.n for pair in pairs) else ""


def sentences(found: Comparison) -> list[str]:
    """What a comparison comes down to: every pair of two or three systems, else each measure in one sentence."""
    if len(found.pairs) <= 3 * len(found.measures):
        return [pair_sentence(found, pair) for pair in found.pairs]
    if found.baseline is not None:
        return [_against(found, measure) for measure in found.measures]
    return [line for measure in found.measures for line in _leading(found, measure)]


def _against(found: Comparison, measure: Measured) -> str:
    pairs = [pair for pair in found.pairs if pair.measure == measure.name]
    won = [pair.b for pair in pairs if better(found, pair) == pair.b]
    lost = [pair.b for pair in pairs if better(found, pair) == pair.a]
    rest = len(pairs) - len(won) - len(lost)
    return (
        f"By {measure.name}, {_counted(won)} better than {found.baseline}, {_counted(lost)} worse, and {rest:,} not "
        "distinguishable from it."
    )


def _counted(names: Sequence[str]) -> str:
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'}" if names else "none is"


def listed(names: Sequence[str], most: int = _FEW) -> str:
    """Names in a sentence; of many the first ones.

    >>> listed(["a", "b", "c"]), listed(list("abcdef"))
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    if len(names) <= 1:
        return "".join(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _leading(found: Comparison, measure: Measured) -> Iterator[str]:
    if measure.direction == "none":
        return
    means = ranked(found, measure)
    if not means:
        return
    best = means[0]
    pairs = [p for p in found.pairs if p.measure == measure.name and best.system in (p.a, p.b)]
    beaten = [p for p in pairs if better(found, p) == best.system]
    equal = [p.b if p.a == best.system else p.a for p in pairs if p not in beaten]
    top = f"By {measure.name}, {best.system} has the best mean, {number(best.mean)}"
    if not equal:
        yield f"{top}, and is told apart from all {len(pairs):,} others."
    elif not beaten:
        yield f"{top}, but it is not distinguishable from any of the other {len(pairs):,} with these questions."
    else:
        yield f"{top}: better than {len(beaten):,} of the others, not distinguishable from {listed(equal)}."


def ranked(found: Comparison, measure: Measured) -> list[SystemMean]:
    """Systems by a measure, the best first; of equal ones the earlier."""
    means = [(mean.mean, mean) for mean in found.means if mean.measure == measure.name and mean.mean is not None]
    sign = 1.0 if measure.direction == "lower" else -1.0
    return [mean for _, mean in sorted(means, key=lambda one: sign * one[0])]


def loss_sentences(found: Comparison) -> list[str]:
    """What aligning left out."""
    return [
        f"{loss.place}: {loss.questions - loss.kept:,} of {loss.questions:,} questions are not in all inputs and are "
        f"left out ({', '.join(loss.examples)}{', ...' if loss.questions - loss.kept > len(loss.examples) else ''})."
        for loss in found.losses
    ]


def noise_sentences(found: Comparison) -> list[str]:
    """What the repeats of judges say, and where it stands in the intervals."""
    lines = [
        f"{one.system}, {one.measure}: of {one.rows:,} scores asked {one.repeats:.3g} times {percent(one.flips)} flip; "
        f"ICC of one reply {short(one.icc)}, of a score {short(one.icc_mean)}. Asked again, the mean moves by about "
        f"{short(one.error)}."
        for one in found.noise
    ]
    shares = [pair.judge_share for pair in found.pairs if pair.judge_share is not None]
    if shares:
        lines.append(
            f"Intervals hold this noise already, since every score is a draw of it: up to {percent(max(shares))} of "
            "the variance of a difference is the judge's, and more repeats would take it away."
        )
    return lines
