"""The chat client against a server that misbehaves: nothing lost, nothing paid twice, no key anywhere."""

import logging
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter

import pytest

from karat.core.errors import KaratError
from karat.core.models import Prompt
from karat.models.chat import Budget, Calls, Chat, ChatSettings
from karat.testing import FakeLLM, Fault

KEY = "sk-proj-Zx81-unmistakable-0123456789"
PASSING = {
    Fault("too_many", times=2): 0.03,
    Fault("server_error"): 0.04,
    Fault("half"): 0.03,
    Fault("invalid_json"): 0.02,
    Fault("empty"): 0.02,
    Fault("huge"): 0.005,
    Fault("hang"): 0.005,
}
LASTING = {
    Fault("server_error", times=None): 0.02,
    Fault("empty", times=None): 0.01,
    Fault("bad_request", times=None): 0.01,
    Fault("half", times=None): 0.01,
}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def settings(llm, **more):
    return ChatSettings("fake", base_url=llm.base_url, **{"retries": 3, "jobs": 8, "timeout_seconds": 30.0, **more})


@pytest.mark.parametrize(
    ("many", "with_faults", "failing", "asked"),
    [(250, 58, 11, 330), pytest.param(1000, 205, 53, 1316, marks=pytest.mark.slow)],
)
def test_many_questions_with_a_fifth_of_faults(tmp_path, many, with_faults, failing, asked):
    prompts = [Prompt(f"question {n}", system="Answer.") for n in range(many)]
    told = []
    with (
        FakeLLM(lambda request: f"answer to {request.user}", PASSING | LASTING, seed=7) as llm,
        Calls(tmp_path / "calls.sqlite") as calls,
        Chat(
            settings(llm, jobs=8, timeout_seconds=5.0, price_in_usd=1.0, price_out_usd=2.0),
            calls,
            first_wait_seconds=0.01,
        ) as chat,
    ):
        said = chat.ask(prompts, lambda number, what: told.append((number, what)))
        requests = llm.requests
        lasting = {r.user for r in requests if r.fault and r.fault.times is None}
        faulty = {r.user for r in requests if r.fault}

        assert [s.text for s in said] == [None if p.user in lasting else f"answer to {p.user}" for p in prompts]
        assert [s.error is None for s in said] == [p.user not in lasting for p in prompts]
        assert (len(faulty), len(lasting)) == (with_faults, failing)
        assert sorted(number for number, _ in told) == list(range(many))
        assert all(said[number] is what for number, what in told)

        paid = Counter(r.user for r in requests if r.answered)
        assert set(paid.values()) == {1}
        assert len(paid) == many - failing
        assert len(calls) == many - failing
        assert len(calls.failures()) == failing
        spent = chat.spent
        assert (spent.calls, spent.cached, spent.failed, spent.not_asked) == (asked, 0, failing, 0)
        assert len(requests) == asked
        assert sum(s.cost_usd for s in said if s.text) <= spent.cost_usd  # empty replies are billed too
        assert {failed.attempts for failed in calls.failures()} == {1, 4}

        again = chat.ask(prompts[:200])
        asked_again = llm.requests[len(requests) :]
        assert {r.user for r in asked_again} == lasting & {p.user for p in prompts[:200]}
        assert [s.text for s in again] == [s.text for s in said[:200]]
        assert all(s.cached for s in again if s.text)
        assert chat.spent.cached == sum(s.text is not None for s in again)


