"""Bands and targets: what a mean of MRR, Recall, TokenF1 or SemanticSimilarity is called, and values to reach."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from karat.results.evaluation import Summary, Target

if TYPE_CHECKING:
    from karat.core.measure import Measure

Band = tuple[float, str, str]  # from this mean up, its name, what it means

BANDS: dict[str, tuple[Band, ...]] = {
    "MRR": (
        (0.90, "Excellent", "the first relevant hit is almost always at rank 1"),
        (0.70, "Good", "the first relevant hit is typically in the top 2"),
        (0.50, "Moderate", "the first relevant hit is usually in the top 3-4"),
        (0.30, "Fair", "the first relevant hit is often below rank 3"),
        (0.00, "Poor", "the first relevant hit is far down or missing"),
    ),
    "Recall": (
        (0.90, "Excellent", "almost everything relevant is found"),
        (0.70, "Good", "most of what is relevant is found"),
        (0.50, "Moderate", "half or more of what is relevant is found"),
        (0.30, "Fair", "much of what is relevant is missing"),
        (0.00, "Poor", "most of what is relevant is missing"),
    ),
    "TokenF1": (
        (0.80, "Excellent", "the words are almost those of the reference"),
        (0.60, "Good", "most of the reference's words are there"),
        (0.40, "Moderate", "the words overlap in part with the reference"),
        (0.20, "Fair", "some of the reference's words are there"),
        (0.00, "Poor", "hardly any of the reference's words are there"),
    ),
    "SemanticSimilarity": (
        (0.85, "High", "the meaning is close to the reference"),
        (0.80, "Production-grade", "the meaning is as close as production systems bring it"),
    ),
}
_REL = re.compile(r"\(rel=\d+\)")  # a relevance threshold does not make another target
TARGETS: Mapping[str, float] = {"F1@5": 0.5, "Hit@5": 0.8, "MRR": 0.5}


def band(measure: Measure, mean: float | None) -> tuple[str, str] | None:
    """The band of a mean and its meaning; None where the measure has no bands or the mean stands below them all."""
    if mean is None:
        return None
    for floor, name, meaning in BANDS.get(measure.spec.name, ()):
        if mean >= floor - 1e-12:
            return name, meaning
    return None


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
        reached.append(Target(summary.system, summary.measure, threshold, summary.mean, met, ceiling))
    return tuple(reached)
