"""answer_in_question: the question gives its answer away."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.drafts import Draft
from karat.core.text import normalise
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import shortened


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if not draft.answerable or not draft.answer:
        return None
    answer, question = surroundings.stems(draft.answer), surroundings.stems(draft.text)
    if answer and answer <= question:
        return f'The question holds every telling word of its answer, "{shortened(draft.answer)}".'
    told = normalise(draft.answer, "words")
    if not answer and told and f" {told} " in f" {normalise(draft.text, 'words')} " and len(told.split()) > 1:
        return f'The question holds its answer, "{shortened(draft.answer)}".'
    return None


filter = Filter("answer_in_question", "the question gives its answer away", _find, 30)
