"""The chat client against FakeLLM: what it does with each fault, what it pays, what it says."""

import asyncio
import json
import socket
import threading
import time
from contextlib import suppress
from email.utils import formatdate

import pytest

from karat.core.errors import KaratError, UsageError
from karat.core.means import Prompt
from karat.models.chat import Budget, Calls, Chat, ChatSettings
from karat.testing import FakeLLM, Fault

PRICES = {"price_in_usd": 1.0, "price_out_usd": 2.0}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def calls(tmp_path):
    with Calls(tmp_path / "calls.sqlite") as opened:
        yield opened


def client(llm, calls, budget=None, *, progress=None, announce=None, first_wait=0.001, **settings):
    url = llm if isinstance(llm, str) else llm.base_url
    chosen = ChatSettings("fake", **{"base_url": url, "retries": 2, "timeout_seconds": 30.0, **settings})
    return Chat(chosen, calls, budget, progress, announce=announce, first_wait_seconds=first_wait)


def ask(fault, calls, **settings):
    """What is said to one prompt by a server with a fault, and how often it was asked."""
    with FakeLLM("fine", {fault: 1.0}) as llm, client(llm, calls, **settings) as chat:
        (said,) = chat.ask([Prompt("x")])
        return said, llm.count


def test_a_reply_has_its_numbers(calls):
    with FakeLLM("Nine letters.") as llm, client(llm, calls, **PRICES) as chat:
        (said,) = chat.ask([Prompt("12345678", purpose="answer")])
        assert (said.text, said.error, said.model, said.cached, said.cut) == (
            "Nine letters.",
            None,
            "fake",
            False,
            False,
        )
        assert (said.prompt_tokens, said.completion_tokens) == (2, 4)
        assert said.cost_usd == pytest.approx((2 + 8) / 1e6)
        assert said.seconds > 0
        (call,) = calls
        assert (call.text, call.purpose, call.finish) == ("Nine letters.", "answer", "stop")
        assert json.loads(call.reply)["choices"][0]["message"]["content"] == "Nine letters."
        assert json.loads(call.request) == llm.requests[0].body
        (again,) = chat.ask([Prompt("12345678")])
        assert (again.text, again.cached, again.cost_usd, again.seconds) == (
            said.text,
            True,
            said.cost_usd,
            said.seconds,
        )
        assert llm.count == 1
        spent = chat.spent
        assert (spent.calls, spent.cached, spent.failed, spent.prompt_tokens) == (1, 1, 0, 2)
        assert spent.cost_usd == said.cost_usd


def test_a_price_that_is_unknown_is_not_zero(calls):
    with FakeLLM() as llm, client(llm, calls) as chat:
        assert chat.spent.cost_usd == 0.0  # nothing was asked
        assert chat.ask([Prompt("x")])[0].cost_usd is None
        assert chat.spent.cost_usd is None
        assert chat.spent.sentence.endswith("cost unknown")


@pytest.mark.parametrize(
    "kind", ["too_many", "server_error", "half", "invalid_json", "not_chat", "empty", "huge"], ids=str
)
def test_a_fault_that_passes_is_tried_again(kind, calls):
    said, count = ask(Fault(kind, times=2), calls)
    assert (said.text, count) == ("fine", 3)


@pytest.mark.parametrize(
    ("fault", "told", "count"),
    [
        (Fault("too_many", None), "HTTP 429: Too many requests, slow down (attempt 3)", 3),
        (Fault("server_error", None), "HTTP 500: The server had an error (attempt 3)", 3),
        (Fault("half", None), "the connection broke off (peer closed connection", 3),
        (Fault("invalid_json", None), "the reply is not JSON: ", 3),
        (Fault("not_chat", None), 'the reply holds no "choices" with a message', 3),
        (Fault("empty", None), "the reply is empty (attempt 3)", 3),
        (Fault("huge", None), "the reply is packed, or larger than 4 MB (attempt 3)", 3),
        (Fault("bad_request", None), "HTTP 400: This request cannot be served", 1),
        (Fault("bad_request", None, message="a\n\x1b[31mb" + "c" * 5000), "HTTP 400: a [31mbccc", 1),
        (Fault("too_many", None, retry_after=3600), "it asks to wait 3,600 seconds, which is too long", 1),
    ],
    ids=["429", "500", "half", "no-json", "no-chat", "empty", "huge", "400", "long-400", "far-429"],
)
def test_a_fault_that_stays_is_a_row_with_its_reason(fault, told, count, calls):
    said, asked = ask(fault, calls)
    assert said.text is None
    assert told in said.error
    assert len(said.error) < 350
    assert "\n" not in said.error
    assert asked == count
    (failed,) = calls.failures()
    assert (failed.reason, failed.attempts) == (said.error, count)
    assert len(calls) == 0


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_reply_that_does_not_end_is_given_up(kind, calls):
    said, count = ask(Fault(kind, None), calls, timeout_seconds=0.6, retries=1)
    assert said.error == "no reply within 0.6 seconds (attempt 2)"
    assert count == 2


