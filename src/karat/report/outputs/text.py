"""Text: report.txt, what the screen shows with -v, the same on every machine."""

from __future__ import annotations

from karat.report._output import Output
from karat.report.build.evaluation import document
from karat.report.document import Detail
from karat.report.render import console
from karat.results.evaluation import Evaluation

WIDTH = 120


def render(evaluation: Evaluation) -> str:
    """The whole report."""
    return console.render(document(evaluation), Detail.FULL, width=WIDTH)


OUTPUT = Output(".txt", render, {"report.txt": render})
