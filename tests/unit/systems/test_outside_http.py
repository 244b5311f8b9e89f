"""Endpoints as systems, against a real server on this machine that answers as it is told."""

import gzip
import json
import logging
import socket
import sys
import threading
import tracemalloc
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from karat.core.errors import UsageError
from karat.core.types import Gold, Question
from karat.experiment.spec import spec_of
from karat.models.endpoint import JsonEndpoint
from karat.systems.outside import HttpSettings, HttpSystem, ask_all, opened
from karat.systems.outside import _endpoint as _outside_http

SECRET = 'sk-se/cr"et-0123456789'
Q = Question("q 1", 'say "hi" {k} & ${KEY}\n', gold=(Gold(id="gold-id"),))
FOUND = {"hits": [{"id": "a", "s": 2, "t": "ta"}, {"id": "b", "s": 1, "t": "tb"}], "answer": "yes"}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KEY", SECRET)
    monkeypatch.setitem(JsonEndpoint.__init__.__kwdefaults__, "first_wait", 0.01)


class Server:
    """Answers each request by the next of `answers`, the last one again and again; keeps what was asked."""

    def __init__(self, *answers):
        self.answers, self.asked, self.lock = list(answers), [], threading.Lock()

    @contextmanager
    def running(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with server.lock:
                    server.asked.append((self.command, self.path, dict(self.headers), body))
                    answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                answer(self)

            def do_GET(self):
                self.do_POST()

            def log_message(self, *_):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}"
        finally:
            http.shutdown()
            thread.join()
            http.server_close()


def send(status, content, **headers):
    def answer(handler):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


PATHS = {"ids": "$.hits[*].id"}


def ask(*answers, k=5, paths=PATHS, question=Q, path="/s", **settings):
    server = Server(*answers)
    settings = {"body": {"q": "{question}"}, "timeout_seconds": 20.0, **settings}
    with server.running() as url:
        system = HttpSystem(HttpSettings(url + path, paths=paths, **settings))
        try:
            return system.ask(question, k), server.asked, system.remarks
        finally:
            system.close()


def test_the_question_goes_in_as_a_value_and_never_as_text():
    body = {"q": "{question}", "n": "{k}", "deep": ["top {k} of {id}", {"x": "a {question} {other}"}], "t": True}
    reply, ((method, path, headers, sent),), _ = ask(send(200, FOUND), k=7, body=body)
    assert reply.error is None
    assert (method, path, headers["Content-Type"]) == ("POST", "/s", "application/json")
    assert json.loads(sent) == {
        "q": Q.text, "n": 7, "deep": ["top 7 of q 1", {"x": f"a {Q.text} {{other}}"}], "t": True,
    }  # fmt: skip
    assert b"gold-id" not in sent


def test_an_address_with_the_question_in_it():
    reply, ((method, path, _, sent),), _ = ask(
        send(200, FOUND), path="/s/{id}?q={question}&k={k}", method="GET", body=None
    )
    assert reply.error is None
    assert (method, sent) == ("GET", b"")
    assert path == "/s/q%201?q=say%20%22hi%22%20%7Bk%7D%20%26%20%24%7BKEY%7D%0A&k=5"


def test_hits_with_scores_texts_and_an_answer():
    paths = {"ids": "$.hits[*].id", "scores": "$.hits[*].s", "texts": "$.hits[*].t", "answer": "$.answer"}
    reply, _, remarks = ask(send(200, FOUND), paths=paths)
    assert reply.hits == ({"id": "a", "text": "ta", "score": 2.0}, {"id": "b", "text": "tb", "score": 1.0})
    assert (reply.answer.text, remarks) == ("yes", ())
    assert reply.seconds > 0
    assert ask(send(200, FOUND), paths=paths, k=1)[0].hits == ({"id": "a", "text": "ta", "score": 2.0},)
    assert ask(send(200, FOUND), paths={"answer": "$.answer"})[0].hits is None
    assert ask(send(200, {"ids": [1, "b"]}), paths={"ids": "$.ids"})[0].hits == ({"id": "1"}, {"id": "b"})
    assert ask(send(200, {"a": None}), paths={"answer": "$.a"})[0].answer.text == ""


