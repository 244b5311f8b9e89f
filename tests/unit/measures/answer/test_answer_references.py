"""EM, TokenF1, ROUGE, LengthRatio, AnswerRelevance: answers beside references, by hand."""

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.scores import MeasureResult


def answered(rows, systems=("s",)) -> AnswerTable:
    """Rows of (answer, references) or (answer, references, question), one a pair."""
    rows = [(*row, "")[:3] for row in rows]
    questions = tuple(f"q{i}" for i in range(len(rows) // len(systems)))
    return AnswerTable(
        systems,
        questions,
        texts=[r[2] for r in rows],
        answers=[r[0] for r in rows],
        references=[tuple(r[1]) for r in rows],
        contexts=[None] * len(rows),
        answerable=[True] * len(rows),
    )


def outcome(measure: str, *rows, **keywords) -> MeasureResult:
    result = parse(measure).of(answered(rows, **keywords))
    assert isinstance(result, MeasureResult)
    assert {i for i, v in enumerate(result.values) if np.isnan(v)} == set(result.undefined)
    return result


def value(measure: str, answer, *references, question="") -> float:
    return float(outcome(measure, (answer, references, question)).values[0])


VECTORS = [
    ("The capital of France is Paris", "Paris is the capital city of France", (0.9231, 0.9231, 0.9231, 0.9091)),
    ("Paris paris, Paris!", "Paris", (1, 0.5, 1, 0.5)),
    ("Set eth0 10.0.0.1/24.", "set eth0 10.0.0.1/24", (1, 0.6667, 0.6667, 1)),
    ("<think>x y</think>The answer", "answer", (0.5, 0.5, 0.5, 1)),
]


@pytest.mark.parametrize(("answer", "reference", "expected"), VECTORS)
def test_worked_vectors(answer, reference, expected):
    measures = (
        "TokenF1(bag=set, norm=words)",
        "TokenF1(bag=set, norm=plain)",
        "TokenF1(bag=set, norm=technical)",
        "TokenF1",
    )
    assert [value(m, answer, reference) for m in measures] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("name", ["F1_token", "answer_f1", "token_f1", "tokenf1"])
def test_names_of_others(name):
    assert str(parse(name)) == "TokenF1"
    assert str(parse("tokenf1(norm=WORDS, bag=set)")) == "TokenF1(bag=set, norm=words)"


def test_an_unknown_normaliser_is_refused():
    with pytest.raises(UsageError, match="norm=french is not one of unicode, squad, words, technical, plain"):
        parse("EM(norm=french)")


@pytest.mark.parametrize(
    ("answer", "reference", "em", "f1"),
    [
        ("The Paris!", "paris", 1, 1),
        ("paris france", "france paris", 0, 1),
        ("in paris", "paris", 0, 2 / 3),
        ("Москва, Россия", "москва — россия", 1, 1),
        ("город Москва", "Москва", 0, 2 / 3),
        ("हिन्दी की किताब।", "हिन्दी किताब", 0, 0.8),
        ("किताब", "कताब", 0, 0),  # the vowel sign is part of the word
        ("b b c", "b b b", 0, 2 / 3),
    ],
)
def test_em_and_token_f1(answer, reference, em, f1):
    assert value("EM", answer, reference) == em
    assert value("TokenF1", answer, reference) == pytest.approx(f1)


def test_rouge_by_hand():
    answer, reference = "one two three four", "two one three five four"
    assert value("ROUGE-L", answer, reference) == pytest.approx(2 * 3 / 9)  # one three four
    assert value("ROUGE-1", answer, reference) == pytest.approx(2 * 4 / 9)
    assert value("ROUGE-2", answer, "two three four one two") == pytest.approx(2 * 3 / 7)
    assert value("ROUGE-L", "в лесу родилась ёлочка", "ёлочка родилась в лесу") == pytest.approx(2 * 2 / 8)
    assert value("ROUGE-L", "दिल्ली भारत की राजधानी है", "भारत की राजधानी दिल्ली है") == pytest.approx(2 * 4 / 10)


def test_the_best_of_several_references_counts():
    for measure in ("EM", "TokenF1", "ROUGE-L", "ROUGE-1"):
        assert value(measure, "paris", "lyon", "paris", "nice") == 1
        assert value(measure, "paris", "lyon", "...") == 0  # an empty one among them is passed over
    assert value("ROUGE-2", "big paris", "lyon", "big paris") == 1
    assert value("LengthRatio", "one two three", "x y", "x y z", "x") == 1


ALL = ("EM", "TokenF1", "TokenF1(bag=set)", "ROUGE-L", "ROUGE-1", "ROUGE-2", "LengthRatio", "BLEU", "chrF")


@pytest.mark.parametrize("measure", ALL)
def test_missing_and_empty(measure):
    result = outcome(
        measure,
        ("paris is big", ()),
        (None, ["it is"]),
        ("", ["it is"]),
        ("<think>it is</think>", ["it is"]),
        ("it is", ["it is"]),
    )
    assert result.values[1:] == pytest.approx([0, 0, 0, 1])
    assert result.undefined == {0: "no reference answer"}


def test_a_reference_that_normalises_to_nothing_is_none():
    for measure in ("EM", "TokenF1", "ROUGE-L", "ROUGE-1", "ROUGE-2", "LengthRatio"):
        assert outcome(measure, ("it", ["The ..."])).undefined == {
            0: "the reference answer is empty after normalisation (unicode)"
        }
    assert outcome("TokenF1(norm=plain)", ("it", ["..."])).values[0] == 0
    assert "stop words dropped" in outcome("TokenF1(stopwords=drop)", ("x", ["it is"])).undefined[0]
    for measure in ("BLEU", "chrF"):
        assert outcome(measure, ("it", [" <think>x"])).undefined == {0: "the reference answer is empty"}


def test_rouge_2_of_a_single_word_is_zero_as_rouge_score_has_it():
    result = outcome("ROUGE-2", ("paris", ["paris"]), ("paris", ["big paris"]), ("big paris", ["paris", "big paris"]))
    assert result.values.tolist() == [0, 0, 1]


def test_stop_words_are_dropped_by_language():
    assert value("TokenF1(stopwords=drop)", "it is the river Seine", "Seine") == pytest.approx(2 / 3)
    assert value("TokenF1(stopwords=drop)", "это река и город", "река", question="Что это?") == pytest.approx(2 / 3)
    assert value("TokenF1(stopwords=drop)", "यह नदी है", "नदी") == 1
    assert value("TokenF1(stopwords=drop)", "it is 1 and 2", "1 2") == 1
    assert value("TokenF1", "it is 1 and 2", "1 2") == pytest.approx(4 / 7)


def test_length_ratio():
    assert value("LengthRatio", "one two three", "one two") == 1.5
    assert value("LengthRatio", "one two three", "x", "x y z w", "x y z w v u") == pytest.approx(3 / 4)
    assert parse("LengthRatio").bounds == (0, np.inf)


def test_answer_relevance():
    assert value("AnswerRelevance", "Paris is the capital", question="What is the capital?") == pytest.approx(2 * 2 / 6)
    assert value("AnswerRelevance", None, question="What?") == 0
    assert outcome("AnswerRelevance", ("x", ())).undefined == {0: "the question is empty after normalisation (unicode)"}


def test_several_systems_share_references():
    rows = [("paris", ["paris"]), ("x", ["berlin", "bonn"]), ("lyon", ["paris"]), ("bonn", ["berlin", "bonn"])]
    for measure in ("EM", "TokenF1", "ROUGE-L"):
        assert outcome(measure, *rows, systems=("a", "b")).values.tolist() == [1, 0, 0, 1]


def test_no_rows_at_all():
    for measure in ALL:
        assert len(outcome(measure).values) == 0


def test_texts_are_normalised_once_for_all_measures(monkeypatch):
    from karat.core.text import codes

    calls = []
    clean = codes.clean_all
    monkeypatch.setattr(codes, "clean_all", lambda texts, norm: calls.append(norm) or clean(texts, norm))
    rows = answered([("one two", ["two three"])])
    for measure in ("EM", "TokenF1", "TokenF1(bag=set)", "ROUGE-L", "ROUGE-1", "ROUGE-2", "LengthRatio"):
        parse(measure).of(rows)
    assert calls == ["unicode"]


def test_texts_are_normalised_once_under_a_script_too(monkeypatch):
    """EM and TokenF1 compare references that the rules leave empty, ROUGE does not: the same tokens serve both."""
    from karat.core.text import codes

    calls = []
    clean = codes.clean_all
    monkeypatch.setattr(codes, "clean_all", lambda texts, norm: calls.append(norm) or clean(texts, norm))
    rows = answered([("one two", ["two three"]), ("the", ["a"])])
    for measure in ("EM", "TokenF1", "ROUGE-L", "LengthRatio"):
        parse(f"{measure}(norm=squad)").of(rows)
    assert calls == ["squad"]
    assert 1 in parse("ROUGE-L(norm=squad)").of(rows).undefined


CITED = "It is Paris [1], the capital (source 2).[1, 3]"
BARE = "It is Paris, the capital."


@pytest.mark.parametrize(
    "measure",
    ["EM", "TokenF1", "ROUGE-1", "ROUGE-2", "ROUGE-L", "LengthRatio", "BLEU", "chrF", "EM(norm=plain)",
     "TokenF1(norm=technical)", "TokenF1(norm=words, bag=set)"],
)  # fmt: skip
def test_citation_marks_are_no_words(measure):
    assert value(measure, CITED, BARE) == value(measure, BARE, CITED) == value(measure, BARE, BARE)
    assert value(measure, BARE, BARE) == pytest.approx(1)
    assert value("AnswerRelevance", CITED, question="What is Paris?") == value(
        "AnswerRelevance", BARE, question="What is Paris?"
    )


@pytest.mark.parametrize("norm", ["squad", "hybrid-rag", "rag-benchmark"])
def test_citation_marks_are_words_to_the_scripts_of_others(norm):
    assert value(f"TokenF1(norm={norm})", "Paris [1]", "Paris") == pytest.approx(2 / 3)


def test_a_text_of_nothing_but_marks_is_compared_by_them():
    assert value("EM", "[3]", "[3]") == 1
    assert value("EM", "[3]", "[4]") == 0


def test_a_vocabulary_past_all_characters(monkeypatch):
    from karat.measures.answer import rouge_l

    rows = ("one two three four", ["two one three five four"])
    before = outcome("ROUGE-L", rows).values[0]
    monkeypatch.setattr(rouge_l, "_CHARACTERS", 1)
    assert outcome("ROUGE-L", rows).values[0] == before == pytest.approx(2 * 3 / 9)


def test_bleu_and_chrf_by_hand():
    assert value("BLEU", "the cat sat on the mat", "the cat sat on the mat") == 1
    # unigrams 2/3, bigrams 1/2, then nothing longer matches: 1 trigram, smoothed to 1/2
    assert value("BLEU", "the cat ran", "the cat sat") == pytest.approx((2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3))
    assert value("chrF", "кот", "кот") == 1
    assert value("chrF", "xyz", "кот") == 0


def test_without_sacrebleu_the_error_says_what_to_install(monkeypatch):
    import sys

    from karat.core.errors import KaratError

    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    for measure in ("BLEU", "chrF"):
        with pytest.raises(KaratError, match=r"pip install 'karat\[bleu\]'"):
            value(measure, "x", "x")
