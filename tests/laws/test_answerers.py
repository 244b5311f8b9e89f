"""Laws of every answerer that needs no network: extractive, reciter."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.answer import AnswererSettings, answerer_named
from karat.core.asked import AnswerRequest, Context
from karat.core.models import Models
from karat.core.text import tokenise

OFFLINE = ["extractive", "reciter"]
WORDS = [
    "the", "a", "not", "water", "Water", "Rome", "Ada Lovelace", "ABC", "(ABC)", "42,000 litres", "3.5 km", "14:00",
    "on Mondays", "because", "is", "in the shed", "вода", "Пётр Ильич", "нет", "5 мая", "पानी", "東京", "|", "\n",
    "\n- ", "\n# ", "1. ", ":", ";", ". ", "? ", "!", "…", "\x00", "\ud800", "\u200b", "(", "\"", "…………", "12 34",
]  # fmt: skip
QUESTIONS = [
    "How many litres of water?",
    "When is it, and where?",
    "Who is Ada?",
    "What does ABC mean?",
    "Why is water in Rome?",
    "Is water in the shed?",
    "Which waters are in Rome?",
    "How do I get water?",
    "What is the difference?",
    "Rome",
    "Сколько воды в Риме?",
    "Где вода и кто Пётр?",
    "Почему нет воды?",
    "पानी कहाँ है?",
    "東京?",
    "",
    "?",
    "\x00",
    "the",
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=12).map("".join),
    st.text(max_size=60),
)
CONTEXTS = st.lists(st.tuples(TEXTS, TEXTS), max_size=4).map(
    lambda pairs: tuple(Context(f"c{i}", text, title) for i, (text, title) in enumerate(pairs))
)
ASKED = st.lists(st.tuples(st.one_of(st.sampled_from(QUESTIONS), TEXTS), CONTEXTS), min_size=1, max_size=4).map(
    lambda rows: [AnswerRequest(f"q{i}", question, contexts) for i, (question, contexts) in enumerate(rows)]
)


class Hashing:
    """An embedder of nothing but characters: enough to tell texts apart, the same in every process."""

    fingerprint = "hashing"

    def embed(self, texts, role):
        rows = np.zeros((len(texts), 16), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for character in text:
                row[ord(character) % 16] += 1
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return rows


MEANS = {"with an embedder": Models(embedder=Hashing), "without": Models()}


def _answers(name, models, asked, **chosen):
    found = {}

    def done(one, answer):
        assert one.id not in found, "done was called twice"
        found[one.id] = answer

    answerer_named(AnswererSettings(name, **chosen), MEANS[models]).answer(asked, done)
    return found


@pytest.mark.parametrize("models", MEANS)
@pytest.mark.parametrize("name", OFFLINE)
@given(asked=ASKED, budget=st.one_of(st.none(), st.integers(1, 30)), most=st.integers(1, 5))
def test_every_question_gets_one_answer_from_what_it_was_given(name, models, asked, budget, most):
    answers = _answers(name, models, asked, contexts=most, context_tokens=budget)
    assert list(answers) == [one.id for one in asked]
    for one in asked:
        answer = answers[one.id]
        assert answer.question == one.id
        assert isinstance(answer.text, str)
        assert answer.error is None
        assert answer.used == tuple(context.id for context in one.contexts[: len(answer.used)])
        assert answer.contexts == tuple(context.text for context in one.contexts[: len(answer.used)])
        assert len(answer.used) <= most
        assert budget is None or sum(len(tokenise(text, "words")) for text in answer.contexts) <= budget
        assert answer.confidence is None or 0 <= answer.confidence <= 1
        assert set(answer.seconds) == {"answer"}
        assert math.isfinite(answer.seconds["answer"])
        assert (answer.tokens, answer.cost_usd) == (None, None)


@pytest.mark.parametrize("models", MEANS)
@pytest.mark.parametrize("name", OFFLINE)
@given(asked=ASKED)
def test_other_questions_change_no_answer(name, models, asked):
    together = _answers(name, models, asked)
    backwards = _answers(name, models, asked[::-1])
    for one in asked:
        alone = _answers(name, models, [one])[one.id]
        for other in (together[one.id], backwards[one.id]):
            assert replace(other, seconds={}) == replace(alone, seconds={})


@pytest.mark.parametrize("name", OFFLINE)
def test_the_fingerprint_tells_apart_what_answers_depend_on(name):
    def fingerprint(models="without", **chosen):
        return answerer_named(AnswererSettings(name, **chosen), MEANS[models]).fingerprint

    assert fingerprint() == fingerprint()
    assert len({fingerprint(), fingerprint(contexts=2), fingerprint(context_tokens=9)}) == 3
