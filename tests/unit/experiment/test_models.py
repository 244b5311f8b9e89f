"""Means from plain choices: what is there, what is asked for, and that nothing is loaded before it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from karat.answer import AnswererSettings, answerer_named
from karat.core.errors import UsageError
from karat.core.language import parse, parse_all
from karat.core.models import Prompt
from karat.experiment.models import (
    CALLS,
    ChatOnDemand,
    ModelSettings,
    check_named,
    check_needs,
    close,
    models_of,
    spent_by,
    spent_notes,
)
from karat.models import EmbedderSettings
from karat.models.chat import ChatSettings
from karat.systems.index import index
from karat.testing import FakeLLM


def test_wordllama_is_there_by_default_and_nothing_else():
    models = models_of()
    assert models.able == ("embedder",)
    assert models.embedder_label == "wordllama"
    assert models.embedder() is models.embedder()
    assert models.embedder().embed(["a pump"], "passage").shape == (1, 256)


def test_the_embedder_of_an_index_goes_before_wordllama_and_one_that_is_named_before_both(tmp_path):
    (tmp_path / "a.txt").write_text("The pump is red.")
    prefixed = EmbedderSettings(passage_prefix="passage: ")
    dense = index(tmp_path / "a.txt", tmp_path / "dense", embedder=prefixed)
    assert models_of(index=dense).embedder().settings == prefixed
    sparse = index(tmp_path / "a.txt", tmp_path / "sparse", engines="bm25")
    assert models_of(index=sparse).embedder_label == "wordllama"
    named = ModelSettings.of({"base_url": "http://127.0.0.1:1/v1", "key_env": "KEY"}, embedder="openai:small")
    assert named.embedder.base_url == "http://127.0.0.1:1/v1"
    assert models_of(named, index=dense).embedder_label == "openai:small"


def test_nothing_is_opened_before_it_is_asked_for(tmp_path):
    settings = ModelSettings.of({"model": "m", "base_url": "http://127.0.0.1:1/v1"}, cross_encoder=tmp_path / "none")
    models = models_of(settings.within(tmp_path))
    assert models.able == ("chat", "embedder", "cross_encoder")
    assert models.chat.label == "m"
    assert (spent_by(models), spent_notes(models)) == (None, [])
    close(models)
    assert list(tmp_path.iterdir()) == []


def test_answers_of_a_chat_model_are_known_by_all_that_it_is_asked_with():
    def fingerprint(**parameters):
        models = models_of(ModelSettings(chat=ChatSettings("m", **parameters)))
        return answerer_named(AnswererSettings("chat"), models).fingerprint

    ways = [{}, {"temperature": 0.7}, {"seed": 1}, {"max_tokens": 9}, {"base_url": "http://h/v1"}]
    assert len({fingerprint(**way) for way in ways}) == len(ways)
    assert fingerprint(retries=0, jobs=1) == fingerprint()


def test_calls_are_kept_where_it_is_said_and_what_was_spent_is_told(tmp_path):
    said = []
    with FakeLLM(reply="yes") as llm:
        settings = ModelSettings.of(
            {"model": "m", "base_url": llm.base_url, "price_in": 1.0, "price_out": 1.0, "announce": said.append}
        )
        for expected in (1, 0):
            models = models_of(settings.within(tmp_path / "out"))
            assert [s.text for s in models.chat.ask([Prompt("is it?")])] == ["yes"]
            close(models)
            spent = spent_by(models)
            assert (spent["model"], spent["calls"]) == ("m", expected)
            assert spent_notes(models)[0].text.startswith("m: ")
        assert llm.count == 1
    assert (tmp_path / "out" / CALLS).is_file()
    assert len(said) == 1


def test_calls_without_a_place_are_gone_when_the_means_are_closed():
    with FakeLLM(reply="yes") as llm:
        models = models_of(ModelSettings.of({"model": "m", "base_url": llm.base_url}))
        models.chat.ask([Prompt("is it?"), Prompt("is it?")])
        folder = models.chat._folder.name
        close(models)
        assert llm.count == 1
    assert not Path(folder).exists()


def test_a_reply_of_unknown_cost_counts_in_the_budget_of_the_model_that_is_asked_next(tmp_path):
    with FakeLLM(reply="yes") as llm:
        of = {"base_url": llm.base_url, "price_in": 1.0, "price_out": 1.0, "max_cost": 1.0, "calls": tmp_path / CALLS}
        first = ChatOnDemand(ModelSettings.of({"model": "a", **of}))
        first.ask([Prompt("is it?")])
        first._chat._ledger.take(0.9)
        first._chat._ledger.pay(0.9, None, None)
        assert first.spent.cost_usd is None
        second = ChatOnDemand(ModelSettings.of({"model": "b", **of}), after=first)
        second.ask([Prompt("is it?")])
        assert second._chat.budget.max_cost_usd == pytest.approx(0.1, abs=1e-3)
        first.close()
        second.close()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"base_url": "http://x/v1"}, "--base-url is for a chat model, and none is named"),
        ({"price_in": 1.0}, "--price-in is for a chat model"),
        ({"max_calls": 1}, "--max-calls is for a chat model"),
        ({"calls": "c.sqlite"}, "--calls is for a chat model"),
        ({"repeat": 0}, "repeat=0: a judge is asked once or more"),
    ],
    ids=["base_url", "price_in", "max_calls", "calls", "repeat"],
)
def test_what_would_change_nothing_or_cannot_be_is_refused(given, said):
    with pytest.raises(UsageError, match=said):
        ModelSettings.of(given)


def test_a_measure_whose_model_is_not_there_is_refused_by_name():
    check_needs(parse_all("SBERT, TokenF1, Faithfulness(by=heuristic)"), models_of())
    with pytest.raises(UsageError, match=r"CrossEncoder needs a cross-encoder\. .* --cross-encoder"):
        check_needs([parse("CrossEncoder")], models_of())
    with pytest.raises(UsageError, match=r"Faithfulness needs a chat model\. .*--model.*Faithfulness\(by=heuristic\)"):
        check_needs([parse("Faithfulness")], models_of())


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        ({"chat": "m"}, "Faithfulness"),
        ({"cross_encoder": "f"}, "CrossEncoder"),
        ({"embedder": "wordllama"}, "SBERT"),
    ],
    ids=["model", "cross_encoder", "embedder"],
)
def test_a_model_that_no_measure_asks_is_refused(given, measure):
    settings = ModelSettings.of(**given)
    check_named(settings, [parse(measure)])
    with pytest.raises(UsageError, match="would change nothing"):
        check_named(settings, [parse("TokenF1")])


def test_settings_do_not_bring_the_client():
    code = (
        "import sys; from karat.experiment.models import ModelSettings, models_of; models_of();"
        "print([m for m in sys.modules if m.startswith(('openai', 'torch', 'wordllama', 'safetensors'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
