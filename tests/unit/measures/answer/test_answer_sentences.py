"""Support by sentence and completeness, by hand."""

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.text.support import Claim


def supported(answer, *contexts, measure="SentenceSupport"):
    data = AnswerTable(
        ("s",), ("q",), texts=[""], answers=[answer], references=[()], contexts=[contexts], answerable=[True]
    )
    return parse(measure).of(data)


def complete(answer, *references, question=""):
    return parse("Completeness").of(
        AnswerTable(
            ("s",),
            ("q",),
            texts=[question],
            answers=[answer],
            references=[references],
            contexts=[None],
            answerable=[True],
        )
    )


def test_each_sentence_stands_on_its_nearest_sentence():
    found = supported(
        "The red pump needs oil [2]. Cats purr loudly. Yes, it is.",
        "Nothing here.",
        "It rains. The red pump is fed with oil twice.",
    )
    assert found.values == pytest.approx([1 / 2])  # yes alone claims nothing
    first, second = found.details[0]["sentences"]
    assert first == {
        "text": "The red pump needs oil.",
        "support": pytest.approx(3 / 4),  # red, pump, oil, not needs
        "supported": True,
        "by": {"context": 2, "text": "The red pump is fed with oil twice."},
        "missing_numbers": [],
    }
    assert (second["supported"], second["by"], second["support"]) == (False, None, 0.0)


def test_a_sentence_of_stop_words_is_not_counted():
    found = supported("The pump is red. It is what it is.", "The pump is red.")
    assert found.values.tolist() == [1]
    assert [one["text"] for one in found.details[0]["sentences"]] == ["The pump is red."]


def test_a_number_that_the_sentence_lacks_is_not_supported():
    found = supported("Repairs take 72 hours.", "Repairs take 24 hours.")
    (one,) = found.details[0]["sentences"]
    assert found.values.tolist() == [0]
    assert (one["support"], one["missing_numbers"]) == (pytest.approx(3 / 4), ["72"])
    assert one["by"]["text"] == "Repairs take 24 hours."
    assert supported("It cost 1,000 on 5 May 2020.", "It cost 1000 on 2020-05-05.").values.tolist() == [1]


def test_a_sentence_with_the_numbers_goes_before_one_with_more_words():
    found = supported("The big pump takes 72 hours daily.", "The big pump takes 24 hours daily. A pump takes 72 hours.")
    (one,) = found.details[0]["sentences"]
    assert one["by"]["text"] == "A pump takes 72 hours."
    assert (one["supported"], one["support"]) == (True, pytest.approx(4 / 6))


def test_the_threshold_says_how_much_is_enough():
    answer, context = "Red pumps need oil.", "Red pumps shine."
    assert supported(answer, context).values.tolist() == [1]
    assert supported(answer, context, measure="SentenceSupport(threshold=.6)").values.tolist() == [0]
    for wrong in ("0", "1.5"):
        with pytest.raises(UsageError, match="a share above 0, up to 1"):
            supported(answer, context, measure=f"SentenceSupport(threshold={wrong})")


def test_what_a_refusal_and_an_empty_answer_rest_on_is_undefined():
    assert supported("I do not know.", "a pump").undefined == {0: "the answer declines"}
    assert supported("", "a pump").undefined == {0: "the answer is empty"}
    assert supported("It is.", "a pump").undefined == {0: "the answer has no content words"}
    assert not supported("I do not know.", "a pump").details


def test_no_contexts_support_nothing():
    found = supported("Red pumps need oil.")
    assert found.values.tolist() == [0]
    assert found.details[0]["sentences"][0]["by"] is None


def test_completeness_weighs_the_sentences_of_the_reference_alike():
    found = complete("Open the valve, then wait.", "Open the valve slowly and wait. Close it after 30 minutes.")
    # open valve wait, not slowly; of close, minutes and 30 nothing
    assert found.values == pytest.approx([(3 / 4 + 0) / 2])
    detail = found.details[0]
    assert [one["missing"] for one in detail["reference_sentences"]] == [["slowly"], ["close", "minutes", "30"]]
    assert detail["missing"] == [{"claim": "Close it after 30 minutes.", "terms": ["close", "minutes", "30"]}]


def test_completeness_takes_the_best_reference_and_shows_that_one():
    found = complete("Paris", "Paris, the capital of France", "Paris")
    assert found.values.tolist() == [1]
    assert found.details[0]["reference"] == "Paris"


def test_completeness_compares_figures_by_value_and_does_not_mind_more():
    assert complete("In 1000 cases, on 2020-06-05 and later.", "1,000 cases on 5 June 2020").values.tolist() == [1]


def test_a_reference_of_stop_words_is_compared_by_them():
    assert complete("No, it does not.", "No.", question="Does it?").values.tolist() == [1]
    assert complete("Yes.", "No.", question="Does it?").values.tolist() == [0]
    assert complete("1. yes", "1. ").values.tolist() == [1]


def test_completeness_of_nothing():
    assert complete("", "Paris").values.tolist() == [0]
    assert complete("<think>Paris</think>", "Paris").values.tolist() == [0]
    assert complete("Paris").undefined == {0: "no reference answer"}
    assert np.isnan(complete("Paris", "...").values[0])


def test_a_sentence_said_a_thousand_times_is_looked_for_once_and_no_further_than_it_stands(monkeypatch):
    looked = []
    against = Claim.against
    monkeypatch.setattr(Claim, "against", lambda claim, held: looked.append(held.text) or against(claim, held))
    contexts = ("Snow falls.", "The watch lasts four hours.", "Nobody looks here.")
    shown = supported("The watch lasts four hours. " * 1000, *contexts).details[0]["sentences"]
    assert (len(shown), {one["by"]["context"] for one in shown}) == (1000, {2})
    assert looked == ["Snow falls.", "The watch lasts four hours."]