def test_the_time_that_a_server_asks_for_is_waited(calls, monkeypatch):
    waits = []
    sleep = asyncio.sleep

    async def counted(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", counted)
    later = formatdate(time.time() + 30, usegmt=True)
    replies = [Fault("too_many", retry_after=7), Fault("too_many", retry_after=later), Fault("server_error"), "fine"]
    with FakeLLM(replies) as llm, client(llm, calls, retries=3, first_wait=1.0) as chat:
        assert chat.ask([Prompt("x")])[0].text == "fine"
    seconds, date, own = [wait for wait in waits if wait]
    assert 7.5 <= seconds <= 8
    assert 25 <= date <= 31
    assert 2 <= own <= 4


def test_a_reply_that_was_cut_says_so(calls):
    with FakeLLM("one two three four five") as llm, client(llm, calls) as chat:
        (said,) = chat.ask([Prompt("x", max_tokens=2)])
        assert (said.text, said.cut) == ("one two ", True)
        assert chat.ask([Prompt("x", max_tokens=2)])[0].cut


class Raw:
    """A server that answers each request with bytes as they are."""

    def __init__(self, *answers):
        self.answers, self.count = answers, 0

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                length = int(head.lower().partition(b"content-length:")[2].split()[0])
                body = head.partition(b"\r\n\r\n")[2]
                while len(body) < length:
                    body += connection.recv(65536)
                status, headers, content = self.answers[min(self.count, len(self.answers) - 1)]
                self.count += 1
                lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close", *headers]
                with suppress(OSError):  # the client does not want to hear more
                    connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + content)

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


def reply(message=None, finish="stop", **more):
    choice = {"message": {"role": "assistant", **(message or {"content": "fine"})}, "finish_reason": finish}
    return ("200 OK", [], json.dumps({"choices": [choice], **more}).encode())


def one(calls, *answers, **settings):
    with Raw(*answers) as url, client(url, calls, **settings) as chat:
        return chat.ask([Prompt("x")])[0]


def test_a_reply_without_numbers_is_a_reply(calls):
    for n, usage in enumerate(
        [None, {}, {"prompt_tokens": -1, "completion_tokens": True}, [1], {"prompt_tokens": 1e9}]
    ):
        said = one(calls, reply(usage=usage), seed=n, **PRICES)
        assert (said.text, said.prompt_tokens, said.completion_tokens, said.cost_usd) == ("fine", None, None, None)


def test_text_in_parts_and_refusals(calls):
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, 3, {"text": "b"}]
    assert one(calls, reply({"content": parts})).text == "ab"
    assert one(calls, reply({"content": None, "refusal": "I will not."}), seed=1).text == "I will not."
    assert one(calls, reply({"content": "half \ud83d a letter"}), seed=2).text == "half \ufffd a letter"
    assert calls.get(next(iter(calls)).key)


@pytest.mark.parametrize(
    ("finish", "told"),
    [
        ("length", "the reply is empty: its tokens were used up before it said anything (max_tokens)"),
        ("content_filter", "the server withheld the reply (content_filter)"),
    ],
)
def test_an_empty_reply_that_would_stay_so_is_not_asked_for_again(finish, told, calls):
    assert one(calls, reply({"content": " \n"}, finish), reply()).error == told


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b'"x"', b"[" * 100_000, b'{"choices": []}', b'{"choices": [7]}', b"\xff\xfe", b"1" * 5000,
     b'{"choices": [{"message": 1}]}', b'{"choices": {"message": {"content": "x"}}}'],
    ids=range(11),
)  # fmt: skip
def test_bodies_that_are_no_chat_reply(content, calls):
    said = one(calls, ("200 OK", [], content), retries=0)
    assert said.error.startswith(("the reply is not JSON", 'the reply holds no "choices"'))


