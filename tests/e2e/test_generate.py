"""karat testset make over the demo's documents, with a chat server on this machine and without one."""

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import karat
from karat.core.text import sentences
from karat.core.types import TestSet
from karat.files import read_testset
from karat.match import resolve
from karat.systems.index import Index
from karat.systems.index import index as build
from karat.testing import FakeLLM, Fault
from karat.testset._kind import KINDS

DOCS = Path(karat.__file__).parent / "experiment" / "_demo" / "docs"
FENCED = re.compile(r"<<<fragment(?: \d)? \| (\w+)>>>\n(.*?)\n<<<end of fragment(?: \d)? \| \1>>>", re.S)
OPENINGS = {
    "literal": "What should newcomers bear in mind concerning",
    "scenario": "My cousin arrives tomorrow and worries: which advice helps him with",
    "paraphrased": "Which habit do experienced folks follow around",
    "false_premise": "Why did somebody abolish everything about",
    "negated": "Which exception never applies to",
    "inferential": "Which conclusion follows from",
    "multi_hop": "Which link joins",
    "ambiguous": "Whose turn is it with",
}
SIZES = {"question": 120, "answer": 60, "quote": 200}  # characters that the small model may write
EVERY = ",".join(KINDS.names())


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return build([DOCS], tmp_path_factory.mktemp("generate") / "demo.index").path


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def told_in(text):
    """A sentence of a fragment, and its longest words."""
    whole = [one for one in sentences(text) if one.endswith(".") and 8 <= len(one.split()) <= 30]
    told = (whole or sentences(text))[len(whole) // 2]
    words = [re.sub(r"\W", "", word) for word in told.split()]
    return told, sorted(dict.fromkeys(filter(None, words)), key=lambda word: (-len(word), word))


def written(request):
    """What a sound model writes, of any kind."""
    asked = request.messages[1]["content"]
    told = [told_in(text) for _, text in FENCED.findall(asked)]
    (quote, words), *second = told
    answer = " ".join(quote.split()[3:])
    if '"quote"' not in asked and not second:
        return json.dumps({"question": f"Which workshop in Antwerp engraved {words[0]} beside {words[1]}?"})
    about = " and ".join(" ".join(each[:2]) for _, each in told)
    kind = next(kind.name for kind in KINDS if kind.task in asked)
    if kind == "literal":
        about = " ".join(words[:4])
    question = f'3) Question: "{OPENINGS.get(kind, OPENINGS["literal"])} {about}?"'
    if second:
        quotes = {"quote_1": quote, "quote_2": second[0][0]}
        return json.dumps({"question": question, "answer": f"{answer} {second[0][0]}", **quotes})
    return json.dumps({"question": question, "answer": f"Answer: {answer}", "quote": quote})


def asking(llm, *more):
    return ("--model", "fake", "--base-url", llm.base_url, *more)


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_every_kind_is_made_and_the_counts_add_up(karat, demo):
    with FakeLLM(written) as llm:
        told = karat(
            "testset", "make", demo, "--samples", 5, "--kinds", EVERY, *asking(llm), "-o", "qa.jsonl", "--json"
        )
        asked = llm.count
    assert told.code == 0, told.err
    report = json.loads(told.out)
    rows = lines("qa.jsonl")
    assert report["accepted"] == Counter(row["kind"] for row in rows)
    assert set(report["accepted"]) == set(EVERY.split(","))
    assert all(report["accepted"].values())
    assert (
        report["tried"]
        == report["new"] + sum(report["rejected"].values())
        == len(rows) + len(report["drafts_rejected"])
    )
    assert asked == report["tried"] - report["rejected"].get("no_related_chunk", 0) == report["model"]["calls"]
    assert len(report["sample"]) + len(report["left_out"]) == len(Index.open(demo).chunks)
    for row in rows:
        assert not re.match(r"\d|Question|[\"“]", row["question"])
        assert row["tags"]["language"] == "en"
        assert row["tags"]["source"] == f"{row['kind']}/1"
        assert bool(row["gold"]) == row.get("answerable", True) == (row["kind"] != "unanswerable")


@pytest.mark.slow
def test_the_gold_is_found_however_the_documents_are_cut(karat, demo, folder):
    with FakeLLM(written) as llm:
        told = karat(
            "testset",
            "make",
            demo,
            "--samples",
            12,
            "--kinds",
            "literal,comparative",
            *asking(llm),
            "-o",
            "qa.jsonl",
            "-q",
        )
    assert told.code == 0, told.err
    testset, _ = read_testset("qa.jsonl")
    original = Index.open(demo)
    found = resolve(testset, original.chunks, original.docs)
    assert (found.unresolved, set(found.kinds)) == ((), {"quote"})
    named = [gold.chunk for question in testset for gold in question.gold]
    holders = [{original.chunks[row].id for row in rows.tolist()} for rows in found.holders]
    assert len(named) == len(holders)
    assert all(chunk in held for chunk, held in zip(named, holders, strict=True))
    for cutting in ("tokens:60", "page", "sentences:4"):
        other = build([DOCS], folder / f"{cutting.partition(':')[0]}.index", chunk=cutting, engines="bm25")
        assert resolve(testset, other.chunks, other.docs).unresolved == (), cutting
    assert karat("testset", "check", "qa.jsonl", folder / "page.index", "--only", "unknown_gold").code == 0


@pytest.mark.slow
def test_the_same_seed_and_replies_make_the_same_bytes_and_nothing_is_asked_twice(karat, demo):
    words = ("testset", "make", demo, "--samples", 6, "--kinds", "literal,unanswerable", "--seed", 4)
    with FakeLLM(written) as llm:
        assert karat(*words, *asking(llm), "-o", "a.jsonl", "-j", 1).code == 0
        first = llm.count
        assert karat(*words, *asking(llm), "-o", "b.jsonl", "-j", 16).code == 0
        assert llm.count == 2 * first
        assert karat(*words, *asking(llm), "-o", "a.jsonl", "--force", "-q").code == 0
        assert karat(*words, *asking(llm), "-o", "c.jsonl", "--calls", "a.jsonl.calls.sqlite").code == 0
        assert llm.count == 2 * first
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes() == Path("c.jsonl").read_bytes()


def test_a_budget_ends_the_asking_and_the_rest_is_asked_later(karat, demo):
    words = ("testset", "make", demo, "--samples", 8, "--kinds", "literal")
    with FakeLLM(written) as llm:
        told = karat(*words, *asking(llm), "-o", "qa.jsonl", "--max-calls", 3)
        assert (told.code, llm.count, len(lines("qa.jsonl"))) == (5, 3, 3)
        assert re.search(r"model_failed +5\n", told.out)
        assert "5 calls of the model failed. The same command with --force asks again only what" in told.err
        assert karat(*words, *asking(llm), "-o", "qa.jsonl", "--force").code == 0
        paid = llm.count
        assert karat(*words, *asking(llm), "-o", "whole.jsonl").code == 0
    assert Path("qa.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert paid == llm.count - paid


def test_what_was_paid_before_a_stop_is_not_paid_again(karat, demo):
    words = ("testset", "make", demo, "--samples", 8, "--kinds", "literal", "-o", "qa.jsonl")
    answered, stopped = [], True

    def until_the_key_ends(request):
        if stopped and len(answered) >= 3:
            return Fault("unauthorized", times=None)
        answered.append(request.digest)
        return written(request)

    with FakeLLM(until_the_key_ends) as llm:
        told = karat(*words, *asking(llm, "-j", 1))
        assert (told.code, len(answered)) == (2, 3)
        assert not Path("qa.jsonl").exists()
        stopped = False
        assert karat(*words, *asking(llm, "-j", 1)).code == 0
    assert len(answered) == len(set(answered))
    assert len(lines("qa.jsonl")) == 8


@pytest.mark.slow
def test_an_interrupted_command_goes_on_from_there(demo, folder, karat):
    answered, hanging = [], True

    def slow(request):
        if hanging and len(answered) >= 3:
            return Fault("hang", times=None)
        answered.append(request.digest)
        return written(request)

    with FakeLLM(slow) as llm:
        words = [
            "testset",
            "make",
            str(demo),
            "--samples",
            "8",
            "--kinds",
            "literal",
            *asking(llm, "-j", "1"),
            "-o",
            "qa.jsonl",
        ]
        code = "from karat.cli.main import main; main()"
        process = subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.PIPE, encoding="utf-8")
        try:
            while llm.count < 4:
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 130
        assert said.endswith("karat: interrupted. The same command goes on from there.\n")
        assert not Path("qa.jsonl").exists()
        hanging = False
        assert karat(*words).code == 0
    assert len(answered) == len(set(answered))
    assert len(lines("qa.jsonl")) == 8


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["prose", "broken_json", "wrong_schema", "other_language"])
def test_replies_that_misbehave_are_repaired_or_counted(karat, demo, fault):
    with FakeLLM(written, {Fault(fault, times=None): 0.5}, seed=3) as llm:
        told = karat(
            "testset", "make", demo, "--samples", 6, "--kinds", "literal", *asking(llm), "-o", "qa.jsonl", "--json"
        )
    report = json.loads(told.out)
    assert told.code == 0
    assert report["tried"] == report["new"] + sum(report["rejected"].values())
    assert report["new"] == len(lines("qa.jsonl")) > 0
    # The fixture's questions are words in a row, some of which end like a cut sentence.
    assert set(report["rejected"]) <= {"unreadable", "duplicate", "refused", "off_topic", "not_a_question"}


