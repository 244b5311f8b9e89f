"""Renderers: one medium a file, each showing any document."""

from __future__ import annotations

from karat.report.document import Detail, Document


def written(document: Document, ending: str) -> str:
    """The document as a file of this ending holds it: .md, .txt or .html."""
    if ending == ".md":
        from karat.report.render.markdown import render as as_markdown

        return as_markdown(document)
    if ending == ".html":
        from karat.report.render.html import render as as_html

        return as_html(document)
    from karat.report.render.console import render as as_text

    return as_text(document, Detail.FULL)
