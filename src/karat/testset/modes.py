"""Modes: whether a kind of question repeats the words of its source or promises others."""

from __future__ import annotations

MODES = {
    "literal": "literal",
    "paraphrase": "semantic",
    "scenario": "semantic",
    "paraphrased": "semantic",
    "semantic": "semantic",
    "paraphrase_or_scenario": "semantic",
}
"""The mode of evaluation that a kind of question belongs to: semantic ones promise other words than the text's."""


def mode_of(kind: str | None) -> str | None:
    """literal or semantic, by the kind of a question; None for other kinds."""
    return MODES.get((kind or "").strip().lower())
