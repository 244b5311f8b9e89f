"""quote_not_found: the quote that is to hold the answer does not stand in its chunk."""

from __future__ import annotations

from collections.abc import Sequence

from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import one_line, shortened

_LEAST = 3  # words; fewer say nothing about where the answer stands


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if not draft.answerable:
        return None
    if len(draft.quotes) != len(draft.fragments):
        return f"{len(draft.quotes)} quotes were given for {len(draft.fragments)} chunks."
    for quote, fragment in zip(draft.quotes, draft.fragments, strict=True):
        told = one_line(quote)
        if not told:
            return f"No quote from {fragment.chunk.id} was given, or none that stands there."
        if told not in one_line(fragment.chunk.text):
            return f'"{shortened(told)}" does not stand in {fragment.chunk.id}.'
        if len(told.split()) < _LEAST:
            return f'"{told}" is too short a quote to say where the answer stands.'
    return None


filter = Filter("quote_not_found", "the quote that is to hold the answer does not stand in its chunk", _find, 20)
