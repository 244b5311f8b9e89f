"""Summary: every measure of every system over all questions and over each slice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import number
from karat.results.evaluation import Summary
from karat.stats.bands import band
from karat.stats.intervals import SAME, mean_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.core.scores import Scores

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

NO_VALUE = "(none)"


def summarise(
    scores: Scores,
    *,
    slices: Mapping[str, Sequence[str | None]] | None = None,
    intervals: bool = True,
    bands: Collection[str] = (),
) -> tuple[Summary, ...]:
    """Summaries of the whole set, systems first, then of each value of each slice in order of appearance.

    `slices` gives, for each slice, the value of every question; questions without one stand last, as "(none)".
    `bands` names the measures whose means are put into words.
    """
    found: list[Summary] = list(_summaries(scores, None, None, None, intervals, bands))
    for name, values in (slices or {}).items():
        if len(values) != len(scores.questions):
            raise ValueError(f"slice {name!r} has {len(values)} values for {len(scores.questions)} questions")
        labels = np.array([NO_VALUE if v is None else v for v in values], object)
        order = dict.fromkeys(v for v in values if v is not None)
        for label in (*(v for v in order if v != NO_VALUE), NO_VALUE):
            chosen = np.flatnonzero(labels == label)
            if len(chosen):
                found.extend(_summaries(scores, chosen, name, label, intervals, bands))
    return tuple(found)


@dataclass(frozen=True)
class Columns:
    """One row per system x measure: its values sorted, those without one at the end as +inf."""

    values: Floats
    n: Ints

    def at(self, share: float) -> Floats:
        """Linear percentiles; meaningless where n is 0."""
        place = share * np.maximum(self.n - 1, 0)
        before = np.floor(place).astype(np.int64)
        after = np.minimum(before + 1, np.maximum(self.n - 1, 0))
        rows = np.arange(len(self.n))
        low, high = self.values[rows, before], self.values[rows, after]
        with np.errstate(invalid="ignore"):
            return low + (high - low) * (place - before)


def _summaries(
    scores: Scores,
    chosen: Ints | None,
    name: str | None,
    label: str | None,
    intervals: bool,
    bands: Collection[str],
) -> Iterator[Summary]:
    values, status, missing = scores.values, scores.status, scores.missing
    if chosen is not None:
        values, status, missing = values[:, chosen], status[:, chosen], missing[:, chosen]
    systems, questions, measures = values.shape
    if not (systems and questions and measures):
        return
    # system x measure as rows, questions along each row
    rows = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1, questions)
    state = np.ascontiguousarray(status.transpose(0, 2, 1)).reshape(-1, questions)
    lacking = np.ascontiguousarray(missing.transpose(0, 2, 1)).reshape(-1, questions)
    ok = (state == Status.ok) & np.isfinite(rows)
    n = ok.sum(axis=1)
    undefined = (state == Status.undefined).sum(axis=1)
    failed = questions - n - undefined  # a value that is not a number counts as failed, not as a value
    columns = Columns(np.sort(np.where(ok, rows, np.inf), axis=1), n)
    total = np.where(ok, rows, 0.0).sum(axis=1)
    mean = total / np.maximum(n, 1)
    # rounding can carry the mean of equal values just past them
    mean = np.where(n > 0, np.clip(mean, columns.at(0.0), columns.at(1.0)), mean)
    deviation = np.where(ok, rows - mean[:, None], 0.0)
    std = np.sqrt((deviation * deviation).sum(axis=1) / np.maximum(n - 1, 1))
    n_missing, answered = lacking.sum(axis=1), (ok & ~lacking).sum(axis=1)
    quantiles = [columns.at(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    # a geometric mean is the mean of logarithms: averages and their intervals are taken on the measure's own scale
    scaled = columns.values.copy()
    for m, measure in enumerate(scores.measures):
        scaled[m::measures] = measure.on_scale(scaled[m::measures])
    ends = [measure.on_scale(np.array(measure.bounds)) for measure in scores.measures]
    low, high = mean_intervals(scaled, np.tile(ends, (systems, 1))) if intervals else (np.full(len(n), np.nan),) * 2
    bounds = np.tile([measure.bounds for measure in scores.measures], (systems, 1))
    lowest = (columns.values <= bounds[:, :1] + SAME).sum(axis=1)
    highest = n - (columns.values < bounds[:, 1:] - SAME).sum(axis=1)
    for m, measure in enumerate(scores.measures):
        if not measure.is_mean:
            of_measure = slice(m, None, measures)
            total[of_measure] = np.where(np.isfinite(scaled[of_measure]), scaled[of_measure], 0.0).sum(axis=1)
            mean[of_measure] = measure.off_scale(total[of_measure] / np.maximum(n[of_measure], 1))
            low[of_measure], high[of_measure] = measure.off_scale(low[of_measure]), measure.off_scale(high[of_measure])
    reaching = (ok & (rows >= mean[:, None] - SAME)).sum(axis=1)
    numbers = (n, undefined, failed, n_missing, answered, total, mean, low, high, std)
    of_values = (*quantiles, lowest, highest, reaching)

    for row, figures in enumerate(zip(*(column.tolist() for column in (*numbers, *of_values)), strict=True)):
        many, lack, lost, unanswered, with_answer, whole, average, start, end, deviates, *rest = figures
        least, q25, q50, q75, most, at_least, at_most, at_mean = rest if many else [None] * len(rest)
        measure, system = scores.measures[row % measures], scores.systems[row // measures]
        lists_end = _lists_end(measure, scores.lists_end.get(system))
        named = measure.spec.name in bands and lists_end is None
        banded = band(measure, average if many else None) if named else None
        partial = _Partial.of(whole, many, with_answer, unanswered)
        worst, best = _bounds(measure, whole, many, lost)
        yield Summary(
            system=system,
            measure=measure.name,
            n=many,
            n_undefined=lack,
            n_failed=lost,
            mean=average if many else None,
            low=None if start != start else start,  # NaN: no interval
            high=None if end != end else end,
            worst=worst,
            best=best,
            std=deviates if many > 1 else None,
            min=least,
            q25=q25,
            q50=q50,
            q75=q75,
            max=most,
            n_lowest=at_least,
            n_highest=at_most,
            n_reaching=at_mean,
            slice=name,
            value=label,
            band=banded[0] if banded else None,
            meaning=banded[1] if banded else None,
            lists_end=lists_end,
            n_missing=unanswered,
            mean_answered=partial.answered if partial else None,
            mean_with_missing=partial.with_missing if partial else None,
            note=partial.note if partial else None if lists_end is None else f"lists end at {lists_end}",
        )


@dataclass(frozen=True)
class _Partial:
    """The two means of a system that did not answer all questions, and the one that is not the headline in words."""

    answered: float | None
    with_missing: float
    note: str

    @classmethod
    def of(cls, total: float, n: int, answered: int, missing: int) -> _Partial | None:
        """`total` is the sum over `n` scores, in which missing answers, where they are counted, are 0."""
        if not missing:
            return None
        asked = answered + missing
        alone, whole = total / answered if answered else None, total / asked
        other = f"missing as 0: {number(whole, 3)}"
        if n > answered:
            other = "those alone: " + ("no mean" if alone is None else number(alone, 3))
        return cls(alone, whole, f"{answered:,} of {asked:,} answered; {other}")


def _lists_end(measure: Measure, end: int | None) -> int | None:
    """Where all lists of a system end, if that is before the measure's cut-off."""
    return end if end is not None and measure.k is not None and end < measure.k else None


def _bounds(measure: Measure, total: float, n: int, failed: int) -> tuple[float | None, float | None]:
    """Worst and best mean with failed rows at the measure's bounds; None where a bound is infinite.

    `total` is on the scale on which the measure is averaged.
    """
    if not failed:
        return None, None
    least, most = measure.bounds
    if measure.spec.direction == "lower":
        least, most = most, least

    def mean(end: float) -> float | None:
        if not np.isfinite(end):
            return None
        return float(measure.off_scale((total + failed * measure.on_scale(end)) / (n + failed)))

    return mean(least), mean(most)