def test_a_reply_that_is_cut_off_is_counted_as_such(karat, demo):
    with FakeLLM(lambda request: '{"question": "' + "why and " * 1000) as llm:
        told = karat(
            "testset", "make", demo, "--samples", 1, "--kinds", "literal", *asking(llm), "-o", "qa.jsonl", "--json"
        )
    assert told.code == 3
    assert json.loads(told.out)["rejected"] == {"cut_off": 4}
    assert not Path("qa.jsonl").exists()


def test_refusals_leave_no_file_and_say_why(karat, demo):
    with FakeLLM("I'm sorry, but I cannot help with that.") as llm:
        told = karat("testset", "make", demo, "--samples", 2, *asking(llm), "-o", "qa.jsonl")
    assert told.code == 3
    assert "no question was made: 24 drafts were tried, and none passed." in told.out
    assert re.search(r"refused +24\n", told.out)
    assert not Path("qa.jsonl").exists()


def test_a_test_set_is_extended_in_place_and_gaps_are_filled_first(karat, demo):
    with FakeLLM(written) as llm:
        words = ("testset", "make", demo, *asking(llm), "--kinds", "literal", "--json")
        assert karat(*words, "--samples", 10, "--doc", "handbook.pdf", "-o", "qa.jsonl").code == 0
        stood = Path("qa.jsonl").read_bytes()
        told = karat(*words, "--samples", 12, "--extend", "qa.jsonl", "--fill-gaps")
    assert told.code == 0, told.err
    assert Path("qa.jsonl").read_bytes().startswith(stood)
    rows = lines("qa.jsonl")
    assert [row["id"] for row in rows] == [f"literal-{n:03d}" for n in range(1, len(rows) + 1)]
    assert len({row["question"] for row in rows}) == len(rows) == 22
    first, more = rows[:10], rows[10:]
    assert {row["gold"][0]["doc"] for row in first} == {"handbook.pdf"}
    assert all(row["gold"][0]["doc"] != "handbook.pdf" for row in more)