def test_a_packed_reply_is_not_unpacked(calls):
    said = one(calls, ("200 OK", ["Content-Encoding: gzip"], b"\x1f\x8b" + b"0" * 50), retries=0)
    assert said.error == "the reply is packed, or larger than 4 MB"


def test_an_error_of_ten_megabytes(calls):
    said = one(calls, ("500 Oops", [], b"x" * (10 << 20)), retries=0)
    assert said.error == "the reply is packed, or larger than 4 MB"


def test_a_server_that_points_elsewhere_is_not_followed(calls):
    with pytest.raises(KaratError, match=r"redirects to http://other\.example\. karat does not follow"):
        one(calls, ("302 Found", ["Location: http://other.example/secret?x=1"], b""))


def test_a_redirect_to_no_address_counts_as_a_call(calls):
    with Raw(("302 Found", ["Location: javascript:alert(1)"], b"")) as url, client(url, calls) as chat:
        assert "cannot be taken" in chat.ask([Prompt("x")])[0].error
        assert chat.spent.calls == 1


@pytest.mark.parametrize("status", ["402 Payment Required", "429 Too Many Requests"])
def test_an_account_without_credit_is_one_sentence(status, calls):
    body = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
    with pytest.raises(
        KaratError, match=r"You exceeded your quota\. The account behind OPENAI_API_KEY has no credit left"
    ):
        one(calls, (status, [], json.dumps(body).encode()))


def test_an_unknown_model_is_one_sentence(calls):
    with FakeLLM(faults={Fault("not_found", None): 1.0}) as llm, client(llm, calls) as chat:
        with pytest.raises(KaratError, match=r"answered HTTP 404: The model does not exist\. Check .* model, fake\."):
            chat.ask([Prompt(f"{n}") for n in range(50)])
        assert llm.count <= 8


def test_nobody_there_is_one_sentence(calls):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with client(url, calls, jobs=1) as chat:
        with pytest.raises(KaratError, match=r"cannot be reached \(.*\)\. Start the server or correct the base url\."):
            chat.ask([Prompt(f"{n}") for n in range(50)])
        assert chat.spent.calls == 0


def test_openai_itself_needs_a_key(calls, monkeypatch):
    chat = Chat(ChatSettings("m", key_env="MY_KEY"), calls)
    with pytest.raises(
        UsageError, match=r"https://api\.openai\.com/v1 needs a key: set the environment variable MY_KEY"
    ):
        chat.ask([Prompt("x")])
    monkeypatch.setenv("MY_KEY", "ключ")
    with pytest.raises(UsageError, match=r"MY_KEY holds characters that no key can have"):
        chat.ask([Prompt("x")])


def test_a_key_is_sent_as_it_is_now(calls, monkeypatch):
    with FakeLLM() as llm, client(llm, calls) as chat:
        chat.ask([Prompt("a")])
        monkeypatch.setenv("OPENAI_API_KEY", " k-1 ")
        chat.ask([Prompt("b")])
        monkeypatch.setenv("OPENAI_API_KEY", "k-2")
        chat.ask([Prompt("c")])
        assert [r.headers.get("Authorization") for r in llm.requests] == [None, "Bearer k-1", "Bearer k-2"]


def test_a_word_that_is_the_key_of_a_local_server_stays_in_replies(calls, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "ollama")
    with FakeLLM("I run on ollama.") as llm, client(llm, calls) as chat:
        assert chat.ask([Prompt("x")])[0].text == "I run on ollama."


