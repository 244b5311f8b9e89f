"""LaTeX: the table of means for a paper."""

from __future__ import annotations

from karat.report._output import Output
from karat.report.build.evaluation import means
from karat.report.document import Document
from karat.report.lookups import EvaluationView
from karat.report.render import latex
from karat.results.evaluation import Evaluation


def render(evaluation: Evaluation) -> str:
    """Every measure of every system."""
    return latex.render(Document("", [means(EvaluationView(evaluation))]))


OUTPUT = Output(".tex", render)
