"""Targets: values to reach, and whether this gold lets anyone reach them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from karat.core.evaluation import Summary, Target

TARGETS: Mapping[str, float] = {"F1@5": 0.5, "Hit@5": 0.8, "MRR": 0.5}


def targets(summaries: Iterable[Summary], ceilings: Mapping[str, float]) -> tuple[Target, ...]:
    """One target per system and measure that has one, over all questions; met means above, not at.

    `ceilings` holds the highest mean this gold allows by measure name; without an entry it is 1.
    """
    return tuple(
        Target(
            system=summary.system,
            measure=summary.measure,
            threshold=TARGETS[summary.measure],
            value=summary.mean,
            met=None if summary.mean is None else summary.mean > TARGETS[summary.measure],
            ceiling=ceilings.get(summary.measure, 1.0),
        )
        for summary in summaries
        if summary.slice is None and summary.measure in TARGETS
    )
