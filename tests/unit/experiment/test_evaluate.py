"""Any system as it is: what is returned is scored, what goes wrong fails with its reason, nothing is silent."""

import asyncio
import json
import socket
import time
from dataclasses import dataclass
from types import SimpleNamespace as Made

import pytest

import karat

QUESTIONS = [{"id": f"q{n}", "question": f"Where is thing {n}?", "gold": [f"d{n}"]} for n in range(1, 7)]
GOLD = {one["question"]: one["gold"][0] for one in QUESTIONS}
MEASURES = ["Recall@3", "MRR@3"]


def right(question):
    return [GOLD[question], "x", "y"]


def evaluated(systems, **settings):
    return karat.evaluate(QUESTIONS, systems, measures=MEASURES, **settings)


def flat(report):
    return " ".join(str(report).split())


def told(report):
    """(status, value) of every question by the first measure."""
    return [(row["status"], row["Recall@3"]) for row in report.per_query.to_dicts()]


OK, FAILED = ("ok", 1.0), ("failed", None)


class Retriever:
    """Somebody's own class."""

    def __init__(self, retrieve):
        self.retrieve = retrieve


def generated(question):
    yield from right(question)


def endless(question):
    while True:
        yield GOLD[question]


def broken_off(question):
    yield GOLD[question]
    raise ValueError("the line is dead")


def raising(question):
    raise LookupError("no index here")


def leaving(question):
    raise SystemExit(3)


@pytest.mark.parametrize("asked", [lambda search: search, Retriever], ids=["function", "object"])
@pytest.mark.parametrize(
    ("search", "reason"),
    [
        (lambda question: None, "returned None. Return a list of ids"),
        (lambda question: 7, "returned 7. Return a list of ids"),
        (lambda question: b"d1", "returned b'd1'"),
        (lambda question: {GOLD[question]}, "returned {'d1'}"),
        (lambda question: [None], "hit 1: None is no id"),
        (lambda question: [(GOLD[question], float("nan"))], "hit 1: score nan is not a finite number"),
        (lambda question: {"found": 1}, "neither retrieved ids nor an answer nor an error"),
        (lambda question: {"error": "out of credit"}, "out of credit"),
        (broken_off, "ValueError: the line is dead"),
        (raising, "LookupError: no index here"),
        (leaving, "SystemExit: 3"),
    ],
)
def test_what_cannot_be_read_fails_with_its_reason(asked, search, reason):
    report = evaluated({"mine": asked(search)})
    assert told(report) == [FAILED] * 6
    assert all(reason in row["reason"] for row in report.per_query.head(1).to_dicts())
    assert f"mine: 6 of 6 questions failed and are in no mean: {reason}" in flat(report)


def test_a_question_that_fails_leaves_the_others_alone():
    report = evaluated(lambda question: None if "thing 2" in question else right(question))
    assert told(report) == [OK, FAILED, *[OK] * 4]
    assert "1 of 6 questions failed" in flat(report)
    assert [verdict.outcome for verdict in karat.gate(report, ["failed == 0"]).verdicts] == ["fail"]


def test_a_text_is_no_list_of_hits():
    """Of a function it may be an answer, which is said; of a retriever it is a mistake."""
    report = evaluated({"mine": lambda question: "d1, d2"})
    assert told(report) == [("undefined", None)] * 6
    assert "read as function: 6 answers for 6 questions" in flat(report)
    assert "returned 'd1, d2'" in flat(evaluated({"mine": Retriever(lambda question: "d1, d2")}))


def test_generators_are_read_as_far_as_they_are_wanted():
    assert told(evaluated(generated)) == [OK] * 6
    assert told(evaluated(endless)) == [OK] * 6


def test_hits_that_repeat_count_once_and_are_noted():
    report = evaluated({"mine": lambda question: ["x", GOLD[question], GOLD[question]]})
    assert report.mean("MRR@3") == 0.5
    assert report.mean("Recall@3") == 1.0
    assert "mine: the same hit several times for 6 questions: it keeps its ranks, and counts once." in flat(report)
    chunks = evaluated(lambda question: [{"doc": GOLD[question], "text": text} for text in ("one", "two")])
    assert "several times" not in flat(chunks)


@pytest.mark.parametrize("wrapped", [lambda hits: hits, lambda hits: {"retrieved": hits}], ids=["list", "record"])
def test_hits_beyond_what_was_asked_for_are_left_out_and_that_is_said(wrapped):
    many = [f"x{n}" for n in range(10_000)]
    report = evaluated({"mine": lambda question: wrapped([GOLD[question], *many])}, k=5)
    assert told(report) == [OK] * 6
    assert "mine: more than the 20 hits that are kept in 6 lists: the rest is left out." in flat(report)
    assert "120 hits for 6 questions" in flat(report)
    assert "left out" not in flat(evaluated(right))


def test_a_call_that_hangs_is_given_up():
    def hanging(question):
        time.sleep(0.2 if "thing 1" not in question else 1.5)
        return right(question)

    begun = time.perf_counter()
    report = evaluated({"mine": hanging}, asking={"timeout_seconds": 0.5, "jobs": 6})
    assert time.perf_counter() - begun < 30
    assert told(report) == [FAILED, *[OK] * 5]
    assert "did not return within 0.5 seconds (q1)" in flat(report)
    assert "1 call did not end" in flat(report)


def test_the_reply_to_another_question_fails():
    report = evaluated({"late": lambda question: {"question": "Where is thing 1?", "retrieved": ["d1"]}})
    assert told(report) == [OK, *[FAILED] * 5]
    assert "replied to another question, 'q1' (5 times, first q2)" in flat(report)


