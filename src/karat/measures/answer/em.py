"""EM."""

from __future__ import annotations

import numpy as np

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._compared import compared_as_script


@measure(
    name="EM",
    aliases=("exact_match", "ExactMatch", "accuracy_exact"),
    needs_gold=False,
    needs_reference=True,
    formula="1 if the normalised answer = a normalised reference, else 0",
    defined_by="SQuAD v1.1 (Rajpurkar et al., 2016)",
    best_for="short factual answers with one right form",
    prefer="TokenF1 when an answer may be worded in many ways",
)
def em(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """1 if the normalised answer equals a normalised reference, else 0.

    Under `norm=squad` it is the SQuAD v1.1 script's on any input: a reference that its rules leave empty matches an
    answer that they leave empty. Elsewhere such a reference is none, and an empty answer scores 0.
    """
    beside = compared_as_script(answered, norm)
    values = np.zeros(len(beside.owners))
    level = np.flatnonzero(beside.answers.sizes == beside.others.sizes)
    answers, others = beside.answers.take(level), beside.others.take(level)
    differing = np.bincount(answers.owners, answers.codes != others.codes, minlength=len(level))
    values[level] = differing == 0
    return beside.best(values)
