"""An evaluation as people and programs read it: one renderer a file."""

from karat.report._output import OUTPUTS, Output
from karat.report._tracker import TRACKERS, TrackedRun, TrackedSystem, Tracker

__all__ = ["OUTPUTS", "TRACKERS", "Output", "TrackedRun", "TrackedSystem", "Tracker"]
