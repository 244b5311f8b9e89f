"""answered_elsewhere: too many chunks answer it. Up to a few others that clearly do join its gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat.core.text import guess_language
from karat.core.text.detect import VERDICTS
from karat.core.text.support import Claim, Held
from karat.models.terms import terms
from karat.results.drafts import Draft, Fragment
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import one_line, without_asking

MOST = 3  # other chunks that may join the gold; a question that more chunks answer is too general to tell them apart
_ANSWER, _QUESTION = 0.9, 0.8  # weight of the stems of either that two neighbouring sentences have to hold
_WORTH = 0.75  # of the question's weight that a chunk has to hold to be looked at closely


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | Draft | None:
    if not draft.answerable or not draft.answer:
        return None
    mine = {fragment.row for fragment in draft.fragments}
    answer = surroundings.stems(draft.answer) - VERDICTS
    asked = surroundings.stems(without_asking(draft.text)) - answer
    joined: list[tuple[Fragment, str]] = []
    for row in surroundings.near(draft.text):
        if row in mine:
            continue
        quote = _repeated(draft, row, surroundings) or _told(draft.answer, asked, answer, row, surroundings)
        if quote:
            chunk = surroundings.chunks[row]
            language = guess_language(chunk.text) or draft.fragments[0].language
            joined.append((Fragment(row, chunk, language), quote))
    if len(joined) > MOST:
        return (
            f"{len(joined)} other chunks answer it, among them {joined[0][0].chunk.id}; with more than {MOST} a "
            "question is too general."
        )
    if not joined:
        return None
    more = tuple(fragment for fragment, _ in joined)
    quotes = tuple(quote for _, quote in joined)
    return replace(draft, fragments=draft.fragments + more, quotes=draft.quotes + quotes)


def _repeated(draft: Draft, row: int, surroundings: Surroundings) -> str:
    """A quote of the draft that stands in this chunk too, as where chunks overlap."""
    text = surroundings.line(row)
    return next((quote for quote in draft.quotes if one_line(quote) in text), "")


def _told(said: str, asked: frozenset[str], answer: frozenset[str], row: int, surroundings: Surroundings) -> str:
    """Two neighbouring sentences of the chunk, or one, that hold the answer and what is asked; "" where none do."""
    held = surroundings.row_stems(row)
    if not answer or not asked or surroundings.share(answer, held) < _ANSWER:
        return ""
    if surroundings.share(asked, held) < _WORTH:
        return ""
    parts = surroundings.parts(row)
    windows = [parts[i : i + size] for size in (1, 2) for i in range(len(parts) - size + 1)]
    for window in windows:
        stems = frozenset[str]().union(*(part.stems for part in window))
        if surroundings.share(answer, stems) < _ANSWER or surroundings.share(asked, stems) < _QUESTION:
            continue
        held_there = Held.of("\n".join(part.text for part in window), None, terms)
        if not Claim.of(said, None, terms).against(held_there).figures:
            return _between(surroundings.chunks[row].text, window[0].text, window[-1].text)
    return ""


def _between(text: str, first: str, last: str) -> str:
    start = text.find(first)
    return text[start : text.find(last, start) + len(last)]


filter = Filter("answered_elsewhere", "too many chunks answer it; a few others join its gold", _find, 70)
