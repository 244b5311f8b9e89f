"""HTML: a study as one page that needs no network: what was found first, then every figure and question behind it."""

from karat.report.html.page import render

__all__ = ["render"]
