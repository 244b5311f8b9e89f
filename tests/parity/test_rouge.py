"""ROUGE-1, ROUGE-2 and ROUGE-L against rouge-score, given karat's tokens."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.text import NORMS, tokenise

WORDS = ["the", "cat", "Cat", "sat", "on", "mat.", "x", "y", "10.5", "кот", "сидел", "बिल्ली", "में"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
KINDS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}


class Tokens:
    """karat's tokens in the shape rouge-score asks for."""

    def __init__(self, norm):
        self.norm = norm

    def tokenize(self, text):
        return tokenise(text, self.norm)


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), st.sampled_from(NORMS))
def test_rouge_equals_rouge_score(rows, norm):
    n = len(rows)
    answers, references = [r[0] for r in rows], [(r[1],) for r in rows]
    answered = AnswerTable(
        ("s",),
        tuple(map(str, range(n))),
        texts=[""] * n,
        answers=answers,
        references=references,
        contexts=[None] * n,
        answerable=[True] * n,
    )
    scorer = rouge_scorer.RougeScorer(list(KINDS.values()), tokenizer=Tokens(norm))
    expected = [scorer.score(reference, answer) for answer, reference in rows]
    for name, kind in KINDS.items():
        found = parse(f"{name}(norm={norm})").of(answered)
        for i, (_, reference) in enumerate(rows):
            if not tokenise(reference, norm):
                assert i in found.undefined
                assert np.isnan(found.values[i])
            else:
                assert abs(found.values[i] - expected[i][kind].fmeasure) < 1e-12