CLIENT = """
import sys
from karat.core.models import Prompt
from karat.models.chat import Calls, Chat, ChatSettings
url, path = sys.argv[1:]
calls = Calls(path)
chat = Chat(ChatSettings("fake", base_url=url, jobs=4), calls)
try:
    chat.ask([Prompt(f"question {n}") for n in range(400)], lambda n, said: print(n, flush=True))
except KeyboardInterrupt:
    chat.close()
    calls.close()
    sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_what_was_answered_before_the_end_is_not_asked_again(how, tmp_path):
    def reply(request):
        time.sleep(0.01)
        return f"answer to {request.user}"

    path = tmp_path / "calls.sqlite"
    with FakeLLM(reply) as llm:
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, llm.base_url, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        seen = [client.stdout.readline() for _ in range(25)]
        client.send_signal(how)
        rest, errors = client.communicate(timeout=30)
        assert client.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL), errors
        shown = {int(line) for line in [*seen, *rest.split()]}
        before = llm.requests
        assert 25 <= len(shown) <= len(before) < 400

        with Calls(path) as calls:
            stored = {call.request for call in calls}
            assert len(stored) >= len(shown)
            with Chat(settings(llm), calls) as chat:
                said = chat.ask([Prompt(f"question {n}") for n in range(400)])
            assert [s.text for s in said] == [f"answer to question {n}" for n in range(400)]
            assert sum(s.cached for s in said) == len(stored)
            assert all(said[n].cached for n in shown)
        paid = Counter(r.user for r in llm.requests)
        assert sum(paid.values()) == 400 + len(before) - len(stored)
        assert len(before) - len(stored) <= 4  # what was under way


def test_the_key_is_in_no_file_no_log_no_message(tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    shown = []

    def misbehave(request):
        echo = f"you sent {request.headers['Authorization']}"
        return {
            "refused": Fault("bad_request", None, message=echo),
            "broken": Fault("server_error", None, message=echo),
            "many": Fault("too_many", None, retry_after=90, message=echo),
            "half": Fault("half", None),
            "wrong": Fault("unauthorized", None, message=echo),
            "nowhere": Fault("not_found", None, message=echo),
        }.get(request.user)

    with (
        FakeLLM(lambda request: f"you sent {request.headers['Authorization']}", misbehave) as llm,
        Calls(tmp_path / "calls.sqlite", tmp_path / "shared.sqlite") as calls,
        Chat(
            settings(llm, retries=1), calls, Budget(max_calls=50), announce=shown.append, first_wait_seconds=0.01
        ) as chat,
    ):
        said = chat.ask([Prompt(name) for name in ("fine", "refused", "broken", "many", "half")])
        assert [s.error is None for s in said] == [True, False, False, False, False]
        assert said[0].text == "you sent Bearer ${OPENAI_API_KEY}"
        assert "HTTP 400: you sent Bearer ${OPENAI_API_KEY}" in said[1].error
        for name in ("wrong", "nowhere"):
            with pytest.raises(KaratError) as caught:
                chat.ask([Prompt(name)])
            shown += traceback.format_exception(caught.value)
            assert caught.value.__context__ is None
        assert {r.headers["Authorization"] for r in llm.requests} == {f"Bearer {KEY}"}
        shown += [
            repr(thing) for thing in (said, chat, calls, chat.settings, chat.spent, list(calls), calls.failures())
        ]
        shown += [str(chat.settings.plain()), str(vars(chat))]
        files = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"calls.sqlite", "calls.sqlite-wal", "shared.sqlite"} <= set(files)
    files |= {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert [name for name, content in files.items() if b"unmistakable" in content] == []
    out = capfd.readouterr()
    assert "unmistakable" not in "\n".join([*shown, caplog.text, out.out, out.err])
    assert not re.search(r"(?i)httpx|httpcore|openai", "".join(record.name for record in caplog.records))


def test_a_wrong_key_stops_everything_with_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with (
        FakeLLM(faults={Fault("unauthorized", None): 1.0}) as llm,
        Calls(tmp_path / "calls.sqlite") as calls,
        Chat(settings(llm, key_env="MY_KEY", jobs=4), calls) as chat,
    ):
        with pytest.raises(KaratError) as caught:
            chat.ask([Prompt(f"question {n}") for n in range(100)])
        assert str(caught.value) == (
            f"{llm.base_url}/chat/completions refused access (HTTP 401). The environment variable MY_KEY is set, but "
            "the server does not take it: set it to a valid key."
        )
        assert llm.count <= 4


@pytest.mark.slow
def test_processes_share_what_they_pay_for(tmp_path):
    code = """
import sys
from karat.core.models import Prompt
from karat.models.chat import Calls, Chat, ChatSettings
url, own, shared = sys.argv[1:]
with Calls(own, shared) as calls, Chat(ChatSettings("fake", base_url=url), calls) as chat:
    said = chat.ask([Prompt(f"question {n}") for n in range(60)])
    assert all(s.text for s in said), said
"""
    with FakeLLM() as llm:
        words = [sys.executable, "-c", code, llm.base_url]
        env = {**os.environ, "PYTHONWARNINGS": "error"}
        clients = [
            subprocess.Popen([*words, str(tmp_path / f"{n}.sqlite"), str(tmp_path / "shared.sqlite")], env=env)
            for n in range(2)
        ]
        assert [client.wait(60) for client in clients] == [0, 0]
        count = llm.count
        assert 60 <= count <= 120
        subprocess.run([*words, str(tmp_path / "new.sqlite"), str(tmp_path / "shared.sqlite")], check=True, env=env)
        assert llm.count == count
    for name in ("0", "new", "shared"):
        with Calls(tmp_path / f"{name}.sqlite") as calls:
            assert len(calls) == 60
