"""Summary: every measure of every system over all questions and over each slice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.evaluation import Summary
from karat.core.scores import Status
from karat.stats.bands import band
from karat.stats.intervals import mean_intervals
from karat.stats.spread import spread, thousandths

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
    seed: int = 0,
) -> tuple[Summary, ...]:
    """Summaries of the whole set, systems first, then of each value of each slice in order of appearance.

    `slices` gives, for each slice, the value of every question; questions without one stand last, as "(none)".
    `bands` names the measures whose means are put into words.
    """
    found: list[Summary] = list(_summaries(scores, None, None, None, intervals, bands, seed))
    for name, values in (slices or {}).items():
        if len(values) != len(scores.questions):
            raise ValueError(f"slice {name!r} has {len(values)} values for {len(scores.questions)} questions")
        labels = np.array([NO_VALUE if v is None else v for v in values], object)
        order = dict.fromkeys(v for v in values if v is not None)
        for label in (*(v for v in order if v != NO_VALUE), NO_VALUE):
            chosen = np.flatnonzero(labels == label)
            if len(chosen):
                found.extend(_summaries(scores, chosen, name, label, intervals, bands, seed))
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
    seed: int,
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
    low, high = mean_intervals(scaled, np.tile(ends, (systems, 1)), seed=seed) if intervals else (None, None)

    for row in range(len(rows)):
        measure = scores.measures[row % measures]
        system = scores.systems[row // measures]
        some, many = bool(n[row]), int(n[row])
        average = float(mean[row]) if some else None
        if some and not measure.is_mean:
            total[row] = scaled[row, :many].sum()
            average = float(measure.off_scale(total[row] / many))
        lists_end = _lists_end(measure, scores.lists_end.get(system))
        banded = band(measure, average) if lists_end is None and measure.spec.name in bands else None
        partial = _Partial.of(float(total[row]), many, int(answered[row]), int(n_missing[row]))
        worst, best = _bounds(measure, float(total[row]), many, int(failed[row]))
        least, q25, q50, q75, most = (float(q[row]) if some else None for q in quantiles)
        yield Summary(
            system=system,
            measure=measure.name,
            n=many,
            n_undefined=int(undefined[row]),
            n_failed=int(failed[row]),
            mean=average,
            low=_known(measure, low, row),
            high=_known(measure, high, row),
            worst=worst,
            best=best,
            std=float(std[row]) if many > 1 else None,
            min=least,
            q25=q25,
            q50=q50,
            q75=q75,
            max=most,
            slice=name,
            value=label,
            band=banded[0] if banded else None,
            meaning=banded[1] if banded else None,
            spread=spread(measure, columns.values[row, :many], float(mean[row]), float(std[row])),
            lists_end=lists_end,
            n_missing=int(n_missing[row]),
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
        other = f"missing as 0: {thousandths(whole)}"
        if n > answered:
            other = "those alone: " + ("no mean" if alone is None else thousandths(alone))
        return cls(alone, whole, f"{answered:,} of {asked:,} answered; {other}")


def _lists_end(measure: Measure, end: int | None) -> int | None:
    """Where all lists of a system end, if that is before the measure's cut-off."""
    return end if end is not None and measure.k is not None and end < measure.k else None


def _known(measure: Measure, ends: Floats | None, row: int) -> float | None:
    return None if ends is None or np.isnan(ends[row]) else float(measure.off_scale(ends[row]))


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