def test_names_of_an_account_go_to_openai_alone(calls, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with FakeLLM() as llm, client(llm, calls) as chat:
        assert chat.ask([Prompt("x")])[0].text == "ok"
        assert not {"org-1", "proj-1"} & set(llm.requests[0].headers.values())


def refuses_json(request):
    return Fault("bad_request", None, message="no response_format here") if "response_format" in request.body else None


def test_a_server_without_json_mode_is_asked_without_it(calls):
    with FakeLLM("{}", refuses_json) as llm, client(llm, calls, jobs=1) as chat:
        assert [s.text for s in chat.ask([Prompt(f"{n}", json=True) for n in range(3)])] == ["{}"] * 3
        assert ["response_format" in r.body for r in llm.requests] == [True, False, False, False]
        assert llm.requests[0].body["response_format"] == {"type": "json_object"}


def test_a_bad_request_stays_one_without_json_mode(calls):
    with FakeLLM("{}", {Fault("bad_request", None): 1.0}) as llm, client(llm, calls, jobs=1) as chat:
        assert all(s.error for s in chat.ask([Prompt(f"{n}", json=True) for n in range(2)]))
        assert ["response_format" in r.body for r in llm.requests] == [True, False, True, False]


def test_the_same_prompt_is_asked_once(calls):
    with FakeLLM() as llm, client(llm, calls, **PRICES) as chat:
        told = []
        said = chat.ask([Prompt("a"), Prompt("b"), Prompt("a", purpose="other")], lambda n, what: told.append(n))
        assert llm.count == 2
        assert [s.cached for s in said] == [False, False, True]
        assert sorted(told) == [0, 1, 2]
        assert said[0].text == said[2].text
        assert chat.spent.cost_usd == pytest.approx(sum(s.cost_usd for s in said if not s.cached))


def test_the_same_failure_is_met_once(calls):
    with FakeLLM(faults={Fault("bad_request", None): 1.0}) as llm, client(llm, calls) as chat:
        first, second = chat.ask([Prompt("a"), Prompt("a")])
        assert first == second
        assert (llm.count, chat.spent.failed) == (1, 1)


def test_threads_that_ask_the_same_at_once_pay_once(calls):
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


def test_what_another_client_paid_for_meanwhile_is_not_paid_again(calls):
    def reply(request):
        if request.user == "a":
            other.ask([Prompt("b")])
        return "ok"

    with FakeLLM(reply) as llm, client(llm, calls) as other, client(llm, calls, jobs=1) as chat:
        said = chat.ask([Prompt("a"), Prompt("b")])
        assert [s.cached for s in said] == [False, True]
        assert llm.count == 2
        assert chat.spent.calls == 1


def test_no_more_at_once_than_jobs(calls):
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


def test_no_more_a_minute_than_told(calls, monkeypatch):
    waits = []
    sleep = asyncio.sleep

    async def counted(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", counted)
    with FakeLLM() as llm, client(llm, calls, per_minute=2, jobs=1) as chat:
        chat.ask([Prompt(f"{n}") for n in range(4)])
    assert [wait > 50 for wait in waits] == [False, False, True, True]


def test_all_is_told_from_the_thread_that_asks(calls):
    seen, steps = [], []
    with FakeLLM() as llm, client(llm, calls, progress=lambda *step: steps.append(step)) as chat:
        chat.ask([Prompt("a", purpose="judge"), Prompt("b")], lambda n, what: seen.append(threading.current_thread()))
    assert set(seen) == {threading.current_thread()}
    assert [(done, total) for _, done, total in steps] == [(1, 2), (2, 2)]
    assert {what for what, _, _ in steps} == {"judge", "asking"}


def test_an_error_of_the_listener_stops_the_rest_and_keeps_what_was_said(calls):
    def full(number, said):
        raise OSError("disk full")

    with FakeLLM() as llm, client(llm, calls, jobs=2) as chat:
        with pytest.raises(OSError, match="disk full"):
            chat.ask([Prompt(f"{n}") for n in range(200)], full)
        assert llm.count < 200
        assert 1 <= len(calls) <= llm.count
        assert all(s.text == "ok" for s in chat.ask([Prompt(f"{n}") for n in range(5)]))


def test_within_a_running_loop_as_in_a_notebook(calls):
    async def cell():
        with FakeLLM() as llm, client(llm, calls) as chat:
            return chat.ask([Prompt("a")])

    assert asyncio.run(cell())[0].text == "ok"


def test_closed_and_asked_again(calls):
    with FakeLLM() as llm:
        chat = client(llm, calls)
        chat.ask([Prompt("a")])
        chat.close()
        chat.close()
        assert chat.ask([Prompt("b")])[0].text == "ok"
        chat.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "karat endpoint"]


def test_closed_while_it_is_asked(calls):
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


def test_what_each_step_will_take_is_said_before_it(calls):
    said = []
    with FakeLLM() as llm, client(llm, calls, announce=said.append) as chat:
        for purpose in ("claims", "claims", "verdicts"):
            chat.ask([Prompt(f"{purpose} {len(said)}", purpose=purpose)])
    assert [text.partition(":")[0] for text in said] == ["claims", "verdicts"]


def test_what_it_will_take_is_said_once_before_the_first_call(calls):
    said = []
    with FakeLLM() as llm, client(llm, calls, announce=said.append) as chat:
        chat.ask([Prompt("known")])
    assert len(said) == 1
    with FakeLLM() as other, client(other, calls, announce=lambda text: said.append((text, other.count))) as chat:
        chat.ask([])
        assert chat.estimate([Prompt("a"), Prompt("a"), Prompt("b")]).calls == 2
        chat.ask([Prompt("a")])
        assert chat.estimate([Prompt("a"), Prompt("b")]).cached == 1
        chat.ask([Prompt("b")])
    assert len(said) == 2
    assert said[1] == (
        "asking fake once: about 5 tokens to read, at most 1,024 to write; "
        "cost unknown: give --price-in and --price-out",
        0,
    )


def test_a_budget_of_calls_is_hard(calls):
    with FakeLLM() as llm, client(llm, calls, Budget(max_calls=5)) as chat:
        said = chat.ask([Prompt(f"{n}") for n in range(20)])
        assert llm.count == 5
        assert sum(s.text == "ok" for s in said) == 5
        assert {s.error for s in said if s.error} == {"not asked: the budget of 5 calls is spent"}
        assert (chat.spent.calls, chat.spent.not_asked, chat.spent.failed) == (5, 15, 0)
        assert calls.failures() == []
        again = chat.ask([Prompt(f"{n}") for n in range(20)])
        assert (llm.count, sum(s.cached for s in again)) == (5, 5)  # what is known costs nothing


def test_retries_count_in_the_budget(calls):
    with (
        FakeLLM(faults={Fault("server_error", None): 1.0}) as llm,
        client(llm, calls, Budget(max_calls=2), retries=5, jobs=1) as chat,
    ):
        first, second = chat.ask([Prompt("a"), Prompt("b")])
        assert llm.count == 2
        assert first.error == "HTTP 500: The server had an error; not asked again: the budget of 2 calls is spent"
        assert second.error == "not asked: the budget of 2 calls is spent"


def test_a_budget_of_nothing_asks_nothing(calls):
    with FakeLLM() as llm, client(llm, calls, Budget(max_calls=0)) as chat:
        assert chat.ask([Prompt("a")])[0].error == "not asked: the budget of 0 calls is spent"
        assert llm.count == 0


def test_a_budget_of_money_is_never_passed(calls):
    # a reply of 1,000 bytes is 250 tokens: .0005 USD; before it is known, 300 tokens are reserved
    with (
        FakeLLM("x" * 1000) as llm,
        client(llm, calls, Budget(max_cost_usd=0.005), max_tokens=300, price_in_usd=0.0, price_out_usd=2.0) as chat,
    ):
        said = chat.ask([Prompt(f"{n:02}") for n in range(40)])
        assert chat.spent.cost_usd == pytest.approx(0.0005 * llm.count)
        assert llm.count == 9  # the tenth could have cost .0006, with .0045 spent
        assert chat.spent.cost_usd <= 0.005
        assert sum(s.error is None for s in said) == 9
        assert {s.error for s in said if s.error} == {
            "not asked: the budget of 0.005 USD is spent (0.0045 USD paid; the next call could pass it)"
        }


def test_a_budget_of_money_needs_prices(calls):
    with pytest.raises(UsageError, match="needs the prices of fake: give --price-in and --price-out"):
        client("http://127.0.0.1:9/v1", calls, Budget(max_cost_usd=1.0))
