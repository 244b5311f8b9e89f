"""Functions as systems: what they may return, what becomes of what they may not, and asking many questions."""

import json
import sys
import threading

import numpy as np
import pytest

from karat.core.errors import UsageError
from karat.core.types import Answer, Gold, Question
from karat.files import as_runs
from karat.systems.outside import CallSettings, SystemReply, ask_all, opened, run_of, run_of_records
from karat.systems.outside import _call as _outside_call

Q = Question("q1", "how long?", answers=("secret answer",), gold=(Gold(id="d1"),), kind="fact")


@pytest.fixture
def load(tmp_path):
    """A system of a function `search` in a file of this text."""
    systems = []

    def make(text, target="mine:search", **settings):
        (tmp_path / "mine.py").write_text(text)
        systems.append(CallSettings(target, tmp_path, **settings).open())
        return systems[-1]

    yield make
    for system in systems:
        system.close()


def returns(load, value, k=5):
    return load(f"import numpy as np\ndef search(question, k):\n    return {value}\n").ask(Q, k)


@pytest.mark.parametrize(
    ("value", "hits", "answer"),
    [
        ("['a', 'b']", [{"id": "a"}, {"id": "b"}], None),
        ("[7, 7.0, np.int64(8)]", [{"id": "7"}, {"id": "7"}, {"id": "8"}], None),
        ("[('a', 2), ['b', np.float32(0.5)]]", [{"id": "a", "score": 2.0}, {"id": "b", "score": 0.5}], None),
        (
            "[{'id': 'a', 'score': 1, 'text': 't', 'doc': 'd', 'page': 3, 'url': 'u', 'more': 1}]",
            [{"id": "a", "doc": "d", "url": "u", "page": "3", "text": "t", "score": 1.0}],
            None,
        ),
        ("[{'doc': 'd', 'page': [3, '4'], 'score': None}]", [{"doc": "d", "page": ("3", "4")}], None),
        ("[{'text': 'only text'}]", [{"text": "only text"}], None),
        ("{'retrieved': ['a'], 'answer': 'yes'}", [{"id": "a"}], "yes"),
        ("{'answer': 'yes'}", None, "yes"),
        ("{'answer': ''}", None, ""),
        ("'in the depot'", None, "in the depot"),
        ("{'retrieved': [], 'answer': None}", [], None),
        ("[]", [], None),
        ("(x for x in 'abc')", [{"id": "a"}, {"id": "b"}, {"id": "c"}], None),
        ("np.array(['a', 'b'])", [{"id": "a"}, {"id": "b"}], None),
        ("iter(int, 1)", [{"id": "0"}] * 5, None),
        ("list('abcdefgh')", [{"id": c} for c in "abcde"], None),
        ("{'hits': ['a'], 'response': 'yes'}", [{"id": "a"}], "yes"),
        ("{'retrieved': {'a': 1, 'b': 2}}", [{"id": "b", "score": 2.0}, {"id": "a", "score": 1.0}], None),
        ("{'doc_ids': ['a', 'b'], 'scores': [2, 1]}", [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}], None),
        ("{'retrieved': (x for x in 'abcdefgh')}", [{"id": c} for c in "abcde"], None),
        ("{'retrieved_contexts': ['one', 'two'], 'response': 'y'}", [{"text": "one"}, {"text": "two"}], "y"),
        (
            "[{'page_content': 't', 'metadata': {'source': 'a.pdf', 'page': 3}}]",
            [{"doc": "a.pdf", "page": "4", "text": "t"}],
            None,
        ),
        (
            "[({'page_content': 't', 'metadata': {'source': 'a.pdf'}}, np.float32(.5))]",
            [{"doc": "a.pdf", "text": "t", "score": 0.5}],
            None,
        ),
    ],
)
def test_what_a_function_may_return(load, value, hits, answer):
    reply = returns(load, value)
    assert reply.error is None
    said = reply.answer.text if reply.answer is not None else None
    assert (None if reply.hits is None else list(reply.hits), said) == (hits, answer)
    assert reply.seconds >= 0


