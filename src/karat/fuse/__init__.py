"""Rankings in, one ranking out. One way of fusing a file; `FUSIONS` is the door."""

from karat.fuse._fusion import FUSIONS, Contributions, FusedParts, Fusion
from karat.fuse._legs import Legs

__all__ = ["FUSIONS", "Contributions", "FusedParts", "Fusion", "Legs"]
