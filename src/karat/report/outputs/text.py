"""Text: report.txt, the console's tables without colour, every measure of every slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report import console
from karat.report._output import Output

if TYPE_CHECKING:
    from karat.results.evaluation import Evaluation

WIDTH = 120


def render(evaluation: Evaluation) -> str:
    """The report as plain tables, the same on every machine."""
    return console.render(evaluation, width=WIDTH, full=True)


OUTPUT = Output(".txt", render, {"report.txt": render})
