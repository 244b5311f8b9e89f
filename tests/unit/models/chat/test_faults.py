"""The chat client against servers with faults: what it does with each, and what it says."""

import asyncio
import gzip
import json
import socket
import threading
import time
from contextlib import suppress
from email.utils import formatdate

import pytest

from karat.core.errors import KaratError, UsageError
from karat.core.models import Prompt
from karat.models.chat import Chat, ChatSettings
from karat.testing import FakeLLM, Fault

PRICES = {"price_in_usd": 1.0, "price_out_usd": 2.0}


@pytest.fixture
def ask(client, calls):
    """What is said to one prompt by a server with a fault, and how often it was asked."""

    def asked(fault, **settings):
        with FakeLLM("fine", {fault: 1.0}) as llm, client(llm, calls, **settings) as chat:
            (said,) = chat.ask([Prompt("x")])
            return said, llm.count

    return asked


def test_a_reply_has_its_numbers(calls, client):
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


def test_a_price_that_is_unknown_is_not_zero(calls, client):
    with FakeLLM() as llm, client(llm, calls) as chat:
        assert chat.spent.cost_usd == 0.0  # nothing was asked
        assert chat.ask([Prompt("x")])[0].cost_usd is None
        assert chat.spent.cost_usd is None
        assert chat.spent.sentence.endswith("cost unknown")


@pytest.mark.parametrize(
    "kind", ["too_many", "server_error", "half", "invalid_json", "not_chat", "empty", "huge"], ids=str
)
def test_a_fault_that_passes_is_tried_again(kind, ask):
    said, count = ask(Fault(kind, times=2))
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
        (Fault("huge", None), "the reply is larger than 4 MB (attempt 3)", 3),
        (Fault("bad_request", None), "HTTP 400: This request cannot be served", 1),
        (Fault("bad_request", None, message="a\n\x1b[31mb" + "c" * 5000), "HTTP 400: a bccc", 1),
        (Fault("too_many", None, retry_after=3600), "it asks to wait 3,600 seconds, which is too long", 1),
    ],
    ids=["429", "500", "half", "no-json", "no-chat", "empty", "huge", "400", "long-400", "far-429"],
)
def test_a_fault_that_stays_is_a_row_with_its_reason(fault, told, count, calls, ask):
    said, asked = ask(fault)
    assert said.text is None
    assert told in said.error
    assert len(said.error) < 350
    assert "\n" not in said.error
    assert asked == count
    (failed,) = calls.failures()
    assert (failed.reason, failed.attempts) == (said.error, count)
    assert len(calls) == 0


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_reply_that_does_not_end_is_given_up(kind, ask):
    said, count = ask(Fault(kind, None), timeout_seconds=0.6, retries=1)
    assert said.error == "no reply within 0.6 seconds (attempt 2)"
    assert count == 2


def test_the_time_that_a_server_asks_for_is_waited(calls, monkeypatch, client):
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


def test_a_reply_that_was_cut_says_so(calls, client):
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


@pytest.fixture
def one(client, calls):
    """What is said to one prompt by a server that answers with bytes."""

    def asked(*answers, **settings):
        with Raw(*answers) as url, client(url, calls, **settings) as chat:
            return chat.ask([Prompt("x")])[0]

    return asked


def test_a_reply_without_numbers_is_a_reply(one):
    for n, usage in enumerate(
        [None, {}, {"prompt_tokens": -1, "completion_tokens": True}, [1], {"prompt_tokens": 1e9}]
    ):
        said = one(reply(usage=usage), seed=n, **PRICES)
        assert (said.text, said.prompt_tokens, said.completion_tokens, said.cost_usd) == ("fine", None, None, None)


def test_text_in_parts_and_refusals(calls, one):
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, 3, {"text": "b"}]
    assert one(reply({"content": parts})).text == "ab"
    assert one(reply({"content": None, "refusal": "I will not."}), seed=1).text == "I will not."
    assert one(reply({"content": "half \ud83d a letter"}), seed=2).text == "half \ufffd a letter"
    assert calls.get(next(iter(calls)).key)


@pytest.mark.parametrize(
    ("finish", "told"),
    [
        ("length", "the reply is empty: its tokens were used up before it said anything (max_tokens)"),
        ("content_filter", "the server withheld the reply (content_filter)"),
    ],
)
def test_an_empty_reply_that_would_stay_so_is_not_asked_for_again(finish, told, one):
    assert one(reply({"content": " \n"}, finish), reply()).error == told


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b'"x"', b"[" * 100_000, b'{"choices": []}', b'{"choices": [7]}', b"\xff\xfe", b"1" * 5000,
     b'{"choices": [{"message": 1}]}', b'{"choices": {"message": {"content": "x"}}}'],
    ids=range(11),
)  # fmt: skip
def test_bodies_that_are_no_chat_reply(content, one):
    said = one(("200 OK", [], content), retries=0)
    assert said.error.startswith(("the reply is not JSON", 'the reply holds no "choices"'))


