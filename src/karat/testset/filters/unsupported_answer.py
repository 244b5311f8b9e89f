"""unsupported_answer: what the draft calls the answer does not follow from its gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat.core.text.support import SUPPORTED, Claim, Held
from karat.models.terms import terms
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import shortened

_LITERAL, _FREE = 0.8, SUPPORTED  # share of the answer that the gold has to hold
_WORDED_FREELY = frozenset(
    ("paraphrase", "paraphrased", "scenario", "comparative", "multi_hop", "inferential", "ambiguous", "false_premise")
)
_IN_QUOTE = 0.5  # of those, how many the quote itself has to hold


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if not draft.answerable or not draft.answer:
        return None
    quote = "\n".join(draft.quotes)
    text = "\n".join(f"{one.chunk.title or ''}\n{one.chunk.text}" for one in draft.fragments)
    language = draft.fragments[0].language if draft.fragments else None
    gold, quoted = (Held.of(held, language, terms) for held in (f"{text}\n{quote}", quote))
    asked = Held.of(draft.text, language, terms)
    claim = Claim.of(draft.answer, language, terms).without(asked.words)
    wrong = claim.against(Held.together((gold, asked))).figures
    if wrong:
        return f"Its answer holds {', '.join(wrong)}, which the chunk does not."
    claim = replace(claim, figures=tuple(one for one in claim.figures if asked.readings.isdisjoint(one)))
    if not len(claim):
        return None
    least = _FREE if draft.kind in _WORDED_FREELY else _LITERAL
    in_gold = claim.against(gold)
    if not in_gold.enough(least):
        lacking = ", ".join(in_gold.words[:5])
        return f'The chunk does not bear out the answer, "{shortened(draft.answer)}": it says nothing of {lacking}.'
    if claim.against(quoted).share < _IN_QUOTE * least:
        return f'Its quote does not hold the answer, "{shortened(draft.answer)}".'
    return None


filter = Filter("unsupported_answer", "the answer does not follow from its gold", _find, 60)
