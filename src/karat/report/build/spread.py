"""Spread: one sentence on how the scores of the questions lie, from the figures of their summary."""

from __future__ import annotations

from karat.core.text.words import number
from karat.results.evaluation import Summary

FEW = 5  # below this a shape is an accident
PILED = 0.10  # share of the questions at an end of the range that is worth naming
SKEWED = 0.15  # distance of mean and median, in standard deviations


def spread(s: Summary) -> str | None:
    """A sentence on spread and skew; None where there is no value, or a version before 0.4 stored the summary.

    >>> from karat.results.evaluation import Summary
    >>> half = Summary(system="a", measure="Recall", n=6, n_undefined=0, n_failed=0, mean=0.25, std=0.418, min=0.0,
    ...                q25=0.0, q50=0.0, q75=0.375, max=1.0, n_lowest=4, n_highest=1, n_reaching=2)
    >>> spread(half)[:38]
    '67% of questions score 0, 17% score 1;'
    """
    if s.mean is None or s.min is None or s.max is None or s.n_lowest is None or s.n_highest is None:
        return None
    if s.max - s.min <= 1e-12:
        return "the only question scores " + _short(s.min) if s.n == 1 else f"all {s.n} questions score {_short(s.min)}"
    if s.n < FEW:
        return f"too few questions to tell a shape: {s.n}, from {_short(s.min)} to {_short(s.max)}"
    at_ends = [(s.min, s.n_lowest), (s.max, s.n_highest)]  # where some stand at an end, the extreme value is that end
    if s.n_lowest + s.n_highest == s.n:
        piled = at_ends
    else:
        piled = [(end, count) for end, count in at_ends if count >= PILED * s.n]
    named = [f"{_percent(count / s.n)} score {_short(end)}" for end, count in piled]
    if named:
        named[0] = named[0].replace(" score", " of questions score", 1)
    if s.n_lowest + s.n_highest == s.n:
        return ", ".join([*named, "none between"])
    middle = f"the middle half of the questions lies between {_short(s.q25 or 0.0)} and {_short(s.q75 or 0.0)}"
    return f"{', '.join(named) or middle}; {_lean(s, s.mean)}"


def _lean(s: Summary, mean: float) -> str:
    median, reaching = s.q50 or 0.0, s.n_reaching or 0
    lean = (mean - median) / s.std if s.std else 0.0
    stated = f"the mean ({number(mean, 3)}) is {{}} the median ({number(median, 3)})"
    if lean > SKEWED:
        return stated.format("above") + f": {_percent(reaching / s.n)} of questions reach it and carry the rest"
    if lean < -SKEWED:
        return stated.format("below") + f": the {_percent(1 - reaching / s.n)} of questions under it pull it down"
    return "mean and median agree"


def _percent(share: float) -> str:
    """A share in whole percent that never rounds to all or nothing."""
    return f"{min(max(round(100 * share), 1), 99)}%" if 0 < share < 1 else f"{100 * share:.0f}%"


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-0.", "-.").removeprefix("0") or "0"