def test_the_same_hits_for_every_question_are_noted():
    report = evaluated({"deaf": lambda question: ["d1", "d2"]})
    assert "deaf: all 6 questions got the same hits. Check that it is given the question." in flat(report)


def test_hits_that_share_nothing_with_the_gold_are_refused():
    with pytest.raises(karat.KaratError, match="none of the gold is among the hits of 'mine'"):
        evaluated({"mine": lambda question: [f"no {question}"]})
    with pytest.raises(karat.KaratError, match="'mine' returned no hits for any question"):
        evaluated({"mine": lambda question: []})


def test_an_async_function_is_asked_inside_and_outside_of_a_running_loop():
    loops = set()

    async def search(question, k):
        await asyncio.sleep(0)
        loops.add(asyncio.get_running_loop())
        return right(question)[:k]

    async def notebook():
        return evaluated(search), asyncio.get_running_loop()

    outside = evaluated(search)
    inside, own = asyncio.run(notebook())
    assert told(inside) == told(outside) == [OK] * 6
    assert own not in loops
    assert "read as async function" in flat(inside)


def test_an_async_function_that_hangs_or_raises():
    async def search(question):
        if "thing 1" in question:
            await asyncio.sleep(60)
        if "thing 2" in question:
            raise ConnectionError("refused")
        return right(question)

    report = evaluated(search, asking={"timeout_seconds": 0.5})
    assert told(report) == [FAILED, FAILED, *[OK] * 4]
    assert "did not return within 0.5 seconds (q1); ConnectionError: refused (q2)" in flat(report)


def test_a_url_that_is_down_fails_every_question(monkeypatch):
    for proxy in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/search"
        report = evaluated({"down": address}, asking={"jobs": 6})
    assert told(report) == [FAILED] * 6
    assert "down cannot be reached" in flat(report)


def test_too_many_failures_end_the_asking():
    calls = []

    def failing(question):
        calls.append(question)
        raise LookupError("away")

    report = evaluated(failing, asking={"max_failures": 2})
    assert len(calls) == 3
    assert told(report) == [FAILED] * 6


def test_several_systems_of_any_kind_stand_side_by_side(tmp_path):
    file = tmp_path / "yesterday.jsonl"
    rows = [{"id": one["id"], "retrieved": right(one["question"])} for one in QUESTIONS]
    file.write_text("\n".join(map(json.dumps, rows)))

    @dataclass
    class Reply:
        retrieved: list
        answer: str

    systems = {
        "function": right,
        "object": Retriever(right),
        "reply": lambda question: Reply(right(question), "there"),
        "documents": lambda question: [Made(page_content="t", id=one, metadata={}) for one in right(question)],
        "file": file,
        "rows": rows,
        "named": karat.system(lambda text: Made(found=right(text), said="x"), hits=lambda reply: reply.found),
    }
    report = evaluated(systems)
    assert report.systems == tuple(systems)
    assert {row["Recall@3"] for row in report.per_query.to_dicts()} == {1.0}
    for kind in (
        "function: 18 hits",
        "Retriever object, asked by retrieve(): 18 hits",
        "karat JSONL",
        "read ids from id",
    ):
        assert kind in flat(report)


def test_one_system_that_is_broken_leaves_the_others():
    report = evaluated({"good": right, "broken": raising})
    assert told(report) == [OK] * 6 + [FAILED] * 6
    assert report.mean("MRR@3", system="good") == 1.0


def test_an_index_of_karats_is_said_to_be_one(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("ice", "fuel"):
        (folder / f"{name}.txt").write_text(f"The {name} is kept here.")
    index = karat.index(folder, tmp_path / "x.index", engines="bm25")
    questions = [
        {"id": name, "question": f"Where is the {name}?", "gold": [{"doc": f"{name}.txt"}]} for name in ("ice", "fuel")
    ]
    for system in (index, str(tmp_path / "x.index")):
        report = karat.evaluate(questions, {"own": system}, measures="MRR@3")
        assert report.mean("MRR@3") == 1.0
        assert "own read as karat index: 2 hits for 2 questions" in flat(report)


def test_repeats_are_averaged_within_a_question():
    asked = {}

    def wavering(question):
        asked[question] = asked.get(question, 0) + 1
        return right(question) if asked[question] % 2 else ["x", "y", GOLD[question]]

    report = evaluated({"mine": wavering}, repeat=2)
    assert set(asked.values()) == {2}
    assert report.mean("MRR@3") == pytest.approx((1 + 1 / 3) / 2)
    assert report.per_query.height == 6


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"repeat": 0}, "repeat=0"),
        ({"asking": {"timeout_seconds": 0}}, "timeout_seconds=0"),
        ({"asking": {"jobs": 0}}, "jobs=0"),
        ({"k": 0}, "k=0"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_asked(given, sentence):
    def never(question):
        raise AssertionError("asked")

    with pytest.raises(karat.KaratError, match=sentence):
        karat.evaluate(QUESTIONS, never, **given)


def test_what_is_no_system_is_refused():
    with pytest.raises(karat.KaratError, match=r"is a class\. Give an object of it"):
        evaluated(Retriever)
    with pytest.raises(karat.KaratError, match="nowhere"):
        evaluated("nowhere.jsonl")
    with pytest.raises(karat.KaratError, match="question"):
        karat.evaluate({"q1": ["d1"]}, right)