def test_contexts_tokens_cost_and_confidence_reach_the_run(load):
    value = (
        "{'retrieved': ['a'], 'answer': 'yes', 'contexts': ['a text'], 'context_ids': ['a'], 'cost': 0.25, "
        "'usage': {'prompt_tokens': 7, 'completion_tokens': 3, 'cached_tokens': 5}, 'confidence': np.float32(0.5), "
        "'model': 'm1', 'seconds': {'retrieve': 0.125}}"
    )
    reply = returns(load, value)
    row = json.loads(json.dumps(reply.record(Q)))
    answer = run_of_records("mine", [row]).answers["q1"]
    assert (answer.text, answer.contexts, answer.used, answer.model) == ("yes", ("a text",), ("a",), "m1")
    assert (answer.tokens, answer.cost_usd, answer.confidence) == (10, 0.25, 0.5)
    assert answer.seconds == {"retrieve": 0.125, "total": reply.seconds}


def test_documents_of_langchain_are_read_and_their_pages_noted(load):
    system = load(
        "class Document:\n    id, page_content, metadata = None, 't', {'source': 'a.pdf', 'page': 0}\n"
        "def search(question, k):\n    return [(Document(), 0.5), Document()]\n"
    )
    reply = system.ask(Q, 5)
    assert reply.hits == ({"doc": "a.pdf", "page": "1", "text": "t", "score": 0.5},
                          {"doc": "a.pdf", "page": "1", "text": "t"})  # fmt: skip
    assert any("counts from 0" in remark for remark in system.remarks)


def test_a_failure_that_is_returned_is_one(load):
    assert returns(load, "{'error': 'index is down'}").error == "index is down"
    assert returns(load, "{'status': 'failed'}").error == "status failed"
    half = returns(load, "{'retrieved': ['a'], 'answer_error': 'too long'}")
    assert (half.error, half.hits, half.answer.error) == (None, ({"id": "a"},), "too long")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("None", "returned None. Return a list of ids"),
        ("3", "returned 3."),
        ("{'a', 'b'}", "returned {"),
        ("{'retreived': ['a']}", 'nor an error. The field "retreived" is not known. Did you mean retrieved?'),
        ("{'a': 1}", "neither retrieved ids nor an answer nor an error."),
        ("{}", "neither retrieved ids nor an answer nor an error."),
        ("{'retrieved': None}", "neither retrieved ids nor an answer nor an error."),
        ("{'answer': []}", "[] is no text."),
        ("{'retrieved': {'a', 'b'}}", "which has no order."),
        ("['a', None]", "hit 2: None is no id."),
        ("[True]", "hit 1: True is no id."),
        ("['']", 'hit 1: "" is no id.'),
        ("[('a', 1, 2)]", "hit 1: ['a', 1, 2] is no id."),
        ("[('a', 'high')]", 'hit 1: score "high" is not a finite number.'),
        ("[('a', float('nan'))]", "hit 1: score nan is not a finite number."),
        ("[('a', True)]", "hit 1: score True is not a finite number."),
        ("[{'name': 'a'}]", "hit 1: the entry names no unit (fields: name)."),
        ("[{'id': 'a', 'text': ['t']}]", "hit 1: ['t'] is no text."),
        ("{'answer': 'a', 'tokens': 'many'}", 'tokens "many" is not a finite number.'),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("exec('raise SystemExit(3)')", "SystemExit: 3"),
        ("exec('raise TimeoutError(\"theirs\")')", "TimeoutError: theirs"),
        ("exec('raise ValueError')", "ValueError"),
        ("exec('raise ValueError(\"a\\\\nb\\\\x1b[0m\")')", "ValueError: a b"),
    ],
)
def test_what_it_may_not_is_a_failure_with_its_reason(load, value, said):
    reply = returns(load, value)
    assert reply.hits is None
    assert reply.error.startswith(said) or said in reply.error
    assert reply.error.isprintable()


