"""Answerable after all: a question without an answer has one."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.words import excerpt
from karat.testset.check._check import Draft, Surroundings, draft_filter
from karat.testset.check._surroundings import DEPTH

SURE = 0.7
"""Confidence of the extractive answerer, over the twenty nearest chunks, from which it counts as answered. Of the eight
unanswerable questions of the demo's dev half none passes .65."""


@draft_filter(65)
def answerable_after_all(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """A question that is to have no answer has one."""
    if draft.answerable:
        return None
    asked = surroundings.stems(draft.text)
    rows = surroundings.near(draft.text)
    for row in rows:
        if asked and asked <= surroundings.row_stems(row):
            return f"{surroundings.chunks[row].id} holds every telling word of it."
    answer = surroundings.reply(draft.text, rows[:DEPTH])
    if answer.confidence is not None and answer.confidence >= SURE:
        return f'The chunks answer it: "{excerpt(answer.text or "", 80)}" (confidence {answer.confidence:.2f}).'
    return None
