"""Targets: values to reach, and whether this gold lets anyone reach them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from karat.results.evaluation import Summary, Target

_REL = re.compile(r"\(rel=\d+\)")  # a relevance threshold does not make another target
TARGETS: Mapping[str, float] = {"F1@5": 0.5, "Hit@5": 0.8, "MRR": 0.5}


def targets(summaries: Iterable[Summary], ceilings: Mapping[str, float]) -> tuple[Target, ...]:
    """One target per system and measure that has one, over all questions; met means above, not at.

    Where all lists end before the cut-off there is none: what stands below is not known.

    `ceilings` holds the highest mean this gold allows by measure name; without an entry it is 1.
    """
    found = []
    for summary in summaries:
        threshold = TARGETS.get(_REL.sub("", summary.measure))
        whole = summary.slice is None and (summary.n or summary.n_failed)
        if threshold is None or not whole or summary.lists_end is not None:
            continue
        met = None if summary.mean is None else summary.mean > threshold
        ceiling = ceilings.get(summary.measure, 1.0)
        found.append(Target(summary.system, summary.measure, threshold, summary.mean, met, ceiling))
    return tuple(found)