@pytest.mark.parametrize(
    ("head", "seen"),
    [
        ("question, k", ["how long?", 3]),
        ("text, top", ["how long?", 3]),
        ("text, *, k", ["how long?", 3]),
        ("text", ["how long?"]),
        ("text, client='c'", ["how long?", "c"]),
        ("text, client='c', k=9", ["how long?", "c", 3]),
        ("*a", ["how long?", 3]),
        ("text, /, k", ["how long?", 3]),
    ],
)
def test_how_a_function_is_called(load, head, seen):
    names = [n.strip().partition("=")[0] for n in head.split(",") if n.strip() not in ("*", "/")]
    system = load(f"def search({head}):\n    return {{'answer': repr([{', '.join(names)}])}}\n")
    assert system.ask(Q, 3).answer.text == repr(seen)


@pytest.mark.parametrize("annotation", ["Question", "'Question'"])
def test_a_function_that_wants_a_question_gets_no_gold(load, annotation):
    system = load(
        "from karat.core.types import Question\n"
        f"def search(question: {annotation}, k):\n    return {{'answer': repr(question)}}\n"
    )
    assert system.ask(Q, 3).answer.text == repr(Question("q1", "how long?"))


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("def search(): pass\n", "mine:search", "takes no question"),
        ("def search(k): pass\n", "mine:search", "takes no question"),
        ("def search(a, b, c): pass\n", "mine:search", "needs more than a question and k: c. Give them defaults"),
        ("def search(a, *, k, c): pass\n", "mine:search", "needs more than a question and k: c"),
        ("class search:\n    pass\n", "mine:search", "is a class. Give an object of it"),
        ("search = 3\n", "mine:search", "'mine:search' is int, which karat cannot ask. Give a function"),
        ("def serch(q): pass\n", "mine:search", "mine has no function 'search'. Did you mean serch?"),
        ("1 / 0\n", "mine:search", "cannot load the function 'mine:search': ZeroDivisionError: division by zero"),
        ("raise SystemExit(2)\n", "mine:search", "SystemExit: 2"),
        ("", "nowhere_to_be:found", "cannot load the function 'nowhere_to_be:found': No module named"),
    ],
)
def test_a_function_that_cannot_be_called_is_told_before_anything_is_asked(load, text, target, said):
    with pytest.raises(UsageError) as caught:
        load(text, target)
    assert said in str(caught.value)


def test_methods_neighbours_and_installed_modules(load, tmp_path):
    (tmp_path / "beside.py").write_text("IDS = ['n']\n")
    text = "import beside\nclass S:\n    def find(self, q, k):\n        return beside.IDS\nsearcher = S()\n"
    before = list(sys.path)
    assert list(load(text, "mine:searcher.find").ask(Q, 1).hits) == [{"id": "n"}]
    assert sys.path == before
    assert load("", "json:dumps").ask(Q, 1).answer.text == '"how long?"'


def test_async_functions_share_one_loop(load):
    system = load(
        "import asyncio\nloops = set()\n"
        "async def search(question, k):\n"
        "    await asyncio.sleep(0)\n    loops.add(id(asyncio.get_running_loop()))\n    return ['a', str(len(loops))]\n"
    )
    assert [list(system.ask(Q, 2).hits)[1]["id"] for _ in range(3)] == ["1", "1", "1"]


def test_an_async_function_that_fails_or_hangs(load):
    system = load(
        "import asyncio\nasync def search(question, k):\n"
        "    if k == 1:\n        raise KeyError('x')\n    await asyncio.sleep(60)\n",
        timeout_seconds=0.5,
    )
    assert system.ask(Q, 1).error == "KeyError: 'x'"
    assert system.ask(Q, 2).error == "did not return within 0.5 seconds."


HANG = (
    "import threading\nlet_go = threading.Event()\n"
    "def search(question, k):\n    if question == 'hang':\n        let_go.wait(60)\n    return ['a']\n"
)


def test_a_call_that_hangs_fails_and_the_rest_goes_on(load, monkeypatch):
    monkeypatch.setattr(_outside_call, "MOST_HANGING", 2)
    system = load(HANG, timeout_seconds=0.05)
    module = sys.modules["karat_user_mine"]
    try:
        assert system.ask(Question("1", "hang"), 1).error == "did not return within 0.05 seconds."
        assert system.ask(Q, 1).error is None
        assert system.ask(Question("2", "hang"), 1).error == "did not return within 0.05 seconds."
        assert system.remarks == ("2 calls did not end, and will not before karat does.",)
        third = system.ask(Q, 1)
        assert (third.error, third.asked) == ("not asked: 2 earlier calls still hang.", False)
    finally:
        module.let_go.set()


