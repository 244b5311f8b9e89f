"""Markdown: report.md, an evaluation as headings and pipe tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report._output import Output
from karat.report.build.evaluation import document
from karat.report.render import markdown

if TYPE_CHECKING:
    from karat.results.evaluation import Evaluation


def render(evaluation: Evaluation) -> str:
    """The whole report."""
    return markdown.render(document(evaluation))


OUTPUT = Output(".md", render, {"report.md": render})
