import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core.text import NORMS, normalise, tokenise
from karat.core.text.characters import OTHER, PUNCTUATION, SPACE, TECHNICAL, WORD, kind_of
from karat.core.text.normalise import clean_all


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("unicode", "eiffeltower 330m 10001 cafés"),
        ("squad", "eiffeltower 330m 10001 «cafés»"),
        ("words", "the eiffeltower 330m 10001 a cafés"),
        ("technical", "the eiffel-tower: 330m 10.0.0.1 a café/s"),
        ("plain", "the eiffel-tower: 330m; 10.0.0.1 a «café/s»"),
        ("hybrid-rag", "the eiffeltower 330m 10001 a cafés"),
        ("rag-benchmark", "the eiffel-tower: 330m 10.0.0.1 a café/s"),
    ],
)
def test_what_each_normaliser_keeps(norm, expected):
    assert normalise("The Eiffel-Tower:  330m; 10.0.0.1\ta\n«Café/s»", norm) == expected


@pytest.mark.parametrize("norm", ["unicode", "squad", "words", "technical", "plain"])
@pytest.mark.parametrize("text", ["москва — столица", "हिन्दी की किताब में", "নদী", "İstanbul"])
def test_letters_marks_and_numbers_survive_whole(norm, text):
    words = [w for w in text.lower().split() if w != "—"]
    assert [t for t in tokenise(text, norm) if t != "—"] == words


def test_unicode_punctuation_and_white_space():
    assert tokenise("“नमस्ते”\u00a0दुनिया।\u2003Да—нет…") == ["नमस्ते", "दुनिया", "данет"]


def test_symbols_stay_by_default_and_go_in_words():
    assert tokenise("5€ ☂") == ["5€", "☂"]
    assert tokenise("5€ ☂", "words") == ["5"]


@pytest.mark.parametrize("norm", ["unicode", "squad"])
def test_all_ascii_punctuation_is_deleted(norm):
    assert normalise(f"x{string.punctuation}y", norm) == "xy"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a An THE cat", ["cat"]),
        ("the", []),
        ("5€a €an€", ["5€a", "€an€"]),  # an article is a word of its own
        ("a\u0301 the\u0947", ["a\u0301", "the\u0947"]),  # a letter with its mark is no article
        ("ча a", ["ча"]),
    ],
)
def test_articles(text, tokens):
    assert tokenise(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a An THE cat", ["cat"]),
        ("a\x00b", ["\x00b"]),  # the script's word boundary parts an article from what is no word character
        ("5€a a5€", ["5€", "a5€"]),
        ("€a €an€", ["€", "€", "€"]),
        ("a\u0301 a·b", ["\u0301", "·b"]),
        ("“the” the-an", ["“", "”", "thean"]),
        ("<think>x</think>", ["thinkxthink"]),
    ],
)
def test_articles_of_squad_stand_between_word_boundaries(text, tokens):
    assert tokenise(text, "squad") == tokens


@given(st.text())
def test_normal_form_is_stable(text):
    for norm in NORMS:
        tokens = tokenise(text, norm)
        assert normalise(text, norm).split() == tokens
        assert all(token and not any(c.isspace() for c in token) for token in tokens)


@given(st.text(), st.sampled_from(["words", "technical", "plain"]))
def test_characters_are_judged_one_by_one(text, norm):
    gone = {"words": {PUNCTUATION, TECHNICAL, OTHER}, "technical": {PUNCTUATION}, "plain": set()}[norm]
    kept = "".join(" " if kind_of(c) == SPACE else c for c in text.lower() if kind_of(c) not in gone)
    assert tokenise(text, norm) == kept.split()


@given(st.lists(st.text(), max_size=6))
def test_texts_cleaned_together_are_as_if_cleaned_apart(texts):
    for norm in NORMS:
        assert clean_all(texts, norm) == [clean_all([text], norm)[0] for text in texts]


def test_kinds():
    assert {c: kind_of(c) for c in "é७ि ।$☂.\u200b"} == {
        "é": WORD, "७": WORD, "ि": WORD, " ": SPACE, "।": PUNCTUATION, "$": PUNCTUATION, "☂": OTHER, ".": TECHNICAL,
        "\u200b": OTHER,
    }  # fmt: skip
