"""ROUGE-L."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.core.text import Norm
from karat.measures.answer._compared import compared
from karat.measures.answer._subsequence import longest_common

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.scores import Outcome


@measure(
    name="ROUGE-L",
    aliases=("rougeL", "rouge_l_f1", "rougeL_fmeasure"),
    needs_gold=False,
    best_for="longer answers, where word order matters",
    prefer="TokenF1 for answers of a few words, a judge when paraphrase is expected",
)
def rouge_l(answered: Answered, *, norm: Norm = "unicode") -> Outcome:
    """2 * LCS / (length of the answer + length of the reference), in tokens, the best of several references.

    Equals rouge-score's rougeL given the same tokens; rouge-score itself splits at every character but a-z and 0-9 and
    may stem. An empty answer scores 0.
    """
    beside = compared(answered, norm)
    common = longest_common(beside.answers, beside.others, beside.size)
    return beside.best(2.0 * common / (beside.answers.sizes + beside.others.sizes))
