import pytest

from karat.core.text import LANGUAGES, NORMS, guess_language, sentences, stop_words
from karat.core.text.citations import citations, cited_sentences, with_places, without_citations
from karat.core.text.sentences import sentence_spans


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is the old bridge of the city?", "en"),
        ("Где находится старый мост города?", "ru"),
        ("शहर का पुराना पुल कहाँ है?", "hi"),
        ("Wo steht die alte Brücke der Stadt?", "de"),
        ("Où est le vieux pont de la ville ?", "fr"),
        ("¿Dónde está el viejo puente de la ciudad?", "es"),
        ("Tokyo", "en"),
        ("42", "en"),
        ("Модель GPT умеет писать", "ru"),
        ("東京はどこですか", None),
    ],
)
def test_language_is_guessed(text, language):
    assert guess_language(text) == language


def test_stop_words_are_normalised_and_never_numbers():
    assert "dont" in stop_words("en", "squad")
    assert "don't" in stop_words("en", "plain")
    assert {"и", "на"} <= stop_words("ru", "words")
    assert {"है", "में"} <= stop_words("hi", "squad")
    assert stop_words(None, "squad") == frozenset()
    for language in LANGUAGES:
        for norm in NORMS:
            words = stop_words(language, norm)
            assert len(words) > 100
            assert not any(any(c.isnumeric() for c in word) for word in words)
    assert not {"one", "two", "dos", "zwei", "deux", "два", "दो"} & frozenset().union(
        *(stop_words(language, "plain") for language in LANGUAGES)
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Rao paid 3.5 lakh. Why? See fig. 2.", ["Dr. Rao paid 3.5 lakh.", "Why?", "See fig. 2."]),
        ("J. K. Rowling wrote it. It sold.", ["J. K. Rowling wrote it.", "It sold."]),
        ("He said “Go.” Then he left!", ["He said “Go.”", "Then he left!"]),
        ("В 2020 г. Москва росла. Это много, т.е. хорошо!", ["В 2020 г. Москва росла.", "Это много, т.е. хорошо!"]),
        ("Пришёл друг, т. е. Иван. Это т. н. Дом.", ["Пришёл друг, т. е. Иван.", "Это т. н. Дом."]),
        ("डॉ. राव आए। वे 3.5 किमी चले। क्यों?", ["डॉ. राव आए।", "वे 3.5 किमी चले।", "क्यों?"]),
        ("東京です。大きい！", ["東京です。", "大きい！"]),
        ("1. First\n2. Second\n\nEnd", ["1. First", "2. Second", "End"]),
        ("wrapped\nline. Next", ["wrapped\nline.", "Next"]),
        ("Wait... no", ["Wait...", "no"]),
        ("  ", []),
    ],
)
def test_sentences(text, parts):
    assert sentences(text) == parts


def test_long_runs_of_stops_are_read_in_one_pass():
    assert sentences("." * 100_000 + "x") == ["." * 100_000 + "x"]


def test_spans_say_where_the_sentences_stand():
    assert sentence_spans("  One. \n\n Two!\n- three ") == [(2, 6), (10, 14), (15, 22)]
    assert sentence_spans(" \n\n ") == []


def test_citations():
    assert citations("a [1], b [2, 3][1] c [5-7] d [^9] e [2020] f [x] g [3–2]") == (1, 2, 3, 5, 6, 7, 9)
    assert citations("Paris (source 2), (Sources: 1, 3) [source 4]; see (2) and (resource 5)") == (2, 1, 3, 4)
    assert without_citations("a [1][2-3], [x]") == "a, [x]"
    assert without_citations("Paris (source 2)[1]is.[3] (see 2)") == "Paris is. (see 2)"
    assert cited_sentences("One [1]. Two. [2] Three.[3,4] [5]") == [
        ("One.", (1,)),
        ("Two.", (2,)),
        ("Three.", (3, 4, 5)),
    ]
    assert cited_sentences('He said "Paris." [1] It rains.” [2] 雨。[3]') == [
        ('He said "Paris."', (1,)),
        ("It rains.”", (2,)),
        ("雨。", (3,)),
    ]
    assert cited_sentences("[1][2, 3]") == []


@pytest.mark.parametrize(
    ("text", "ids", "numbered"),
    [
        ("It is so [b].", ["a", "b"], "It is so [2]."),
        ("So [b][a], so [a; b] and [a,b].", ["a", "b"], "So [2][1], so [1,2] and [1,2]."),
        ("So [c], [a or b], [a, c] and [].", ["a", "b"], "So [c], [a or b], [a, c] and []."),
        ("So [1] and [b, 1].", ["a", "b"], "So [1] and [2,1]."),
        ("So [2] and [9] and [7].", ["2", "9"], "So [2] and [2] and [7]."),
        ("So [Rules, 2nd ed.pdf].", ["x", "Rules, 2nd ed.pdf"], "So [2]."),
        ("So [a].", ["a", "a"], "So [1]."),
        ("So [2024] and [a\n].", ["a"], "So [2024] and [1]."),
        ("So [a].", [], "So [a]."),
    ],
)
def test_marks_that_name_contexts(text, ids, numbered):
    assert with_places(text, ids) == numbered


def test_sentences_that_cite_ids():
    said = "One [geo#2]. Two (see [below]).[geo#1][geo#2] Three."
    assert cited_sentences(said, ["geo#1", "geo#2"]) == [
        ("One.", (2,)),
        ("Two (see [below]).", (1, 2)),
        ("Three.", ()),
    ]
    assert cited_sentences("One [geo#2].") == [("One [geo#2].", ())]
