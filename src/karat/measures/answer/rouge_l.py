"""ROUGE-L."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from karat.core.measure import AnswerTable, Ints, MeasureResult, Norm, measure
from karat.core.text.characters import text_of
from karat.core.text.codes import TokenIds
from karat.measures.answer._compared import compared

_CHARACTERS = 0x110000  # that a text can hold


@measure(
    name="ROUGE-L",
    aliases=("rougeL", "rouge_l_f1", "rougeL_fmeasure"),
    needs_gold=False,
    needs_reference=True,
    formula="2 x LCS / (answer tokens + reference tokens)",
    defined_by="Lin (2004), F1 as rouge-score computes it",
    best_for="longer answers, where word order matters",
    prefer="TokenF1 for answers of a few words, a judge when paraphrase is expected",
)
def rouge_l(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """2 * LCS / (length of the answer + length of the reference), in tokens, the best of several references.

    Equals rouge-score's rougeL given the same tokens; rouge-score itself splits at every character but a-z and 0-9 and
    may stem. An empty answer scores 0.
    """
    beside = compared(answered, norm)
    common = longest_common(beside.answers, beside.others, beside.size)
    return beside.best(2.0 * common / (beside.answers.sizes + beside.others.sizes))


def longest_common(left: TokenIds, right: TokenIds, size: int) -> Ints:
    """The length of the longest common subsequence of text i of both sides, for each i."""
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    if not len(left):
        return np.zeros(0, np.int64)
    ours, theirs = _sequences(left, size), _sequences(right, size)
    lengths: Ints = cpdist(ours, theirs, scorer=LCSseq.similarity, dtype=np.int64)
    return lengths


def _sequences(coded: TokenIds, size: int) -> Sequence[str] | Sequence[list[int]]:
    """Each text as a string, one character a token, which rapidfuzz reads fastest; past all characters, as numbers."""
    bounds = pairwise(coded.offsets.tolist())
    if size < _CHARACTERS:
        text = text_of(coded.codes.astype(np.uint32))
        return [text[start:end] for start, end in bounds]
    numbers = coded.codes.tolist()
    return [numbers[start:end] for start, end in bounds]