def test_a_packed_reply_is_unpacked_within_bounds(one):
    status, headers, body = reply()
    assert one((status, [*headers, "Content-Encoding: gzip"], gzip.compress(body))).text == "fine"
    said = one((status, ["Content-Encoding: gzip"], gzip.compress(b" " * (8 << 20))), retries=0)
    assert said.error == "the reply is larger than 4 MB"
    said = one((status, ["Content-Encoding: br"], b"0"), retries=0)
    assert said.error == "the reply is packed (br), though karat asks for it as it is"


def test_an_error_of_ten_megabytes(one):
    said = one(("500 Oops", [], b"x" * (10 << 20)), retries=0)
    assert said.error == "the reply is larger than 4 MB"


def test_a_server_that_points_elsewhere_is_not_followed(one):
    with pytest.raises(KaratError, match=r"redirects to http://other\.example\. karat does not follow"):
        one(("302 Found", ["Location: http://other.example/secret?x=1"], b""))


def test_a_redirect_to_no_address_counts_as_a_call(calls, client):
    with Raw(("302 Found", ["Location: javascript:alert(1)"], b"")) as url, client(url, calls) as chat:
        assert "cannot be taken" in chat.ask([Prompt("x")])[0].error
        assert chat.spent.calls == 1


@pytest.mark.parametrize("status", ["402 Payment Required", "429 Too Many Requests"])
def test_an_account_without_credit_is_one_sentence(status, one):
    body = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
    with pytest.raises(
        KaratError, match=r"You exceeded your quota\. The account behind OPENAI_API_KEY has no credit left"
    ):
        one((status, [], json.dumps(body).encode()))


def test_an_unknown_model_is_one_sentence(calls, client):
    with FakeLLM(faults={Fault("not_found", None): 1.0}) as llm, client(llm, calls) as chat:
        with pytest.raises(KaratError, match=r"answered HTTP 404: The model does not exist\. Check .* model, fake\."):
            chat.ask([Prompt(f"{n}") for n in range(50)])
        assert llm.count <= 8


def test_nobody_there_is_one_sentence(calls, client):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with client(url, calls, jobs=1) as chat:
        with pytest.raises(KaratError, match=r"cannot be reached \(.*\)\. Start the server or correct its url\."):
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


def test_a_key_is_sent_as_it_is_now(calls, monkeypatch, client):
    with FakeLLM() as llm, client(llm, calls) as chat:
        chat.ask([Prompt("a")])
        monkeypatch.setenv("OPENAI_API_KEY", " k-1 ")
        chat.ask([Prompt("b")])
        monkeypatch.setenv("OPENAI_API_KEY", "k-2")
        chat.ask([Prompt("c")])
        assert [r.headers.get("Authorization") for r in llm.requests] == [None, "Bearer k-1", "Bearer k-2"]


def test_a_word_that_is_the_key_of_a_local_server_stays_in_replies(calls, monkeypatch, client):
    monkeypatch.setenv("OPENAI_API_KEY", "ollama")
    with FakeLLM("I run on ollama.") as llm, client(llm, calls) as chat:
        assert chat.ask([Prompt("x")])[0].text == "I run on ollama."


def test_names_of_an_account_go_to_openai_alone(calls, monkeypatch, client):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with FakeLLM() as llm, client(llm, calls) as chat:
        assert chat.ask([Prompt("x")])[0].text == "ok"
        assert not {"org-1", "proj-1"} & set(llm.requests[0].headers.values())


def refuses_json(request):
    return Fault("bad_request", None, message="no response_format here") if "response_format" in request.body else None


def test_a_server_without_json_mode_is_asked_without_it(calls, client):
    with FakeLLM("{}", refuses_json) as llm, client(llm, calls, jobs=1) as chat:
        assert [s.text for s in chat.ask([Prompt(f"{n}", json=True) for n in range(3)])] == ["{}"] * 3
        assert ["response_format" in r.body for r in llm.requests] == [True, False, False, False]
        assert llm.requests[0].body["response_format"] == {"type": "json_object"}


def test_a_bad_request_stays_one_without_json_mode(calls, client):
    with FakeLLM("{}", {Fault("bad_request", None): 1.0}) as llm, client(llm, calls, jobs=1) as chat:
        assert all(s.error for s in chat.ask([Prompt(f"{n}", json=True) for n in range(2)]))
        assert ["response_format" in r.body for r in llm.requests] == [True, False, True, False]


def test_the_request_without_json_mode_is_an_attempt(calls, client):
    with FakeLLM("{}", {Fault("bad_request", None): 1.0}) as llm, client(llm, calls, retries=0) as chat:
        (said,) = chat.ask([Prompt("x", json=True)])
        assert llm.count == 2
    (failed,) = calls.failures()
    assert (failed.attempts, failed.reason) == (2, said.error)
    assert said.error.endswith("(attempt 2)")


def test_the_request_without_json_mode_is_one_of_the_retries(calls, client):
    def broken(request):
        return refuses_json(request) or Fault("server_error", None)

    with FakeLLM("{}", broken) as llm, client(llm, calls, retries=2) as chat:
        assert chat.ask([Prompt("x", json=True)])[0].error == "HTTP 500: The server had an error (attempt 3)"
        assert llm.count == 3
    assert calls.failures()[0].attempts == 3
