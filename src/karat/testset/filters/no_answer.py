"""no_answer: an answerable draft whose answer is missing, a refusal, or its own question."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text import normalise
from karat.core.text.refusals import declines
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import shortened

_LONGEST = 120  # words; a reference answer that is longer is a copy of the chunk


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if not draft.answerable:
        return None
    answer = (draft.answer or "").strip()
    if not normalise(answer, "words"):
        return "It has no answer."
    if declines(answer):
        return f'Its answer is a refusal: "{shortened(answer)}".'
    if normalise(answer, "words") == normalise(draft.text, "words") or answer.endswith(("?", "？")):
        return f'Its answer is a question: "{shortened(answer)}".'
    size = len(answer.split())
    return f"Its answer has {size} words, more than {_LONGEST}." if size > _LONGEST else None


filter = Filter("no_answer", "the answer is missing, a refusal, or the question again", _find, 12)
