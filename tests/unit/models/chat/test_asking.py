"""The chat client with many prompts at once: each asked once, in order, from several threads, and stopped midway."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

from karat.core.errors import UsageError
from karat.core.models import Prompt
from karat.models.chat import Chat, ChatSettings
from karat.testing import FakeLLM, Fault

PRICES = {"price_in_usd": 1.0, "price_out_usd": 2.0}


def test_the_same_prompt_is_asked_once(calls, client):
    with FakeLLM() as llm, client(llm, calls, **PRICES) as chat:
        told = []
        said = chat.ask([Prompt("a"), Prompt("b"), Prompt("a", purpose="other")], lambda n, what: told.append(n))
        assert llm.count == 2
        assert [s.cached for s in said] == [False, False, True]
        assert sorted(told) == [0, 1, 2]
        assert said[0].text == said[2].text
        assert chat.spent.cost_usd == pytest.approx(sum(s.cost_usd for s in said if not s.cached))


def test_the_same_failure_is_met_once(calls, client):
    with FakeLLM(faults={Fault("bad_request", None): 1.0}) as llm, client(llm, calls) as chat:
        first, second = chat.ask([Prompt("a"), Prompt("a")])
        assert first == second
        assert (llm.count, chat.spent.failed) == (1, 1)


def test_threads_that_ask_the_same_at_once_pay_once(calls, client):
    gate = threading.Event()

    def slow(_):
        gate.wait(20)
        return "ok"

    with FakeLLM(slow) as llm, client(llm, calls) as chat:
        found = {}
        threads = [threading.Thread(target=lambda n=n: found.update({n: chat.ask([Prompt("a")])})) for n in range(4)]
        for thread in threads:
            thread.start()
        while not llm.count:
            time.sleep(0.001)
        time.sleep(0.05)
        gate.set()
        for thread in threads:
            thread.join()
        assert llm.count == 1
        assert sorted(said.cached for (said,) in found.values()) == [False, True, True, True]
        assert {said.text for (said,) in found.values()} == {"ok"}
        assert (chat.spent.calls, chat.spent.cached) == (1, 3)


def test_threads_that_ask_the_same_at_once_share_its_failure(calls, client):
    gate = threading.Event()

    def fail(_):
        gate.wait(20)
        return Fault("bad_request", None)

    with FakeLLM("never", fail) as llm, client(llm, calls) as chat:
        found = {}
        threads = [threading.Thread(target=lambda n=n: found.update({n: chat.ask([Prompt("a")])})) for n in range(3)]
        for thread in threads:
            thread.start()
        while not llm.count:
            time.sleep(0.001)
        time.sleep(0.05)
        gate.set()
        for thread in threads:
            thread.join()
        assert (llm.count, chat.spent.failed, len(calls.failures())) == (1, 1, 1)
        assert {said.error for (said,) in found.values()} == {calls.failures()[0].reason}
        chat.ask([Prompt("a")])  # asked later, it is asked anew
        assert llm.count == 2


def test_what_another_client_paid_for_meanwhile_is_not_paid_again(calls, client):
    def reply(request):
        if request.user == "a":
            other.ask([Prompt("b")])
        return "ok"

    with FakeLLM(reply) as llm, client(llm, calls) as other, client(llm, calls, jobs=1) as chat:
        said = chat.ask([Prompt("a"), Prompt("b")])
        assert [s.cached for s in said] == [False, True]
        assert llm.count == 2
        assert chat.spent.calls == 1


def test_no_more_at_once_than_jobs(calls, client):
    lock, now, most = threading.Lock(), 0, 0

    def watch(_):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return "ok"

    with FakeLLM(watch) as llm, client(llm, calls, jobs=3) as chat:
        prompts = [Prompt(f"{n}") for n in range(20)]
        threads = [threading.Thread(target=chat.ask, args=(part,)) for part in (prompts[:10], prompts[10:])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert llm.count == 20
    assert most == 3


def test_no_more_a_minute_than_told(calls, monkeypatch, client):
    waits = []
    sleep = asyncio.sleep

    async def counted(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", counted)
    with FakeLLM() as llm, client(llm, calls, per_minute=2, jobs=1) as chat:
        chat.ask([Prompt(f"{n}") for n in range(4)])
    assert [wait > 50 for wait in waits] == [False, False, True, True]


def test_the_wait_for_the_rate_limit_is_no_part_of_the_seconds(calls, monkeypatch, client):
    slept = 0.0
    sleep, monotonic = asyncio.sleep, time.monotonic

    async def skipped(seconds):
        nonlocal slept
        slept += seconds
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", skipped)
    monkeypatch.setattr("karat.models.chat._asking.time", SimpleNamespace(monotonic=lambda: monotonic() + slept))
    replies = ["fine", Fault("server_error"), "fine"]
    with FakeLLM(replies) as llm, client(llm, calls, per_minute=1, jobs=1) as chat:
        said = chat.ask([Prompt("a"), Prompt("b")])
    assert slept > 100
    assert [(one.text, 0 < one.seconds < 30) for one in said] == [("fine", True)] * 2
    assert all(call.seconds < 30 for call in calls)


def test_all_is_told_from_the_thread_that_asks(calls, client):
    seen, steps = [], []
    with FakeLLM() as llm, client(llm, calls, progress=lambda *step: steps.append(step)) as chat:
        chat.ask([Prompt("a", purpose="judge"), Prompt("b")], lambda n, what: seen.append(threading.current_thread()))
    assert set(seen) == {threading.current_thread()}
    assert [(done, total) for _, done, total in steps] == [(1, 2), (2, 2)]
    assert {what for what, _, _ in steps} == {"judge", "asking"}


def test_an_error_of_the_listener_stops_the_rest_and_keeps_what_was_said(calls, client):
    def full(number, said):
        raise OSError("disk full")

    with FakeLLM() as llm, client(llm, calls, jobs=2) as chat:
        with pytest.raises(OSError, match="disk full"):
            chat.ask([Prompt(f"{n}") for n in range(200)], full)
        assert llm.count < 200
        assert 1 <= len(calls) <= llm.count
        assert all(s.text == "ok" for s in chat.ask([Prompt(f"{n}") for n in range(5)]))


def test_within_a_running_loop_as_in_a_notebook(calls, client):
    async def cell():
        with FakeLLM() as llm, client(llm, calls) as chat:
            return chat.ask([Prompt("a")])

    assert asyncio.run(cell())[0].text == "ok"


def test_closed_and_asked_again(calls, client):
    with FakeLLM() as llm:
        chat = client(llm, calls)
        chat.ask([Prompt("a")])
        chat.close()
        chat.close()
        assert chat.ask([Prompt("b")])[0].text == "ok"
        chat.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "karat endpoint"]


def test_closed_while_it_is_asked(calls, client):
    with FakeLLM(lambda request: "ok" if request.user == "a" else Fault("hang")) as llm:
        chat = client(llm, calls, jobs=1)
        with pytest.raises(UsageError, match=r"closed while it was being asked\. What was answered is kept"):
            chat.ask([Prompt("a"), Prompt("b")], lambda number, said: chat.close())
        assert len(calls) == 1


def test_nothing_to_ask(calls):
    chat = Chat(ChatSettings("m"), calls)
    assert chat.ask([]) == []
    assert chat.label == "m"
    assert chat.fingerprint == ChatSettings("m").fingerprint
