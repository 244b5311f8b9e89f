"""Quote not found: the quote that is to hold the answer does not stand in its chunk."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.words import excerpt
from karat.testset.check._check import Draft, Surroundings, draft_filter
from karat.testset.lexicon import one_line

_LEAST = 3  # words; fewer say nothing about where the answer stands


@draft_filter(20)
def quote_not_found(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The quote that is to hold the answer does not stand in its chunk."""
    if not draft.answerable:
        return None
    if len(draft.quotes) != len(draft.fragments):
        return f"{len(draft.quotes)} quotes were given for {len(draft.fragments)} chunks."
    for quote, fragment in zip(draft.quotes, draft.fragments, strict=True):
        line = one_line(quote)
        if not line:
            return f"No quote from {fragment.chunk.id} was given, or none that stands there."
        if line not in one_line(fragment.chunk.text):
            return f'"{excerpt(line, 80)}" does not stand in {fragment.chunk.id}.'
        if len(line.split()) < _LEAST:
            return f'"{line}" is too short a quote to say where the answer stands.'
    return None