QUESTIONS = [Question(str(i), f"question {i}") for i in range(20)]


@pytest.mark.parametrize("jobs", [1, 4, 50])
def test_every_question_is_asked_once_and_told_in_this_thread(load, jobs):
    system = load("def search(question, k):\n    n = int(question.split()[1])\n    return [n] if n % 5 else 1 / 0\n")
    told = {}

    def done(question, reply):
        assert threading.current_thread() is threading.main_thread()
        assert question.id not in told
        told[question.id] = reply

    ask_all(system, QUESTIONS, 3, jobs, done)
    assert sorted(told, key=int) == [q.id for q in QUESTIONS]
    assert [q for q, r in told.items() if r.error] == [q for q in told if int(q) % 5 == 0]
    assert {r.error for r in told.values()} == {None, "ZeroDivisionError: division by zero"}
    if jobs == 1:
        assert list(told) == [q.id for q in QUESTIONS]


def test_calls_go_on_at_once(load):
    system = load(
        "import threading\nall_here = threading.Barrier(3, timeout=20)\n"
        "def search(question, k):\n    all_here.wait()\n    return ['a']\n"
    )
    replies = []
    ask_all(system, QUESTIONS[:6], 1, 3, lambda q, r: replies.append(r.error))
    assert replies == [None] * 6


def test_after_too_many_failures_no_more_are_asked(load):
    system = load("def search(question, k):\n    1 / 0\n")
    replies = []
    ask_all(system, QUESTIONS, 1, 1, lambda q, r: replies.append(r), max_failures=3)
    assert len(replies) == 20
    assert [r.asked for r in replies] == [True] * 4 + [False] * 16
    assert replies[-1].error == "not asked: more than 3 questions had failed."


def test_what_done_raises_ends_the_asking(load):
    system = load("asked = []\ndef search(question, k):\n    asked.append(question)\n    return []\n")
    with pytest.raises(OSError, match="full"):
        ask_all(system, QUESTIONS, 1, 1, lambda q, r: (_ for _ in ()).throw(OSError("disk full")))
    ask_all(system, [], 1, 1, lambda q, r: None)
    with pytest.raises(UsageError, match="k=0"):
        ask_all(system, QUESTIONS, 0, 1, lambda q, r: None)


def test_what_a_function_prints_goes_to_standard_error(tmp_path, capsys):
    (tmp_path / "loud.py").write_text("print('hello')\ndef search(q):\n    print('asked')\n    return []\n")
    with opened(CallSettings("loud:search", tmp_path), "loud") as system:
        ask_all(system, QUESTIONS[:1], 1, 1, lambda q, r: None)
        assert system.name == "loud"
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "hello\nasked\n")


def test_replies_become_a_run_by_way_of_canonical_rows(load):
    replies = [
        (
            Question("1"),
            SystemReply(
                hits=({"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}), answer=Answer("1", "yes"), seconds=0.5
            ),
        ),
        (Question("2"), SystemReply(seconds=0.1, error="ValueError: x")),
        (Question("3"), SystemReply(hits=(), answer=None, seconds=0.2)),
    ]
    rows = [json.loads(json.dumps(reply.record(question))) for question, reply in replies]
    assert rows[1] == {"id": "2", "status": "failed", "error": "ValueError: x", "seconds": {"total": 0.1}}
    run = run_of("mine", replies)
    assert (run.name, run.doc_list, run.failed) == ("mine", ["a", "b"], {"2": "ValueError: x"})
    assert run.question_ids == ["1", "3"]
    assert run.answers["1"].text == "yes"
    assert run.answers["1"].seconds == {"total": 0.5}
    (same,), _ = as_runs(rows, "mine")
    assert same.failed == run.failed
    assert run_of("none", replies[1:2]).failed == {"2": "ValueError: x"}
    assert np.array_equal(run.scores, [2.0, 1.0])


def test_a_loop_that_was_never_needed_is_not_there(load):
    system = load("def search(q):\n    return []\n")
    system.ask(Q, 1)
    assert system._function._loop is None
