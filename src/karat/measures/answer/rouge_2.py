"""ROUGE-2."""

from __future__ import annotations

from dataclasses import replace

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._compared import compared, overlap


@measure(
    name="ROUGE-2",
    aliases=("rouge2", "rouge2_fmeasure"),
    needs_gold=False,
    needs_reference=True,
    formula="2 x shared word pairs / (answer pairs + reference pairs)",
    defined_by="Lin (2004), F1 as rouge-score computes it",
    best_for="long answers, where shared phrases say more than shared words",
    prefer="ROUGE-L or TokenF1 for answers of a few words",
)
def rouge_2(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """F1 of the word pairs that the answer shares with a reference, the best of several.

    Equals rouge-score given the same tokens. A reference of one word holds no pair, so that even a perfect answer
    scores 0: take ROUGE-L or TokenF1 where references are that short.
    """
    beside = compared(answered, norm)
    size = beside.size
    pairs = replace(beside, answers=beside.answers.bigrams(size), others=beside.others.bigrams(size), size=size**2)
    return pairs.best(overlap(pairs))
