"""Usage: what a system took, in seconds, tokens or money."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from karat.core.evaluation import Usage


def usage(system: str, what: str, values: Iterable[float | None]) -> Usage | None:
    """Mean, median and 95th percentile (linear) over the rows where the value is known; None if it never is."""
    known = np.array([v for v in values if v is not None and np.isfinite(v)], np.float64)
    if not len(known):
        return None
    p50, p95 = np.percentile(known, [50, 95])
    return Usage(system, what, len(known), float(known.mean()), float(p50), float(p95))
