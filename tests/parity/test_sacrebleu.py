"""BLEU and chrF against sacrebleu's own sentence scores."""

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from karat.core.answered import AnswerTable
from karat.core.language import parse

WORDS = ["the", "cat", "Cat", "sat,", "on", "mat.", "10.5", "кот", "сидел", "बिल्ली", "में"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=15).map(" ".join)


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=2)), min_size=1, max_size=4))
def test_sentence_scores_equal_sacrebleu(rows):
    n = len(rows)
    answers, references = [r[0] for r in rows], [tuple(r[1]) for r in rows]
    answered = AnswerTable(
        ("s",),
        tuple(map(str, range(n))),
        texts=[""] * n,
        answers=answers,
        references=references,
        contexts=[None] * n,
        answerable=[True] * n,
    )
    bleu, chrf = parse("BLEU").of(answered), parse("chrF").of(answered)
    for i, (answer, several) in enumerate(rows):
        assert bleu.values[i] * 100 == pytest.approx(max(sacrebleu.sentence_bleu(answer, [r]).score for r in several))
        assert chrf.values[i] * 100 == pytest.approx(sacrebleu.sentence_chrf(answer, several).score)
