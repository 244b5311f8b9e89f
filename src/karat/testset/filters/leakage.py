"""leakage: the question leans on a passage that nobody but its author sees."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.detect import passage_reference
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    for what, text in (("question", draft.text), ("answer", draft.answer or "")):
        words = passage_reference(text)
        if words:
            return f'The {what} leans on a passage that the asker does not see: "{words}".'
    return None


filter = Filter("leakage", "the question or its answer leans on a passage that the asker does not see", _find, 15)
