"""answer_in_question: the question gives its answer away."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.detect import holds_answer
from karat.results.drafts import Draft
from karat.testset.audit._lexicon import content_of
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import shortened


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if not draft.answerable or not draft.answer:
        return None
    language = draft.fragments[0].language if draft.fragments else None
    words = [content_of(text, language) for text in (draft.text, draft.answer)]
    if holds_answer(draft.text, draft.answer, *words):
        return f'The question holds its answer, "{shortened(draft.answer)}".'
    return None


filter = Filter("answer_in_question", "the question gives its answer away", _find, 30)
