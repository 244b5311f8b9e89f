"""Usage: what a system took, in seconds, tokens or money."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from karat.results.evaluation import Usage


def usage(system: str, what: str, values: Iterable[float | None]) -> Usage | None:
    """Mean, spread and percentiles (linear) over the rows where the value is known; None if it never is."""
    known = np.array([v for v in values if v is not None and np.isfinite(v)], np.float64)
    if not len(known):
        return None
    least, p50, p95, most = map(float, np.percentile(known, [0, 50, 95, 100]))
    std = float(known.std(ddof=1)) if len(known) > 1 else None
    return Usage(system, what, len(known), float(known.mean()), p50, p95, std, least, most)