@pytest.mark.parametrize(
    ("answer", "paths", "said"),
    [
        (send(200, b"<html>busy</html>"), PATHS, "replied with something that is not JSON: '<html>busy</html>'."),
        (send(200, b"[" * 100_000), PATHS, "replied with something that is not JSON"),
        (send(200, b""), PATHS, "replied with something that is not JSON: ''."),
        (send(200, {"results": []}), PATHS, "the path $.hits[*].id does not fit: $ is an object with results"),
        (send(200, {"hits": [{"ident": 1}]}), PATHS, "$.hits[*] is an object with ident"),
        (send(200, {"hits": None}), PATHS, "$.hits is null"),
        (send(200, {"hits": [{"id": {}}]}), PATHS, "hit 1: {} is no id."),
        (
            send(200, {"hits": [{"id": 1}], "scores": [1, 2]}),
            {**PATHS, "scores": "$.scores[*]"},
            "the paths find lists of different length (1 by id, 2 by score)",
        ),
        (send(200, {"a": 3}), {"answer": "$.a"}, "$.a is no text."),
        (send(404, {"detail": "no such index"}), PATHS, "HTTP 404: no such index."),
        (send(401, b"who?"), PATHS, "HTTP 401: who?. Check the headers and the variables they name."),
        (send(302, b"", Location="http://elsewhere/"), PATHS, "redirects to http://elsewhere. karat does not follow"),
    ],
)
def test_a_reply_that_cannot_be_read_is_a_failure_with_its_reason(answer, paths, said):
    reply, asked, _ = ask(answer, paths=paths)
    assert said in reply.error
    assert (reply.hits, len(asked)) == (None, 1)


def test_an_empty_list_is_an_answer_and_said_when_all_are():
    reply, _, remarks = ask(send(200, {"hits": []}))
    assert (reply.hits, reply.error) == ((), None)
    assert "$.hits[*].id found nothing in any of 1 replies." in remarks[0]


def test_paths_that_never_fit_are_said_once():
    with Server(send(200, {"results": []})).running() as url:
        settings = HttpSettings(url, body={"q": "{question}"}, paths=PATHS)
        with opened(settings, "theirs") as system:
            replies = []
            ask_all(system, [Question(str(i), "x") for i in range(3)], 1, 2, lambda q, r: replies.append(r.error))
            assert len(replies) == 3
            (said,) = system.remarks
    assert said.startswith("no reply fits the paths, so none could be read (the path $.hits[*].id does not fit")


def test_passing_failures_are_tried_again():
    slow_down = send(429, b"slow down", Retry_After="0.02")
    reply, asked, _ = ask(slow_down, send(503, b""), send(200, FOUND))
    assert (reply.error, len(asked)) == (None, 3)
    reply, asked, _ = ask(send(500, b"broken"), retries=2)
    assert (reply.error, len(asked)) == ("HTTP 500: broken (attempt 3).", 3)
    reply, asked, _ = ask(send(429, b"", Retry_After="3600"))
    assert reply.error.startswith("HTTP 429; it asks to wait 3,600 seconds, which is too long")
    assert len(asked) == 1
    reply, asked, _ = ask(send(400, b"bad"), send(200, FOUND))
    assert (reply.error, len(asked)) == ("HTTP 400: bad.", 1)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_packed_reply_is_unpacked_no_further_than_the_largest_there_may_be(layers, monkeypatch):
    monkeypatch.setattr(_outside_http, "_LARGEST", 1 << 20)
    bomb = b" " * (64 << 20)
    for _ in range(layers):
        bomb = gzip.compress(bomb)
    packing = ", ".join(["gzip"] * layers)
    tracemalloc.start()
    try:
        reply, asked, _ = ask(send(200, bomb, Content_Encoding=packing))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert ("larger than 1 MB" if layers == 1 else "packed (gzip, gzip)") in reply.error
    assert len(asked) == 1


def test_a_packed_reply_is_read():
    reply, ((_, _, headers, _),), _ = ask(send(200, gzip.compress(json.dumps(FOUND).encode()), Content_Encoding="gzip"))
    assert (reply.error, len(reply.hits)) == (None, 2)
    assert headers["Accept-Encoding"] == "identity"


def test_an_endpoint_that_hangs_fails_and_is_not_asked_again():
    let_go = threading.Event()

    def hang(handler):
        let_go.wait(20)
        send(200, FOUND)(handler)

    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(1000):
            if let_go.wait(0.01):
                return
            handler.wfile.write(b" ")

    try:
        for answer in (hang, drip):
            reply, asked, _ = ask(answer, timeout_seconds=0.1)
            assert (reply.error, len(asked)) == ("no reply within 0.1 seconds.", 1)
    finally:
        let_go.set()


def test_a_server_that_is_not_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    system = HttpSystem(HttpSettings(f"http://127.0.0.1:{port}/", body={"q": "{question}"}, paths=PATHS))
    try:
        error = system.ask(Q, 1).error
        assert error.startswith("127.0.0.1 cannot be reached (")
        assert error.endswith("(attempt 3).")
    finally:
        system.close()


def test_a_server_that_hangs_up():
    reply, asked, _ = ask(lambda handler: handler.connection.close(), retries=1)
    assert reply.error.startswith("the connection broke off (")
    assert len(asked) == 2


def test_questions_are_asked_at_once():
    here = threading.Barrier(3, timeout=20)

    def answer(handler):
        here.wait()
        send(200, FOUND)(handler)

    with Server(answer).running() as url, opened(HttpSettings(url, body={"q": "{question}"}, paths=PATHS)) as system:
        replies = []
        ask_all(system, [Question(str(i), "x") for i in range(6)], 2, 3, lambda q, r: replies.append(r.error))
    assert replies == [None] * 6


