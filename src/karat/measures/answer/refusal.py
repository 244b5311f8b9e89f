"""Refusal."""

from __future__ import annotations

import numpy as np

from karat.core.measure import AnswerTable, Column, measure
from karat.core.text.blocks import drop_blocks
from karat.core.text.refusals import declines


@measure(
    name="Refusal",
    aliases=("refusal_accuracy", "abstention"),
    needs_gold=False,
    formula="1 if the answer declines exactly where the question is unanswerable, else 0",
    defined_by="karat",
    best_for="test sets with unanswerable questions",
    prefer="TokenF1 or a judge for whether what it answers is right",
)
def refusal(answered: AnswerTable) -> Column:
    """1 if the answer declines an unanswerable question or answers an answerable one, else 0.

    Declining is recognised by phrases in English, Russian, Hindi, German, French and Spanish in the first sentence ("I
    don't know", "the context does not mention"). An empty answer neither answers nor declines, so it scores 0.
    """
    values = np.zeros(len(answered))
    for pair, (answer, answerable) in enumerate(zip(answered.answers, answered.answerable, strict=True)):
        if answer and drop_blocks(answer).strip():
            values[pair] = declines(answer) != answerable
    return values
