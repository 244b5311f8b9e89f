"""Rankings in, one ranking out. One way of fusing a file; `FUSIONS` is the door."""

from karat.fuse._fusion import FUSIONS, Fusion, Parts, Shares
from karat.fuse._legs import Legs

__all__ = ["FUSIONS", "Fusion", "Legs", "Parts", "Shares"]
