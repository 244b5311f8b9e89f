"""What is said when the contexts hold no answer."""

import pytest

from karat.answer._declining import declined
from karat.core.text.refusals import declines

QUESTIONS = {
    "en": "Where does the river rise?",
    "ru": "Где берёт начало река?",
    "de": "Wo entspringt der Fluss?",
    "fr": "Où est la source de la rivière ?",
    "es": "¿Dónde nace el río que cruza la ciudad?",
    "hi": "नदी कहाँ से निकलती है?",
    "other": "東京",
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_the_sentence_is_known_to_decline(language):
    assert declines(declined(QUESTIONS[language]))


def test_it_is_said_in_the_language_of_the_question():
    assert len({declined(question) for question in QUESTIONS.values()}) == len(QUESTIONS) - 1
    assert declined(QUESTIONS["other"]) == declined(QUESTIONS["en"])