def test_a_mix_is_read_from_a_file(karat, demo, put):
    put("mix.yaml", "phrasing: {concise: 0.5, verbose: 0.5}\ntone:\n  polite: {share: 1, manner: Ask politely.}\n")
    with FakeLLM(written) as llm:
        words = ("testset", "make", demo, "--samples", 6, "--kinds", "literal", *asking(llm))
        assert karat(*words, "--mix", "mix.yaml", "-o", "qa.jsonl").code == 0
        assert all("Ask politely." in request.messages[1]["content"] for request in llm.requests)
        assert karat(*words, "--mix", "default", "-o", "default.jsonl").code == 0
    drawn = Counter(row["tags"]["phrasing"] for row in lines("qa.jsonl"))
    assert abs(drawn["concise"] - drawn["verbose"]) <= 2
    assert drawn.total() == 6
    assert {"question_type", "user_expertise", "phrasing"} <= set(lines("default.jsonl")[0]["tags"])


def test_without_a_model_grammar_makes_questions_and_says_what_it_cannot(karat, demo):
    told = karat("testset", "make", demo, "--samples", 15, "--offline", "-o", "qa.jsonl")
    assert told.code == 0, told.err
    assert "Left out, since only a chat model makes them: " in told.out
    rows = lines("qa.jsonl")
    assert sum(row["kind"] == "literal" for row in rows) == 15
    assert all(row["tags"]["source"].startswith("offline/") and "model" not in row["tags"] for row in rows)
    again = karat("testset", "make", demo, "--samples", 15, "--offline", "-o", "again.jsonl", "-q")
    assert again.code == 0
    assert Path("qa.jsonl").read_bytes() == Path("again.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "new.jsonl"), "no chat model is named to write questions"),
        (("--offline",), "no file is named for the test set"),
        (("--offline", "-o", "qa.jsonl"), "qa.jsonl exists, and nothing is overwritten unasked"),
        (("--offline", "-o", "new.csv"), "a test set is written as JSONL"),
        (("--offline", "-o", "new.jsonl", "--model", "m"), "--offline asks no model"),
        (("--offline", "-o", "new.jsonl", "--fill-gaps"), "--fill-gaps needs a test set"),
        (("--offline", "-o", "new.jsonl", "--mix", "default"), "--mix tells a chat model how to ask"),
        (("--offline", "-o", "new.jsonl", "--kinds", "scenario"), "scenario: made by a chat model only"),
        (("--offline", "-o", "new.jsonl", "--kinds", "litral"), "unknown kind 'litral'. Did you mean literal"),
        (("--offline", "-o", "new.jsonl", "--samples", "0"), "--samples 0"),
        (("--offline", "-o", "new.jsonl", "--doc", "handbok.pdf"), "no document of the index is called 'handbok.pdf'"),
        (("--model", "m", "--mix", "lost.yaml", "-o", "new.jsonl"), "lost.yaml: does not exist"),
        (("--offline", "-o", "new.jsonl", "--repeat", "3"), "--repeat is for judges"),
        (("--offline", "--extend", "lost.jsonl"), "lost.jsonl"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(karat, demo, files, words, said):
    before = Path("qa.jsonl").read_bytes()
    told = karat("testset", "make", demo, *words)
    assert (told.code, said in told.sentence) == (2, True), told.err
    assert Path("qa.jsonl").read_bytes() == before
    assert not Path("new.jsonl").exists()


@pytest.mark.slow
def test_a_frozen_test_set_stays_as_it_is(karat, demo):
    words = ("testset", "make", demo, "--samples", 2, "--offline", "-q")
    assert karat(*words, "-o", "qa.jsonl").code == 0
    assert karat("testset", "freeze", "qa.jsonl", "--version", "1").code == 0
    for more in (("--extend", "qa.jsonl"), ("-o", "qa.jsonl", "--force")):
        assert "qa.jsonl is frozen as version 1" in karat(*words, *more).sentence
    assert karat(*words, "--extend", "qa.jsonl", "-o", "more.jsonl").code == 0
    assert [row["id"] for row in lines("more.jsonl")] == [f"literal-{n:03d}" for n in (1, 2, 3, 4)]
    Path("qa.jsonl").rename("kept.jsonl")
    assert "qa.jsonl was frozen as version 1" in karat(*words, "-o", "qa.jsonl").sentence
    Path("qa.jsonl").write_bytes(Path("more.jsonl").read_bytes())
    told = karat(*words, "--extend", "qa.jsonl", "-o", "most.jsonl")
    assert "frozen as version 1 (digest" in told.out
    assert "changed since" in told.out


def test_several_questions_from_each_chunk_by_grammar(karat, demo):
    told = karat("testset", "make", demo, "--samples", 4, "--each", 3, "--offline", "-o", "qa.jsonl", "--json")
    assert json.loads(told.out)["wanted"] == {"literal": 12}
    held = Counter(row["gold"][0]["chunk"] for row in lines("qa.jsonl"))
    assert held.total() == 12
    assert 1 < max(held.values()) <= 3
    with FakeLLM(written) as llm:
        refused = karat("testset", "make", demo, "--each", 2, *asking(llm), "-o", "other.jsonl")
    assert "--each 2: a model writes one question" in refused.sentence


def test_from_python(demo, folder):
    made = karat.generate(demo, samples=5, kinds=["literal"], offline=True)
    assert isinstance(made.testset, TestSet)
    assert (len(made.testset), made.output, made.spent, made.n_failed) == (5, None, None, 0)
    assert list(folder.iterdir()) == []


@pytest.mark.local
def test_a_small_model_goes_all_the_way_and_what_is_weak_is_not_shipped(demo, folder, local_model):
    from karat.experiment.models import models_of
    from karat.models.chat import ChatSettings
    from karat.testset.check import Surroundings, judge_draft

    texts = {name: {"type": "string", "maxLength": most} for name, most in SIZES.items()}
    schema = {"type": "object", "properties": texts, "required": list(texts), "additionalProperties": False}
    form = {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}}
    model = ChatSettings(local_model.name, base_url=local_model.base_url, jobs=1, max_tokens=200, extra=form)
    made = karat.generate(demo, samples=10, kinds="literal", chat={"model": model, "max_calls": 12}, output="qa.jsonl")
    told = made.generated
    print(f"{len(made.questions)} of 10", Counter(one.reason for one in told.rejected))
    assert len(made.questions) + len(told.rejected) >= 10
    assert len(made.questions) + sum(one.draft is not None for one in told.rejected) >= 5  # drafts that filters judged
    tried = {row for one in told.rejected for row in one.rows}
    tried |= {one.row for draft in told.drafts.values() for one in draft.fragments}
    assert tried >= set(told.sampled.rows)
    assert Path("qa.jsonl").exists() == bool(made.questions)
    if not made.questions:
        assert told.notes
        return
    opened = Index.open(demo)
    assert resolve(made.testset, opened.chunks, opened.docs).unresolved == ()
    surroundings = Surroundings(opened.chunks, models_of(index=opened))
    accepted = []
    for question in made.questions:
        assert judge_draft(told.drafts[question.id], surroundings, accepted).rejected is None
        accepted.append(told.drafts[question.id])
