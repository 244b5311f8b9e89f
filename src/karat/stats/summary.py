"""Summary: every measure of every system over all questions and over each slice; what it reached, took and declined."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from karat.core.scores import Status
from karat.core.text.words import band, mean_note
from karat.core.types import NO_VALUE
from karat.results.evaluation import Refusals, Summary, Target, Usage
from karat.stats.arrays import TIE, Bools, Floats, Ints, finite
from karat.stats.intervals import mean_intervals

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.scores import Scores

Slice = Sequence[str | None] | Mapping[str, Sequence[str | None]]
"""The value of every question, or these by system where they differ."""
TARGETS: Mapping[str, float] = {"F1@5": 0.5, "Hit@5": 0.8, "MRR": 0.5}
_REL = re.compile(r"\(rel=\d+\)")  # a relevance threshold does not make another target


def summarise(
    scores: Scores,
    *,
    slices: Mapping[str, Slice] | None = None,
    intervals: bool = True,
    bands: Collection[str] = (),
) -> tuple[Summary, ...]:
    """Summaries of the whole set, systems first, then of each value of each slice in order of appearance.

    `slices` gives, for each slice, the value of every question; questions without one stand last, as "(none)". One that
    differs by system gives these values for each system, and its values are sorted as numbers.
    `bands` names the measures whose means are put into words.
    """
    summaries = list(_summaries(scores, np.arange(len(scores.questions)), intervals, bands))
    for name, values in (slices or {}).items():
        by_system = isinstance(values, Mapping)
        parts = (
            [(scores, values)]
            if not isinstance(values, Mapping)
            else [
                (scores.select(systems=[s]), values.get(system) or [None] * len(scores.questions))
                for s, system in enumerate(scores.systems)
            ]
        )
        labelled = [(part, _labels(name, own, len(scores.questions))) for part, own in parts]
        order = dict.fromkeys(label for _, labels in labelled for label in labels.tolist() if label != NO_VALUE)
        for label in (*(sorted(order, key=_as_number) if by_system else order), NO_VALUE):
            for part, labels in labelled:
                chosen = np.flatnonzero(labels == label)
                summaries.extend(_summaries(part, chosen, intervals, bands, slice=name, value=label))
    return tuple(summaries)


def _labels(name: str, values: Sequence[str | None], questions: int) -> NDArray[Any]:
    if len(values) != questions:
        raise ValueError(f"slice {name!r} has {len(values)} values for {questions} questions")
    return np.array([NO_VALUE if v is None else v for v in values], object)


def _as_number(label: str) -> tuple[float, str]:
    """By its number; what is none stands behind."""
    return (float(label), "") if label.isdecimal() else (np.inf, label)


def _summaries(
    scores: Scores, chosen: Ints, intervals: bool, bands: Collection[str], **of_slice: Any
) -> Iterator[Summary]:
    systems, questions, measures = len(scores.systems), len(chosen), len(scores.measures)
    if not (systems and questions and measures):
        return
    rows: Floats = _rows(scores.values, chosen)
    state: NDArray[np.uint8] = _rows(scores.status, chosen)
    lacking: Bools = _rows(scores.missing, chosen)
    ok = (state == Status.ok) & np.isfinite(rows)
    n = ok.sum(axis=1)
    undefined = (state == Status.undefined).sum(axis=1)
    ordered = np.sort(np.where(ok, rows, np.inf), axis=1)
    least, q25, q50, q75, most = (_percentile(ordered, n, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    # a geometric mean is the mean of logarithms: averages and their intervals are taken on the measure's own scale
    on_scale = np.where(ok, rows, np.nan)
    for m, measure in enumerate(scores.measures):
        on_scale[m::measures] = measure.on_scale(on_scale[m::measures])
    total = np.where(ok, on_scale, 0.0).sum(axis=1)
    mean = total / np.maximum(n, 1)
    low = high = np.full(len(n), np.nan)
    if intervals:
        ends = [measure.on_scale(np.array(measure.bounds)) for measure in scores.measures]
        clusters = None if scores.conversations is None else np.array(scores.conversations)[chosen]
        low, high = mean_intervals(on_scale, np.tile(ends, (systems, 1)), clusters=clusters)
    for m, measure in enumerate(scores.measures):
        for column in (mean, low, high):
            column[m::measures] = measure.off_scale(column[m::measures])
    is_mean = np.tile([measure.is_mean for measure in scores.measures], systems)
    # rounding can carry the mean of equal values just past them
    mean = np.where((n > 0) & is_mean, np.clip(mean, least, most), mean)
    arithmetic = np.where(is_mean, mean, np.where(ok, rows, 0.0).sum(axis=1) / np.maximum(n, 1))
    deviation = np.where(ok, rows - arithmetic[:, None], 0.0)
    std = np.sqrt((deviation * deviation).sum(axis=1) / np.maximum(n - 1, 1))
    bounds = np.tile([measure.bounds for measure in scores.measures], (systems, 1))
    figures = {
        "mean": mean,
        "low": low,
        "high": high,
        "std": np.where(n > 1, std, np.nan),
        "min": least,
        "q25": q25,
        "q50": q50,
        "q75": q75,
        "max": most,
    }
    counts = {
        "n_lowest": (ordered <= bounds[:, :1] + TIE).sum(axis=1),
        "n_highest": n - (ordered < bounds[:, 1:] - TIE).sum(axis=1),
        "n_reaching": (ok & (rows >= mean[:, None] - TIE)).sum(axis=1),
    }
    columns = {name: list(map(finite, column.tolist())) for name, column in figures.items()}
    columns |= {name: column.tolist() for name, column in counts.items()}
    missing, answered = lacking.sum(axis=1).tolist(), (ok & ~lacking).sum(axis=1).tolist()
    # a value that is not a number counts as failed, not as a value
    kinds = zip(n.tolist(), undefined.tolist(), (questions - n - undefined).tolist(), total.tolist(), strict=True)
    for row, (many, n_undefined, n_failed, whole) in enumerate(kinds):
        measure, system = scores.measures[row % measures], scores.systems[row // measures]
        known: dict[str, Any] = {name: column[row] for name, column in columns.items()} if many else {}
        lists_end = _lists_end(measure, scores.lists_end.get(system))
        named = measure.spec.name in bands and lists_end is None
        name, meaning = (band(measure.spec.name, known.get("mean")) if named else None) or (None, None)
        worst, best = _bounds(measure, whole, many, n_failed)
        yield Summary(
            system=system,
            measure=measure.name,
            n=many,
            n_undefined=n_undefined,
            n_failed=n_failed,
            worst=worst,
            best=best,
            band=name,
            meaning=meaning,
            lists_end=lists_end,
            n_missing=missing[row],
            **known,
            **of_slice,
            **_beside(whole, many, answered[row], missing[row], lists_end),
        )


def _rows(array: NDArray[Any], chosen: Ints) -> NDArray[Any]:
    """system x measure as rows, the chosen questions along each row."""
    return np.ascontiguousarray(array[:, chosen].transpose(0, 2, 1)).reshape(-1, len(chosen))


def _percentile(ordered: Floats, n: Ints, share: float) -> Floats:
    """Linear percentiles of rows sorted upwards, what has no value at their ends; meaningless where n is 0."""
    place = share * np.maximum(n - 1, 0)
    before = np.floor(place).astype(np.int64)
    after = np.minimum(before + 1, np.maximum(n - 1, 0))
    rows = np.arange(len(n))
    low, high = ordered[rows, before], ordered[rows, after]
    with np.errstate(invalid="ignore"):
        return low + (high - low) * (place - before)


def _beside(total: float, n: int, answered: int, missing: int, lists_end: int | None) -> dict[str, Any]:
    """What must stand beside a mean: of a system that did not answer all questions both means, one of them in words.

    `total` is the sum over `n` scores, in which missing answers, where they are counted, are 0.
    """
    if not missing and lists_end is None:
        return {}
    counted = n > answered
    alone, whole = total / answered if answered else None, total / max(answered + missing, 1)
    note = mean_note(answered, missing, alone if counted else whole, counted=counted, lists_end=lists_end)
    return {"note": note, **({"mean_answered": alone, "mean_with_missing": whole} if missing else {})}


def _lists_end(measure: Measure, end: int | None) -> int | None:
    """Where all lists of a system end, if that is before the measure's cut-off."""
    return end if end is not None and measure.k is not None and end < measure.k else None


