"""ROUGE-2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.core.text import Norm
from karat.measures.answer._compared import compared, overlap

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.scores import Outcome


@measure(
    name="ROUGE-2",
    aliases=("rouge2", "rouge2_fmeasure"),
    needs_gold=False,
    best_for="long answers, where shared phrases say more than shared words",
    prefer="ROUGE-L or TokenF1 for answers of a few words",
)
def rouge_2(answered: Answered, *, norm: Norm = "squad") -> Outcome:
    """F1 of the word pairs that the answer shares with a reference, the best of several.

    Equals rouge-score given the same tokens, but for references of one word: they hold no pair, so that even a perfect
    answer could only score 0. rouge-score prints that 0; here the score is undefined.
    """
    beside = compared(answered, norm)
    beside = beside.only(beside.others.sizes > 1, "the reference answer has a single word, so no pair of words")
    size = beside.size
    pairs = replace(beside, answers=beside.answers.bigrams(size), others=beside.others.bigrams(size), size=size**2)
    return pairs.best(overlap(pairs))