def echo(status, **headers):
    """A server that repeats all it was sent."""

    def answer(handler):
        said = f"{handler.path} {dict(handler.headers)}"
        found = {"hits": [{"id": said, "t": said}], "answer": said, handler.headers.get("X-Key", "x"): 1}
        send(status, found, **headers)(handler)

    return answer


@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize(
    "paths", [{"ids": "$.hits[*].id", "texts": "$.hits[*].t", "answer": "$.answer"}, {"ids": "$.x"}]
)
def test_a_secret_is_sent_and_found_nowhere_else(status, paths, caplog, capfd, monkeypatch):
    secret = "sk-se.cr'et-0123456789"
    monkeypatch.setenv("KEY", secret)
    caplog.set_level(logging.DEBUG)
    reply, asked, remarks = ask(
        echo(status), paths=paths, headers={"X-Key": "${KEY}", "Authorization": "Bearer ${KEY}"},
        path="/s?token=${KEY}", retries=0,
    )  # fmt: skip
    assert asked[0][2]["Authorization"] == f"Bearer {secret}"
    assert secret in asked[0][1] or "sk-se.cr" in asked[0][1]
    told = capfd.readouterr()
    kept = (repr(reply), json.dumps(reply.record(Q)), *remarks, caplog.text, told.out, told.err)
    assert not [text for text in kept if "sk-se" in text]
    if status == 200 and "answer" in paths:
        assert "Bearer ${KEY}" in reply.answer.text


def test_a_secret_in_the_name_of_a_host_that_a_server_points_to_is_not_shown(monkeypatch):
    monkeypatch.setenv("KEY", "Sk-Secret-0123")
    reply, _, _ = ask(
        send(302, b"", Location="http://a@Sk-Secret-0123.example/x?y=1"), headers={"X-Key": "${KEY}"}, retries=0
    )
    assert "redirects to http://${KEY}.example. karat does not follow" in reply.error


def test_a_whole_spec_with_a_secret_keeps_it_to_itself(tmp_path, caplog, capfd):
    (tmp_path / "qa.json").write_text("[]")
    with Server(echo(500)).running() as url:
        text = (
            "testset: qa.json\nsystems:\n  - name: theirs\n    http:\n"
            f"      url: {url}/${{KEY}}\n      headers: {{X-Key: '${{KEY}}'}}\n"
            "      body: {q: '{question}', token: '${KEY}'}\n      ids: $.hits[*].id\n      retries: 0\n"
        )
        clean = "sk-0123456789"
        spec = spec_of(text, tmp_path).resolved({"KEY": clean})
        (listed,) = spec.systems()
        system = HttpSystem(listed.source, listed.name, {"KEY": clean})
        reply = system.ask(Q, 1)
        system.close()
    kept = [repr(spec), json.dumps(spec.plain()), repr(listed), repr(system.settings), reply.error, caplog.text]
    assert not [text for text in (*kept, *capfd.readouterr()) if clean in text]
    assert "${KEY}" in reply.error


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"url": "http://h/", "headers": {"X": "${NOT_THERE_AT_ALL}"}}, "NOT_THERE_AT_ALL is not set."),
        ({"url": "${KEY}"}, "is no address like http://localhost:8000/search."),
        ({"url": "file:///x"}, "is no address"),
        ({"url": "http://h/", "paths": {"ids": "$..x"}}, "cannot read the path"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_before_anything_is_asked(settings, said):
    with pytest.raises(UsageError) as caught:
        HttpSystem(HttpSettings(**settings))
    assert said in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_header_that_cannot_be_is_told_without_its_value(monkeypatch):
    monkeypatch.setenv("KEY", "sk-012\n345")
    with pytest.raises(UsageError, match="the header X of h would hold characters") as caught:
        HttpSystem(HttpSettings("http://h/", headers={"X": "${KEY}"}))
    assert "sk-012" not in str(caught.value)


def test_a_missing_package_is_told_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(UsageError, match=r"needs httpx, which is not installed. Run: pip install 'karat\[llm\]'"):
        HttpSystem(HttpSettings("http://h/"))


def test_a_secret_in_a_header_goes_over_plain_http_to_this_machine_alone():
    settings = HttpSettings("http://search.invalid/s?q={question}", headers={"Authorization": "Bearer ${KEY}"})
    with pytest.raises(UsageError, match=r"the key in KEY would go to search\.invalid:80 over plain http") as refused:
        HttpSystem(settings)
    assert SECRET not in str(refused.value)
    HttpSystem(HttpSettings("http://search.invalid/s?q={question}", headers={"Accept": "text/plain"})).close()
    HttpSystem(HttpSettings("https://search.invalid/s?q={question}", headers=settings.headers)).close()
    HttpSystem(HttpSettings("http://127.0.0.1:9/s?q={question}", headers=settings.headers)).close()
