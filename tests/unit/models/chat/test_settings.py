"""Settings and budget of the chat client: what can be, what is sent, what a call is known by."""

import pytest

from karat.core.errors import UsageError
from karat.core.models import Prompt
from karat.models import EMBEDDERS
from karat.models.chat import Budget, ChatSettings


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"model": " "}, "a chat model needs a name"),
        ({"temperature": -0.1}, "temperature must be a number, 0 or more, found -0.1."),
        ({"temperature": True}, "temperature must be a number"),
        ({"temperature": float("nan")}, "temperature must be a number"),
        ({"max_tokens": 0}, "max_tokens must be a whole number, 1 or more, found 0."),
        ({"max_tokens": 10.5}, "max_tokens must be a whole number"),
        ({"seed": "x"}, "seed must be a whole number, found 'x'."),
        ({"timeout_seconds": 0}, "timeout_seconds must be a number, 0.001 or more, found 0."),
        ({"retries": -1}, "retries must be a whole number, 0 or more, found -1."),
        ({"jobs": 0}, "jobs must be a whole number, 1 or more, found 0."),
        ({"per_minute": 1.5}, "per_minute must be a whole number, 1 or more, found 1.5."),
        ({"per_minute": 0}, "per_minute must be a whole number, 1 or more, found 0."),
        ({"price_in_usd": -1.0, "price_out_usd": 1.0}, "price_in_usd must be a number, 0 or more, found -1.0."),
        ({"price_in_usd": 1.0}, "give both prices"),
        ({"base_url": "localhost:11434"}, "the base url must look like https://host/v1."),
        ({"base_url": 7}, "base_url must be an address, found 7."),
        ({"extra": {"messages": []}}, '"messages" cannot stand in extra: karat sets it itself.'),
        ({"extra": {"max_tokens": 5}}, "send max_completion_tokens there if the server wants that name"),
        ({"extra": {"max_completion_tokens": 0}}, "max_completion_tokens must be a whole number, 1 or more, found 0."),
        ({"extra": {"api_key": "x"}}, "a key belongs into an environment variable"),
        ({"extra": {"top_p": float("inf")}}, "extra must hold JSON values alone"),
        ({"extra": {"stop": object()}}, "extra must hold JSON values alone"),
        ({"extra": [1]}, "extra must be names with JSON values"),
        ({"modle": "x"}, "unknown chat setting 'modle'. Did you mean model?"),
    ],
)
def test_what_cannot_be_is_refused(values, told):
    with pytest.raises(UsageError) as caught:
        ChatSettings.of({"model": "m", **values})
    assert told in str(caught.value)


def test_a_secret_in_the_wrong_place_is_refused_and_not_repeated():
    for values in (
        {"base_url": "https://me:hunter2@host/v1"}, {"key_env": "sk-hunter2"}, {"key_env": "hf_hunter2hunter2hunter2"},
        {"extra": {"headers": [{"Authorization": "Bearer hunter2"}]}},
    ):  # fmt: skip
        with pytest.raises(UsageError) as caught:
            ChatSettings("m", **values)
        assert "hunter2" not in str(caught.value)


def test_a_model_must_be_named():
    with pytest.raises(UsageError, match="needs a name"):
        ChatSettings.of({})


def test_plain_values_and_back():
    settings = ChatSettings(
        "m", base_url="http://localhost:1/v1/", price_in_usd=0, price_out_usd=0.5, extra={"top_p": 0.5}
    )
    assert ChatSettings.of(settings.plain()) == settings
    assert settings.plain()["extra"] == {"top_p": 0.5}
    assert settings.label == "m"
    assert settings.address == "http://localhost:1/v1"
    assert ChatSettings("m").address == "https://api.openai.com/v1"
    assert hash(settings) == hash(ChatSettings.of(settings.plain()))


def test_what_is_sent():
    prompt = Prompt("Hello?", "Be brief.", turns=("Hi.", "And \ud800 you?"), sample=2, json=True)
    assert ChatSettings("m", seed=5).request(prompt) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello?"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "And \ufffd you?"},
        ],
        "temperature": 0.0,
        "seed": 7,
        "response_format": {"type": "json_object"},
        "max_tokens": 1024,
    }
    bare = ChatSettings("m", temperature=None, seed=None, extra={"max_completion_tokens": 9, "top_p": 1})
    assert bare.request(Prompt("x")) == {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "max_completion_tokens": 9,
        "top_p": 1,
    }
    assert bare.request(Prompt("x", max_tokens=3))["max_completion_tokens"] == 3
    assert ChatSettings("m").request(Prompt("x", max_tokens=3))["max_tokens"] == 3


BASIC = ChatSettings("m")


def test_a_call_is_known_by_what_its_reply_depends_on():
    key = BASIC.key_of(Prompt("x"))
    assert BASIC.key_of(Prompt("x", purpose="judge")) == key
    cheap = ChatSettings("m", key_env="K", timeout_seconds=1, retries=0, jobs=1, price_in_usd=1, price_out_usd=1)
    assert cheap.key_of(Prompt("x")) == key
    assert cheap.fingerprint == BASIC.fingerprint
    others = [
        Prompt("y"),
        Prompt("x", "s"),
        Prompt("x", turns=("a", "b")),
        Prompt("x", sample=1),
        Prompt("x", max_tokens=1),
        Prompt("x", json=True),
    ]
    assert len({key, *(BASIC.key_of(prompt) for prompt in others)}) == 7


@pytest.mark.parametrize(
    "values",
    [
        {"model": "n"},
        {"base_url": "http://h/v1"},
        {"temperature": 1},
        {"max_tokens": 5},
        {"seed": 1},
        {"extra": {"a": 1}},
    ],
    ids=lambda values: next(iter(values)),
)
def test_other_settings_are_other_calls(values):
    other = ChatSettings.of({"model": "m", **values})
    assert other.key_of(Prompt("x")) != BASIC.key_of(Prompt("x"))
    assert other.fingerprint != BASIC.fingerprint


def test_samples_are_told_apart_without_a_seed():
    unseeded = ChatSettings("m", seed=None)
    assert unseeded.key_of(Prompt("x")) != unseeded.key_of(Prompt("x", sample=1))


def test_cost():
    priced = ChatSettings("m", price_in_usd=2.0, price_out_usd=10.0)
    assert priced.cost_of(1000, 100) == pytest.approx(0.003)
    assert priced.cost_of(1000, None) is None
    assert BASIC.cost_of(1000, 100) is None
    assert ChatSettings("m", price_in_usd=0, price_out_usd=0).cost_of(1000, 100) == 0.0


@pytest.mark.parametrize("values", [{"max_cost_usd": -1}, {"max_cost_usd": "1"}, {"max_calls": -1}, {"max_calls": 1.5}])
def test_a_budget_that_cannot_be(values):
    with pytest.raises(UsageError, match=f"{next(iter(values))} must be"):
        Budget(**values)


def test_the_chat_client_is_no_embedder():
    assert not {"chat", "structured"} & {name.lower() for name in EMBEDDERS.names()}


def test_a_temperature_is_the_same_however_it_is_written():
    keys = {ChatSettings("m", temperature=value).key_of(Prompt("x")) for value in (0, 0.0)}
    assert len(keys) == 1
