"""A judge behind a real server that misbehaves: every row has its value or its reason, and a rerun costs nothing."""

import json
import re

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.models import Models
from karat.models.chat import Calls, Chat, ChatSettings
from karat.testing import FakeLLM, Fault

ROWS = 30


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def reply(request):
    """Supports every claim of an answer with an even number."""
    asked = next(m["content"] for m in request.messages if m["role"] == "user")
    number = int(re.search(r"item (\d+)", asked)[1])
    if '"claims": ["<' in request.system:
        return json.dumps({"claims": [f"This is item {number}."]})
    word = "supported" if number % 2 == 0 else "contradicted"
    verdict = {"claim": 1, "reason": "r", "contexts": [1], "verdict": word}
    return json.dumps({"verdicts": [verdict]})


def judged(llm, calls, repeat=1):
    settings = ChatSettings("fake", base_url=llm.base_url, retries=4, jobs=8, timeout_seconds=30.0)
    with Chat(settings, calls, first_wait_seconds=0.001) as chat:
        texts = [f"This is item {i}." for i in range(ROWS)]
        answered = AnswerTable(
            ("s",),
            tuple(map(str, range(ROWS))),
            texts=["Which?"] * ROWS,
            answers=texts,
            references=[()] * ROWS,
            contexts=[("c",)] * ROWS,
            answerable=[True] * ROWS,
            models=Models(chat=chat, repeat=repeat),
        )
        return parse("Faithfulness").of(answered)


def test_passing_faults_and_wrong_replies_change_no_value_and_a_rerun_asks_nothing(tmp_path):
    kinds = ["server_error", "half", "prose", "broken_json", "wrong_schema"]

    def faults(request):
        """One of the kinds for the first attempt of each first asking of 20 of the 30; repairs go well."""
        number = int(re.search(r"item (\d+)", request.messages[1]["content"])[1])
        if number >= 20 or len(request.messages) > 2 or request.attempt > 1:
            return None
        return Fault(kinds[number % 5])

    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(reply, faults) as llm:
        outcome = judged(llm, calls)
        assert outcome.failed == {}
        assert outcome.values.tolist() == [float(i % 2 == 0) for i in range(ROWS)]
        assert any(len(shown["raw"]) > 2 for shown in outcome.details.values())
        count = llm.count
        assert count == 2 * (ROWS + 16)  # four of the five kinds cost a request more, prose does not
        again = judged(llm, calls)
        assert llm.count == count
        assert again.values.tolist() == outcome.values.tolist()
        assert dict(again.details) == dict(outcome.details)


def test_a_model_that_never_keeps_to_the_schema_fails_each_of_its_rows(tmp_path):
    def wrong(request):
        bad = re.search(r"item [37]\b", next(m["content"] for m in request.messages if m["role"] == "user"))
        return Fault("wrong_schema", times=None) if bad else None

    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(reply, wrong) as llm:
        outcome = judged(llm, calls)
    assert sorted(outcome.failed) == [3, 7]
    assert np.isnan(outcome.values[[3, 7]]).all()
    assert np.isfinite(np.delete(outcome.values, [3, 7])).all()


def test_repeats_are_paid_for_apart(tmp_path):
    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(reply) as llm:
        outcome = judged(llm, calls, repeat=3)
        assert llm.count == 2 * 3 * ROWS
    assert all(len(shown["repeats"]) == 3 for shown in outcome.details.values())
