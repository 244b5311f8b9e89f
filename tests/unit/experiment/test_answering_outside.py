"""Functions and endpoints that answer: what they are given, what they may say, and what becomes of the rest."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from karat.answer import Answerer, AnswererSettings
from karat.core.asked import AnswerRequest, Context
from karat.core.errors import UsageError
from karat.experiment.answering import outside_settings
from karat.experiment.spec import AnswerKeys, BudgetKeys
from karat.models.endpoint import JsonEndpoint
from karat.systems.outside import answerer_outside

CONTEXTS = (Context("a", "Four hours."), Context("b", "Two people."), Context("c", "Lantern."))
ASKED = AnswerRequest("q 1", 'How "long" {id}?', CONTEXTS)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(JsonEndpoint.__init__.__kwdefaults__, "first_wait", 0.01)


def answers(name, *asked, folder=None, keys=None, budgets=None, **settings):
    settings = AnswererSettings(name, **settings)
    found = {}
    budgets = budgets or BudgetKeys()
    spec = SimpleNamespace(keys=SimpleNamespace(budgets=budgets), folder=folder)
    outside = outside_settings(name, keys or AnswerKeys(), spec)
    with answerer_outside(settings, outside, budgets.max_failures) as answerer:
        assert isinstance(answerer, Answerer)
        main = threading.current_thread()

        def done(one, answer):
            assert threading.current_thread() is main
            found[one.id] = answer

        answerer.answer(asked or (ASKED,), done)
    return answerer, found


def called(tmp_path, body, *asked, signature="question, contexts", **more):
    (tmp_path / "mine.py").write_text(f"import time\ndef reply({signature}):\n    {body}\n")
    return answers("call:mine:reply", *asked, folder=tmp_path, **more)


def test_a_function_gets_the_question_and_the_texts_and_gives_the_answer(tmp_path):
    answerer, found = called(tmp_path, "return f'{question} | {contexts}'", contexts=2)
    answer = found["q 1"]
    assert answer.text == "How \"long\" {id}? | ['Four hours.', 'Two people.']"
    assert (answer.contexts, answer.used) == (("Four hours.", "Two people."), ("a", "b"))
    assert (answer.error, answer.model, answer.tokens, answer.cost_usd, answer.confidence) == (None,) * 5
    assert answer.seconds["answer"] >= 0
    assert (answerer.name, answerer.remarks) == ("call:mine:reply", ())


def test_contexts_as_objects_where_the_function_asks_for_them(tmp_path):
    _, found = called(tmp_path, "return ','.join(c.id for c in found)", signature="q, found: 'list[Context]'")
    assert found["q 1"].text == "a,b,c"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("None", (None, ("Four hours.", "Two people.", "Lantern."), ("a", "b", "c"), None, None, None)),
        ("''", ("", ("Four hours.", "Two people.", "Lantern."), ("a", "b", "c"), None, None, None)),
        (
            "{'answer': 'x', 'confidence': 1, 'used': ['c', 1, 'c'], 'tokens': 7, 'cost_usd': 0, 'more': 1}",
            ("x", ("Lantern.", "Four hours."), ("c", "a"), 1.0, 7, 0.0),
        ),
        ("{'answer': 'x', 'contexts': ['mine']}", ("x", ("mine",), None, None, None, None)),
        (
            "{'answer': 'x', 'used': [2], 'contexts': ['Two people.']}",
            ("x", ("Two people.",), ("b",), None, None, None),
        ),
        ("{'answer': None, 'used': ()}", (None, (), (), None, None, None)),
    ],
)
def test_what_a_function_may_return(tmp_path, value, expected):
    _, found = called(tmp_path, f"return {value}")
    answer = found["q 1"]
    assert (answer.error, answer.given) == (None, ("a", "b", "c"))
    assert (
        answer.text, answer.contexts, answer.used, answer.confidence, answer.tokens, answer.cost_usd
    ) == expected  # fmt: skip


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return 7", "returned 7. Return the answer as a text, None, or a dict"),
        ("return {'text': 'x'}", "returned a dict with text. Return"),
        ("return {'answer': 7}", "returned the answer 7, which is no text. Return"),
        ("return {'answer': 'x', 'confidence': 1.5}", "returned the confidence 1.5, which is no number from 0 to 1."),
        ("return {'answer': 'x', 'confidence': True}", "returned the confidence True, which is no number from 0 to 1."),
        ("return {'answer': 'x', 'cost_usd': float('nan')}", "returned the cost_usd nan, which is no number of 0"),
        ("return {'answer': 'x', 'tokens': 1.5}", "returned the tokens 1.5, which is no whole number of 0 or more."),
        ("return {'answer': 'x', 'tokens': -1}", "returned the tokens -1, which is no whole number of 0 or more."),
        ("return {'answer': 'x', 'used': ['d']}", "says that it used the context 'd', which it was not given."),
        ("return {'answer': 'x', 'used': [0]}", "says that it used the context 0, which it was not given."),
        ("return {'answer': 'x', 'used': 'abc'}", "returned the used 'abc', which is no list."),
        ("return {'answer': 'x', 'contexts': [1]}", "returned the context 1, which is no text."),
        ("raise ValueError('no\\x1b luck')", "ValueError: no luck"),
        ("time.sleep(60)", "did not return within 0.2 seconds."),
    ],
)
def test_what_goes_wrong_is_the_error_of_the_answer(tmp_path, body, error):
    _, found = called(tmp_path, body, budgets=BudgetKeys(timeout_seconds=0.2 if "sleep" in body else 60.0))
    answer = found["q 1"]
    assert answer.text is None
    assert answer.error.startswith(error)
    assert answer.used == ("a", "b", "c")


def test_one_failure_stops_nothing_and_many_stop_the_asking(tmp_path):
    body = "return 1 / 0 if question == 'bad' else question"
    asked = [AnswerRequest(str(i), "bad" if i % 2 else "good", ()) for i in range(8)]
    _, found = called(tmp_path, body, *asked)
    assert [found[str(i)].text for i in range(8)] == ["good", None] * 4
    assert {answer.error for answer in found.values()} == {None, "ZeroDivisionError: division by zero"}
    _, found = called(tmp_path, body, *asked, budgets=BudgetKeys(max_failures=1))
    assert found["4"].error is None or found["4"].error.startswith("not asked")
    assert found["7"].error == "not asked: more than 1 questions had failed."


@pytest.mark.parametrize("signature", ["question", "", "question, contexts, more", "question, *, contexts"])
def test_a_function_that_takes_something_else_is_refused(tmp_path, signature):
    with pytest.raises(UsageError, match=r"'mine:reply' cannot be called with a question and contexts"):
        called(tmp_path, "return ''", signature=signature)


@pytest.mark.parametrize("name", ["call:mine", "call:", "call"])
def test_a_function_needs_a_name(tmp_path, name):
    with pytest.raises(UsageError, match=r"names no function. Write call:MODULE:FUNCTION"):
        answers(name, folder=tmp_path)


def test_the_fingerprint_follows_the_file_of_the_function(tmp_path):
    before, _ = called(tmp_path, "return 'x'")
    same, _ = called(tmp_path, "return 'x'")
    after, _ = called(tmp_path, "return 'y'")
    fewer, _ = called(tmp_path, "return 'x'", contexts=2)
    assert before.fingerprint == same.fingerprint
    assert len({before.fingerprint, after.fingerprint, fewer.fingerprint}) == 3


@contextmanager
def serving(*replies):
    """A server that gives these (status, value) in turn, the last again and again, and keeps what it was sent."""
    asked, waiting = [], list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append((self.path, dict(self.headers), body))
            status, value = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            sent = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_endpoint_by_its_address_gets_the_question_and_its_contexts():
    with serving((200, {"answer": "Four."})) as (url, asked):
        _, found = answers(f"http:{url}/a", contexts=2)
    ((path, _, body),) = asked
    assert path == "/a"
    assert json.loads(body) == {
        "question": ASKED.question,
        "contexts": [{"id": "a", "text": "Four hours."}, {"id": "b", "text": "Two people."}],
    }
    answer = found["q 1"]
    assert (answer.text, answer.error, answer.used) == ("Four.", None, ("a", "b"))
    assert answer.seconds["answer"] > 0


def test_an_endpoint_as_karat_yaml_describes_it(monkeypatch):
    monkeypatch.setenv("KEY", "sk-secret-0123456789")
    body = {"q": "{question}", "passages": "{contexts}", "text": "{id}: {contexts}"}
    http = {"headers": {"Authorization": "Bearer ${KEY}"}, "body": body, "answer": "$.out[0].text", "retries": 1}
    with serving((503, {}), (200, {"out": [{"text": "it is sk-secret-0123456789"}]})) as (url, asked):
        keys = AnswerKeys.model_validate({"by": "http", "http": {"url": f"{url}/a?id={{id}}", **http}})
        answerer, found = answers("http", keys=keys)
    assert len(asked) == 2
    path, headers, sent = asked[-1]
    assert (path, headers["Authorization"]) == ("/a?id=q%201", "Bearer sk-secret-0123456789")
    assert json.loads(sent) == {
        "q": ASKED.question,
        "passages": [{"id": c.id, "text": c.text} for c in CONTEXTS],
        "text": "q 1: Four hours.\n\nTwo people.\n\nLantern.",
    }
    assert found["q 1"].text == "it is ${KEY}"
    assert "secret" not in answerer.fingerprint


def test_what_an_endpoint_does_wrong_is_the_error_of_the_answer():
    for reply, error in [
        ((200, {"answr": "x"}), "$.answer"),
        ((200, {"answer": ["x"]}), "$.answer is no text."),
        ((400, {"oh": "no"}), 'HTTP 400: {"oh": "no"}.'),
    ]:
        with serving(reply) as (url, _):
            _, found = answers(f"http:{url}")
        assert found["q 1"].text is None
        assert error in found["q 1"].error
    with pytest.raises(UsageError, match=r"the answerer http names no endpoint. Write http:URL"):
        answers("http")


def test_replies_that_never_fit_are_remarked():
    with serving((200, {"answr": "x"})) as (url, _):
        answerer, _ = answers(f"http:{url}", ASKED, AnswerRequest("r", "Who?"))
    assert answerer.remarks[0].startswith("no reply fits the paths, so none could be read (")
