"""Warnings: what a reader must know before believing a figure, guards that fired first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.html._markup import prose, section, text

if TYPE_CHECKING:
    from karat.report.html._shown import Shown
    from karat.results.evaluation import Note


def make(shown: Shown) -> str:
    """Every note of the evaluation; a line that says so where there is none."""
    notes = shown.evaluation.notes
    if not notes:
        return section("warnings", "Warnings", "<p>No guard fired.</p>")
    ordered = [n for level in ("warning", "info") for n in notes if n.level == level]
    return section("warnings", "Warnings and notes", f'<ul class="notes">{"".join(map(_item, ordered))}</ul>')


def _item(note: Note) -> str:
    guard = f"<b>{text(note.guard)}</b> " if note.guard else ""
    word = "Warning" if note.level == "warning" else "Note"
    return f'<li class="{note.level}"><span class="tag">{word}</span><div>{guard}{prose(note.text)}</div></li>'
