"""CombMNZ (Fox and Shaw 1993): CombSUM times the number of legs that found the hit."""

from __future__ import annotations

from karat.fuse._fusion import Contributions, Fusion
from karat.fuse._legs import Legs


def contribute(legs: Legs) -> Contributions:
    """The min-max-normalised score times the number of legs that found the hit.

    A leg's last hit counts as found, although its normalised score is 0.
    """
    table = legs.normalised("minmax")
    return Contributions(table, table * legs.found)


fusion = Fusion("combmnz", "CombSUM times the number of legs that found the hit", contribute)
