"""CombSUM (Fox and Shaw 1993): the sum of the legs' scores."""

from __future__ import annotations

from karat.fuse._fusion import Contributions, Fusion
from karat.fuse._legs import Legs


def contribute(legs: Legs) -> Contributions:
    """The min-max-normalised score."""
    table = legs.normalised("minmax")
    return Contributions(table, table)


fusion = Fusion("combsum", "sum of the legs' min-max-normalised scores", contribute)
