"""An evaluation as people and programs read it: one renderer a file."""

from karat.report._output import OUTPUTS, Output

__all__ = ["OUTPUTS", "Output"]
