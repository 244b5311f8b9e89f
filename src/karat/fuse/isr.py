"""ISR: inverse square rank (Mourão, Martins and Magalhães 2015). Ranks count, the first ones most."""

from __future__ import annotations

import numpy as np

from karat.fuse._fusion import Contributions, Fusion
from karat.fuse._legs import Legs


def contribute(legs: Legs) -> Contributions:
    """1 / rank squared, times the number of legs that found the hit."""
    table = np.where(legs.rank > 0, 1 / np.maximum(legs.rank, 1).astype(np.float64) ** 2, 0.0)
    return Contributions(table, table * legs.found)


fusion = Fusion("isr", "inverse square rank: legs that found the hit x the sum of 1 / rank squared", contribute)
