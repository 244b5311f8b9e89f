"""Markdown: report.md, an evaluation as headings and pipe tables."""

from __future__ import annotations

from karat.report._output import Output
from karat.report.build.evaluation import document
from karat.report.render import markdown
from karat.results.evaluation import Evaluation


def render(evaluation: Evaluation) -> str:
    """The whole report."""
    return markdown.render(document(evaluation))


OUTPUT = Output(".md", render, {"report.md": render})
