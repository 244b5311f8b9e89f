"""unsupported_answer: what the draft calls the answer does not follow from its gold."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._support import content, missing_figures, with_figures
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import shortened

_LITERAL, _FREE = 0.8, 0.5  # share of the answer's stems that the gold has to hold
_WORDED_FREELY = frozenset(
    ("paraphrase", "paraphrased", "scenario", "comparative", "multi_hop", "inferential", "ambiguous", "false_premise")
)
_IN_QUOTE = 0.5  # of those, how many the quote itself has to hold


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if not draft.answerable or not draft.answer:
        return None
    quote = "\n".join(draft.quotes)
    text = "\n".join(f"{one.chunk.title or ''}\n{one.chunk.text}" for one in draft.fragments)
    wrong = missing_figures(draft.answer, f"{text}\n{draft.text}")
    if wrong:
        return f"Its answer holds {', '.join(wrong)}, which the chunk does not."
    stems, asked = content(draft.answer, surroundings), surroundings.stems(draft.text)
    new = stems - asked
    if not new:
        return None
    in_quote = len(new & with_figures(surroundings.stems(quote), quote)) / len(new)
    if in_quote == 1:
        return None
    in_gold = len(new & with_figures(surroundings.stems(text), text)) / len(new)
    least = _FREE if draft.kind in _WORDED_FREELY else _LITERAL
    if in_gold >= least and in_quote >= _IN_QUOTE * least:
        return None
    if in_gold >= least:
        return f'Its quote does not hold the answer, "{shortened(draft.answer)}".'
    lacking = ", ".join(sorted(new - surroundings.stems(text))[:5])
    return f'The chunk does not bear out the answer, "{shortened(draft.answer)}": it says nothing of {lacking}.'


filter = Filter("unsupported_answer", "the answer does not follow from its gold", _find, 60)
