"""Systems whose questions a chat model rewrites, or whose hits it reranks: results, failures, seconds and names."""

import json

import numpy as np
import pytest

import karat
from karat.core.errors import KaratError, UsageError
from karat.core.models import ChatReply, Models
from karat.experiment.explain import explain
from karat.experiment.search import search_all
from karat.experiment.spec import spec_of
from karat.systems.engines import Engines
from karat.systems.hits import search_one
from karat.systems.retrieval import Memory, Retrieval
from karat.systems.settings import SystemSettings
from karat.systems.system import System

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
}
QUESTIONS = ["How long is the night watch?", "Who is on the air every Monday?"]
HYDE = SystemSettings("bm25", rewrite=("hyde",))
RERANK = SystemSettings("bm25", rerank="chat")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by_chat")
    lines = [json.dumps({"id": name, "text": text}) for name, text in PASSAGES.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    return karat.index(folder / "corpus.jsonl", folder / "i", chunk="whole")


class Stub:
    """A chat model that says what `reply` makes of a prompt, and remembers every batch."""

    def __init__(self, reply, label="stub"):
        self.reply, self.label, self.batches = reply, label, []

    def ask(self, prompts, said=None):
        self.batches.append([prompt.user for prompt in prompts])
        return [self.reply(prompt.user) for prompt in prompts]


def on_air(user):
    """A passage on the radio for the question that asks who is on the air; the other call fails."""
    return (
        ChatReply("The radio room answers to a call name.", seconds=50.0)
        if "air" in user
        else ChatReply(error="HTTP 500")
    )


def graded(user):
    """Ten for the passage that holds "by two people"; where there is none, a failure."""
    before, found, _ = user.partition("by two people")
    if not found:
        return ChatReply(error="HTTP 500", seconds=3.0)
    number = int(before.rpartition("<<<passage ")[2].partition(" ")[0])
    return ChatReply(json.dumps({"grades": [{"passage": number, "grade": 10}]}), seconds=3.0)


def lists(found):
    return [[chunk.id for _, chunk in found.hits(i)] for i in range(len(found.ranked))]


def test_a_question_is_searched_with_what_the_model_made_of_it_and_a_failure_has_no_hits(index):
    chat = Stub(on_air)
    found = System(HYDE, index, Models(chat=chat)).search(QUESTIONS, 2)
    assert lists(System(SystemSettings("bm25"), index).search(QUESTIONS[1:], 2)) == [["fuel"]]
    assert lists(found) == [[], ["radio", "fuel"]]
    assert found.failed == {0: "hyde: HTTP 500"}
    assert [len(batch) for batch in chat.batches] == [2]
    run = found.run("x", ["a", "b"])
    assert (run.question_ids, run.failed) == (["b"], {"a": "hyde: HTTP 500"})
    assert run.doc_list[0] == "radio"
    assert found.seconds["rewriting"][1] == 50.0


def test_a_failure_leaves_the_scores_of_the_others_as_they_are(index):
    """Where no question has several phrasings, nothing is fused, and scores are the engine's own."""
    chat = Stub(lambda user: ChatReply(error="down") if "night" in user else ChatReply(""))
    found = System(HYDE, index, Models(chat=chat)).search([*QUESTIONS, QUESTIONS[1]], 3)
    alone = System(SystemSettings("bm25"), index).search(QUESTIONS[1:], 3)
    assert found.ranked.of(1)[1].tolist() == found.ranked.of(2)[1].tolist() == alone.ranked.of(0)[1].tolist()
    assert found.notes == (
        "hyde: the reply holds nothing to search by; the question was searched alone. (2 of 3 questions)",
    )


def test_where_every_question_failed_nothing_is_searched(index):
    found = System(HYDE, index, Models(chat=Stub(lambda user: ChatReply(error="down")))).search(QUESTIONS, 2)
    assert lists(found) == [[], []]
    assert set(found.failed) == {0, 1}


def test_hits_are_reranked_by_the_model(index):
    chat = Stub(graded)
    settings = SystemSettings("dense", rerank="chat", rerank_depth=4)
    found = System(settings, index, Models(chat=chat)).search(["Who drinks coffee?", "Fuel?"], 3)
    assert lists(found)[0][0] == "watch"
    assert found.failed == {}
    shallow = SystemSettings("dense", rerank="chat", rerank_depth=1)
    found = System(shallow, index, Models(chat=chat)).search(["fuel in each tank?"], 3)
    assert found.failed == {0: "reranking by chat: HTTP 500"}
    assert [len(batch) for batch in chat.batches] == [2, 1]


@pytest.mark.parametrize("settings", [HYDE, RERANK])
def test_without_a_chat_model_such_a_system_is_refused(index, settings):
    with pytest.raises(UsageError, match="--model"):
        System(settings, index).search(QUESTIONS)
    with pytest.raises(UsageError, match="--model"):
        Retrieval(index, QUESTIONS).of(settings, 3)


def test_names_tell_what_is_done():
    assert HYDE.name == "bm25+hyde"
    assert RERANK.name == "bm25+rerank:chat"
    named = SystemSettings(
        fusion="rrf", rewrite=("translate:ru", "expand:lists/a.txt", "rephrase:5"), rerank="models/x"
    )
    assert named.name == "rrf+translate:ru+expand+rephrase:5+rerank"
    assert [s.needs_chat for s in (HYDE, RERANK, SystemSettings(), SystemSettings(rewrite=("spell",)))] == [
        True, True, False, False,
    ]  # fmt: skip


def test_in_karat_yaml_languages_numbers_and_chat_are_no_paths(tmp_path):
    systems = "[{engine: bm25, rewrite: ['translate:de', 'rephrase:2', 'expand:a.txt'], rerank: chat}]"
    (listed,) = spec_of(f"testset: q.json\ncorpus: docs\nmodel: m\nsystems: {systems}\n", tmp_path).systems()
    assert listed.name == "bm25+translate:de+rephrase:2+expand+rerank:chat"
    assert listed.source.rewrite == ("translate:de", "rephrase:2", f"expand:{tmp_path / 'a.txt'}")
    assert listed.source.rerank == "chat"
    assert [path.name for path in listed.source.reads()] == ["a.txt"]


class Kept(Memory):
    """Remembers in a dict."""

    def __init__(self):
        self.kept = {}

    def recall(self, leg, questions):
        return self.kept.get((leg, tuple(questions)))

    def keep(self, leg, questions, found, seconds):
        self.kept[leg, tuple(questions)] = found, seconds


def singly(index, questions, models, memory=None):
    return Retrieval(Engines(index), questions, models, memory=memory, timed=True)


def test_a_run_asks_once_for_all_legs_and_counts_the_models_seconds_once(index):
    chat, memory = Stub(lambda user: ChatReply("The radio room.", seconds=50.0)), Kept()
    retrieval = singly(index, QUESTIONS, Models(chat=chat), memory)
    hybrid = retrieval.of(SystemSettings(rewrite=("hyde",)), 3)
    alone = retrieval.of(HYDE, 3)
    assert [len(batch) for batch in chat.batches] == [2]
    assert all(50 <= seconds < 90 for seconds in hybrid.total_seconds)
    assert all(50 <= seconds < 90 for seconds in alone.total_seconds)
    assert (hybrid.failed, hybrid.notes) == ({}, ())
    found = System(HYDE, index, Models(chat=chat)).search(QUESTIONS, 3, whole=True)
    assert alone.ranked.rows.tolist() == found.ranked.rows.tolist()
    again = singly(index, QUESTIONS, Models(chat=Stub(lambda user: pytest.fail("asked again"))), memory)
    assert again.of(HYDE, 3).total_seconds == alone.total_seconds
    other = Stub(lambda user: ChatReply("Fuel."), label="other")
    singly(index, QUESTIONS, Models(chat=other), memory).of(HYDE, 3)
    assert len(other.batches) == 1


def test_what_failed_in_a_run_is_told_and_tried_again_when_it_goes_on(index):
    memory = Kept()
    failing = singly(index, QUESTIONS, Models(chat=Stub(on_air)), memory)
    retrieved = failing.of(HYDE, 3)
    assert retrieved.failed == {0: "hyde: HTTP 500"}
    assert retrieved.ranked.of(0)[0].tolist() == []
    chat = Stub(lambda user: ChatReply("The watch."))
    mended = singly(index, QUESTIONS, Models(chat=chat), memory).of(HYDE, 3)
    assert [len(batch) for batch in chat.batches] == [1]
    assert mended.failed == {}
    assert mended.ranked.of(1)[0].tolist() == retrieved.ranked.of(1)[0].tolist()


def test_a_run_with_reranking_tells_failures_and_seconds_by_question(index):
    questions = ["night watch two people", "Fuel litres"]
    settings = SystemSettings("bm25", rerank="chat", rerank_depth=1)
    retrieved = singly(index, questions, Models(chat=Stub(graded))).of(settings, 2)
    assert retrieved.failed == {1: "reranking by chat: HTTP 500"}
    assert all(3 <= seconds < 6 for seconds in retrieved.total_seconds)


def test_deeper_searches_share_what_the_model_said(index):
    chat = Stub(lambda user: ChatReply("The radio room."))
    retrieval = singly(index, QUESTIONS, Models(chat=chat))
    retrieval.of(HYDE, 3)
    assert retrieval.ranks_of(HYDE)("bm25", [1], [np.arange(len(index.chunks))]).tolist() == [1]
    assert len(chat.batches) == 1


def test_one_query_that_failed_is_an_error_and_many_are_counted(index, tmp_path):
    system = System(HYDE, index, Models(chat=Stub(on_air)))
    with pytest.raises(KaratError, match="hyde: HTTP 500"):
        search_one(system, QUESTIONS[0], 3)
    hits = search_one(system, QUESTIONS[1], 3)
    about = hits.about
    assert about["changes"] == [f"hyde: {QUESTIONS[1]} → The radio room answers to a call name."]
    assert hits[0][1].id == "radio"
    questions = tmp_path / "qa.jsonl"
    rows = [{"id": i, "question": text, "gold": [{"doc": "radio"}]} for i, text in zip("ab", QUESTIONS, strict=True)]
    questions.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(KaratError, match="question 'a': hyde: HTTP 500"):
        explain(questions, system, "a")
    said, failed = search_all(system, questions, tmp_path / "hits.jsonl", k=3, pages="physical")
    assert failed == 1
    assert "1 of 2 questions failed: hyde: HTTP 500 (a)" in said
    report = karat.score(questions, tmp_path / "hits.jsonl", measures="Hit@1")
    statuses = {row["question_id"]: (row["status"], row["reason"]) for row in report.per_query.to_dicts()}
    assert statuses["a"] == ("failed", "hyde: HTTP 500")
    assert statuses["b"][0] == "ok"