def _bounds(measure: Measure, total: float, n: int, failed: int) -> list[float | None]:
    """Worst and best mean with failed rows at the measure's bounds; None where a bound is infinite.

    `total` is on the scale on which the measure is averaged.
    """
    ends = measure.bounds if measure.spec.direction != "lower" else measure.bounds[::-1]
    return [
        float(measure.off_scale((total + failed * measure.on_scale(end)) / (n + failed)))
        if failed and np.isfinite(end)
        else None
        for end in ends
    ]


def targets(summaries: Iterable[Summary], ceilings: Mapping[str, float]) -> tuple[Target, ...]:
    """One target per system and measure that has one, over all questions; met means above, not at.

    Where all lists end before the cut-off there is none: what stands below is not known.

    `ceilings` holds the highest mean this gold allows by measure name; without an entry it is 1.
    """
    reached = []
    for summary in summaries:
        threshold = TARGETS.get(_REL.sub("", summary.measure))
        whole = summary.slice is None and (summary.n or summary.n_failed)
        if threshold is None or not whole or summary.lists_end is not None:
            continue
        met = None if summary.mean is None else summary.mean > threshold
        ceiling = ceilings.get(summary.measure, 1.0)
        reached.append(
            Target(
                system=summary.system,
                measure=summary.measure,
                threshold=threshold,
                value=summary.mean,
                met=met,
                ceiling=ceiling,
            )
        )
    return tuple(reached)


def usage(system: str, what: str, values: Iterable[float | None]) -> Usage | None:
    """What a system took, in seconds, tokens or money: over the rows where it is known; None if it never is."""
    known = np.array([v for v in values if v is not None and np.isfinite(v)], np.float64)
    if not len(known):
        return None
    least, p50, p95, most = map(float, np.percentile(known, [0, 50, 95, 100]))
    std = (float(known.std(ddof=1)) if most > least else 0.0) if len(known) > 1 else None
    return Usage(
        system=system, what=what, n=len(known), mean=float(known.mean()), p50=p50, p95=p95, std=std, min=least, max=most
    )


def refusals(system: str, declined: Sequence[bool | None], answerable: Sequence[bool]) -> Refusals:
    """Precision, recall and F1 of declining, an unanswerable question being what is to be found.

    `declined` None: the answer is empty, which neither answers nor declines. A number over nothing is None: precision
    where nothing was declined, recall where everything is answerable.

    >>> r = refusals("s", [True, True, False, None], [False, True, True, False])
    >>> r.precision, r.recall, r.f1, r.empty
    (0.5, 0.5, 0.5, 1)
    """
    n_declined, unanswerable = declined.count(True), answerable.count(False)
    right = sum(one is True and not can for one, can in zip(declined, answerable, strict=True))
    return Refusals(
        system=system,
        n=len(declined),
        unanswerable=unanswerable,
        declined=n_declined,
        right=right,
        empty=declined.count(None),
        precision=right / n_declined if n_declined else None,
        recall=right / unanswerable if unanswerable else None,
        f1=2 * right / (n_declined + unanswerable) if unanswerable else None,
    )
