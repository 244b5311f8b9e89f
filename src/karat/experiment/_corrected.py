"""Means corrected by labels: those of the run that was labelled, and when answers are unlike the labelled ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Scores, Status
from karat.core.text.words import plural
from karat.results.calibration import CorrectedMean
from karat.stats.arrays import Floats, Ints
from karat.stats.prediction_powered import FEWEST, Estimate, effective_labels, people_mean, powered_mean

if TYPE_CHECKING:
    from karat.experiment._labelled import Labelled


_NOTHING = 1e-9
_FAR = 3.0  # standard errors by which labelled answers may differ from others before they are called unlike them


def are_unlike(here: Floats, there: Floats) -> bool:
    """Whether a judge scores two lots of answers so differently that they are no samples of the same."""
    if min(len(here), len(there)) < FEWEST:
        return False
    error = float(np.sqrt(here.var(ddof=1) / len(here) + there.var(ddof=1) / len(there)))
    return bool(abs(here.mean() - there.mean()) > max(_FAR * error, _NOTHING))


def corrected_mean(scores: Scores, labelled: Labelled, system: int, questions: Ints, people: Floats) -> CorrectedMean:
    """A system's mean by the measure, by people, and by both."""
    number = labelled.number or 0
    known = scores.status[system, :, number] == Status.ok
    values = scores.values[system, :, number]
    name, n, n_scored = scores.systems[system], len(questions), int(known.sum())
    mean = float(values[known].mean()) if n_scored else None
    if not n:
        return CorrectedMean(
            system=name,
            n=0,
            n_scored=n_scored,
            measure_mean=mean,
            people_mean=None,
            people_low=None,
            people_high=None,
            why="no labelled answer has a score",
        )
    others = known.copy()
    others[questions] = False
    alone = (
        within(people_mean(people, labelled.ends), labelled.bounds) if n > 1 else Estimate(float(people[0]), None, None)
    )
    both = powered_mean(people, values[questions], values[others], labelled.ends)
    corrected = CorrectedMean(
        system=name,
        n=n,
        n_scored=n_scored,
        measure_mean=mean,
        people_mean=alone.mean,
        people_low=alone.low,
        people_high=alone.high,
    )
    if both is None:
        few = f"{plural(n, 'labelled answer')} with a score: {FEWEST} are needed to correct the measure"
        return replace(corrected, why=few)
    both = within(both, labelled.bounds)
    return replace(
        corrected,
        mean=both.mean,
        low=both.low,
        high=both.high,
        weight=both.weight,
        effective=effective_labels(n, alone, both),
    )


def within(estimate: Estimate, bounds: tuple[float, float]) -> Estimate:
    """The same, no end of it past what the measure can be."""
    mean, low, high = (
        None if v is None else float(np.clip(v, *bounds)) for v in (estimate.mean, estimate.low, estimate.high)
    )
    return Estimate(mean if mean is not None else estimate.mean, low, high, estimate.weight)
