"""EM and TokenF1 against SQuAD v1.1's rules, written here once more from their description."""

import re
import string

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.answered import Answered
from karat.core.language import parse

WORDS = [
    "a",
    "an",
    "the",
    "The",
    "A.",
    "an-d",
    "paris",
    "Paris",
    "theatre",
    "U.S.",
    "10.5",
    "'tis",
    "i_j",
    "Москва",
    "हिन्दी",
]
TEXT = (
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
    | st.text(string.printable, max_size=40)
    | st.text(st.characters(codec="ascii"), max_size=30)
    | st.text("aAnthe€ж \x00\x1f_.", max_size=20)
)


def rules(text: str) -> list[str]:
    """Lower case; punctuation deleted; articles as whole words blanked; split on white space."""
    lowered = text.lower()
    for mark in string.punctuation:
        lowered = lowered.replace(mark, "")
    return re.sub(r"\b(?:a|an|the)\b", " ", lowered).split()


def f1(answer: list[str], reference: list[str]) -> float:
    left = list(reference)
    common = 0
    for token in answer:
        if token in left:
            left.remove(token)
            common += 1
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)


@settings(max_examples=300)
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_em_and_token_f1_follow_squad(rows):
    rows = [(answer, references) for answer, references in rows if not any("<" in t for t in (answer, *references))]
    n = len(rows)
    texts = [""] * n
    answers, references = [r[0] for r in rows], [tuple(r[1]) for r in rows]
    answered = Answered(("s",), tuple(map(str, range(n))), texts, answers, references, [None] * n, [True] * n)
    exact, overlap = parse("EM").of(answered), parse("TokenF1").of(answered)
    for i, (answer, several) in enumerate(rows):
        usable = [tokens for tokens in map(rules, several) if tokens]
        if not usable:
            assert i in exact.undefined
            assert np.isnan(overlap.values[i])
            continue
        assert exact.values[i] == max(rules(answer) == reference for reference in usable)
        assert abs(overlap.values[i] - max(f1(rules(answer), reference) for reference in usable)) < 1e-12
