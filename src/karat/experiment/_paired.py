"""Paired: the figures between systems as the nouns of a comparison, and what must be said beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.core.types import NO_VALUE, slice_order
from karat.experiment._compared_inputs import ComparedInput, ScoredSystem, slice_values
from karat.results.comparison import ComparedMeasure, ComparedPair, Flip, JudgeNoise, SlicePair, SystemMean
from karat.results.evaluation import Note
from karat.stats.arrays import TIE, Floats, finite, mean_known
from karat.stats.compare import PairFigures, compare_systems
from karat.stats.corrections import Correction, adjust

if TYPE_CHECKING:
    from numpy.typing import NDArray


_PAST = 1e-9  # by which rounding may carry a score past the end of its measure


def judge_noise(
    systems: Sequence[ScoredSystem], chosen: Sequence[ComparedMeasure]
) -> dict[tuple[str, str], JudgeNoise]:
    from karat.stats.repeats import repeats

    noise = {}
    for measure in chosen:
        for system in systems:
            reliability = repeats(list(system.repeats.get(measure.name, {}).values()))
            if reliability is not None:
                many = int(np.isfinite(system.column(measure.name)).sum())
                noise[system.name, measure.name] = JudgeNoise(
                    system=system.name,
                    measure=measure.name,
                    rows=reliability.rows,
                    repeats=reliability.repeats,
                    flips=reliability.flips,
                    icc=reliability.icc,
                    icc_mean=reliability.icc_mean,
                    variance=reliability.of_score,
                    error=float(np.sqrt(reliability.of_score / max(many, 1))),
                )
    return noise


def pair_result(
    figures: PairFigures,
    m: int,
    i: int,
    pair: tuple[int, int],
    values: Floats,
    names: Sequence[str],
    measure: ComparedMeasure,
    decided: tuple[float, float],  # p of the test that decides, and the same adjusted
    noise: Mapping[tuple[str, str], JudgeNoise],
) -> ComparedPair:
    from karat.stats.power import detectable

    a, b = pair
    both = np.isfinite(values[a]) & np.isfinite(values[b])
    n, spread = int(figures.n[m, i]), finite(figures.spread[m, i])
    mean_a, mean_b = (float(values[s][both].mean()) if n else None for s in pair)
    noises = [noise.get((names[s], measure.name)) for s in pair]
    of_judge = sum(one.variance for one in noises if one is not None)
    wins, losses = int(figures.wins[m, i]), int(figures.losses[m, i])
    reach = None if measure.low is None or measure.high is None else measure.high - measure.low
    effective = finite(figures.effective[m, i])
    least = detectable(effective, n, most=reach) if effective is not None and effective > TIE else None
    return ComparedPair(
        measure=measure.name, a=names[a], b=names[b], n=n, mean_a=mean_a, mean_b=mean_b,
        difference=finite(figures.difference[m, i]), low=finite(figures.low[m, i]), high=finite(figures.high[m, i]),
        p=decided[0], adjusted=decided[1], permutation=float(figures.permutation[m, i]),
        wilcoxon=float(figures.wilcoxon[m, i]), t=finite(figures.t[m, i]), mcnemar=finite(figures.mcnemar[m, i]),
        tukey=finite(figures.tukey[m, i]), d=finite(figures.d[m, i]), biserial=finite(figures.biserial[m, i]),
        wins=wins, ties=n - wins - losses, losses=losses, spread=spread, detectable=least,
        over=mean_b / mean_a - 1 if mean_a and mean_b is not None and mean_a > 0 else None,
        judge_share=min(1.0, of_judge / spread**2) if any(noises) and spread else None,
    )  # fmt: skip


def _bounds(measure: ComparedMeasure) -> tuple[float, float]:
    return -np.inf if measure.low is None else measure.low, np.inf if measure.high is None else measure.high


def with_flips(
    result: ComparedPair,
    values: Floats,
    pair: tuple[int, int],
    questions: Sequence[str],
    texts: Mapping[str, str],
    measure: ComparedMeasure,
    most: int | None,
) -> ComparedPair:
    """The pair with the questions on which one of the two is better, the largest differences first."""

    if most == 0:
        return result
    a, b = values[pair[0]], values[pair[1]]
    gain = np.nan_to_num((b - a) * (-1.0 if measure.direction == "lower" else 1.0))
    flips = []
    for way in (1.0, -1.0):
        rows = np.flatnonzero(way * gain > TIE)
        rows = rows[np.argsort(-np.abs(gain[rows]), kind="stable")][:most]
        flips.append(
            tuple(Flip(questions[q], float(a[q]), float(b[q]), texts.get(questions[q], "")) for q in rows.tolist())
        )
    return replace(result, better=flips[0], worse=flips[1])


def system_means(
    values: Floats,
    status: NDArray[np.uint8],
    names: Sequence[str],
    chosen: Sequence[ComparedMeasure],
    baseline: str | None,
    conversations: Sequence[int] | None = None,
) -> tuple[SystemMean, ...]:
    from karat.stats.intervals import mean_intervals

    means = []
    for m, measure in enumerate(chosen):
        mean = mean_known(values[m].T)
        low, high = mean_intervals(values[m], _bounds(measure), clusters=conversations)
        base = mean[names.index(baseline)] if baseline is not None else np.nan
        for s, name in enumerate(names):
            over = finite(mean[s] / base - 1) if base > 0 and name != baseline else None
            n, undefined, failed = (
                int((status[m, s] == one).sum()) for one in (Status.ok, Status.undefined, Status.failed)
            )
            means.append(
                SystemMean(
                    system=name,
                    measure=measure.name,
                    n=n,
                    n_undefined=undefined,
                    n_failed=failed,
                    mean=finite(mean[s]),
                    low=finite(low[s]),
                    high=finite(high[s]),
                    over=over,
                )
            )
    return tuple(means)


def slice_differences(
    sources: Sequence[ComparedInput],
    by: Sequence[str],
    values: Floats,
    questions: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    names: Sequence[str],
    chosen: Sequence[ComparedMeasure],
    correction: Correction,
    draws: int,
    seed: int,
    conversations: Sequence[int] | None = None,
) -> tuple[tuple[SlicePair, ...], int]:
    """Each pair within each value of each slice, by the permutation test, corrected over all of them.

    Slices without a question that both have a value for are not tested.
    """
    less = [measure.direction == "lower" for measure in chosen]
    parts = []
    for name in dict.fromkeys(by):
        value_of = slice_values(sources, name)
        of = [value_of.get(question) for question in questions]
        for value in slice_order(name, sorted({v for v in of if v is not None})) + ([None] if None in of else []):
            mask = np.array([one == value for one in of])
            clusters = None if conversations is None else np.array(conversations)[mask]
            part = compare_systems(
                values[:, :, mask], pairs, lower=less, draws=draws, seed=seed, tests=(), clusters=clusters
            )
            parts.append((name, NO_VALUE if value is None else value, part))
    if not parts:
        return (), 0
    p = np.concatenate([part.permutation[part.n > 0] for *_, part in parts])
    adjusted = iter(adjust(p, correction).tolist())
    slice_pairs = []
    for name, value, part in parts:
        for m, measure in enumerate(chosen):
            for i, (a, b) in enumerate(pairs):
                n, wins, losses = (int(one[m, i]) for one in (part.n, part.wins, part.losses))
                if not n:
                    continue
                figures = (part.difference, part.low, part.high)
                difference, low, high = (finite(one[m, i]) for one in figures)
                slice_pairs.append(
                    SlicePair(
                        measure=measure.name,
                        a=names[a],
                        b=names[b],
                        n=n,
                        difference=difference,
                        low=low,
                        high=high,
                        p=float(part.permutation[m, i]),
                        adjusted=next(adjusted),
                        wins=wins,
                        ties=n - wins - losses,
                        losses=losses,
                        slice=name,
                        value=value,
                    )
                )
    return tuple(slice_pairs), len(p)


def missing_notes(status: NDArray[np.uint8], names: Sequence[str], chosen: Sequence[ComparedMeasure]) -> list[Note]:
    """How failed and undefined scores are treated, where there are any; a warning where systems failed unequally."""
    notes = []
    undefined, failed = ((status == one).sum(axis=2) for one in (Status.undefined, Status.failed))
    if undefined.any() or failed.any():
        text = (
            "A question counts for a pair where both have a value. Scores of a system without one: up to "
            f"{int(undefined.max()):,} undefined, {int(failed.max()):,} failed."
        )
        notes.append(Note("info", text))
    for m, measure in enumerate(chosen):
        if len(set(failed[m].tolist())) > 1:
            counts = ", ".join(
                f"{name} on {many}" for name, many in zip(names, failed[m].tolist(), strict=True) if many
            )
            text = (
                f"{measure.name} failed unequally ({counts}): these questions are left out of the pairs, which favours"
            )
            notes.append(Note("warning", f"{text} who failed.", guard="failed rows"))
    return notes


def range_notes(
    values: Floats, names: Sequence[str], questions: Sequence[str], chosen: Sequence[ComparedMeasure]
) -> tuple[list[ComparedMeasure], list[Note]]:
    """The measures, without ends where scores pass them, and a warning for each of these."""
    measures, notes = [], []
    for measure, scores in zip(chosen, values, strict=True):
        low, high = _bounds(measure)
        passes = np.argwhere((scores < low - _PAST) | (scores > high + _PAST))
        measures.append(replace(measure, low=None, high=None) if len(passes) else measure)
        if len(passes):
            s, q = passes[0].tolist()
            many = f"{len(passes):,} scores do" if len(passes) > 1 else "1 score does"
            text = (
                f"{measure.name} lies between {low:g} and {high:g}, and {many} not: {names[s]} has {scores[s, q]:g} "
                f"for {questions[q]}. Are they percentages, or were repeats counted? If neither, the scores are wrong."
            )
            notes.append(Note("warning", text, guard="range"))
    return measures, notes


def unreachable_notes(draws: int, tests: int, correction: str, test: str, level: float) -> list[Note]:
    """A warning where no p that the draws can give would survive the correction."""
    least = tests / (draws + 1) if correction in ("holm", "bonferroni") else 1 / (draws + 1)
    if test != "permutation" or least <= level:
        return []
    return [
        Note(
            "warning",
            f"With {draws:,} draws the smallest p is {1 / (draws + 1):.1e}, and over {tests:,} tests it is corrected "
            f"to {min(1.0, least):.2f}: no difference can be significant. Compare fewer, name a --baseline, or choose "
            "--test tukey.",
        )
    ]
