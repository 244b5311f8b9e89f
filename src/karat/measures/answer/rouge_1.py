"""ROUGE-1."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._compared import compared, overlap


@measure(
    name="ROUGE-1",
    aliases=("rouge1", "rouge1_fmeasure"),
    needs_gold=False,
    needs_reference=True,
    formula="2 x shared words / (answer words + reference words)",
    defined_by="Lin (2004), F1 as rouge-score computes it",
    best_for="comparing with published ROUGE-1 figures",
    prefer="ROUGE-L when word order matters",
)
def rouge_1(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """F1 of the words that the answer shares with a reference, the best of several.

    Equals rouge-score given the same tokens; rouge-score itself splits at every character but a-z and 0-9 and may stem.
    With the same normaliser it is TokenF1.
    """
    beside = compared(answered, norm)
    return beside.best(overlap(beside))
