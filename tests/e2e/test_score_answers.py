"""Scoring answers from the command line: models where a measure asks one, failed answers, refusals."""

import json

import pytest

import karat as api
from karat.testing import FakeLLM

QUESTIONS = [
    {"id": "1", "question": "What colour is the pump?", "answers": ["It is red."], "gold": ["a"]},
    {"id": "2", "question": "How long is the warranty?", "answers": ["Two years."], "gold": ["b"]},
    {"id": "3", "question": "Who built it?", "gold": [], "answerable": False},
]
RESULTS = [
    {"id": "1", "retrieved": [{"id": "a", "text": "The pump is red."}, {"id": "c", "text": "It rains."}],
     "answer": "The pump is red."},
    {"id": "2", "retrieved": [{"id": "b", "text": "The warranty is two years."}], "answer": "Two years."},
    {"id": "3", "retrieved": [{"id": "c", "text": "It rains."}], "answer": "I do not know."},
]  # fmt: skip


@pytest.fixture
def pair(put):
    return put("qa.jsonl", QUESTIONS), put("rag.jsonl", RESULTS)


def measured(told, name):
    """The summary of a measure over all questions."""
    found = json.loads(told.out)
    return next(s for s in found["summaries"] if s["measure"] == name and s["slice"] is None)


def test_similarity_is_printed_with_its_floor(karat, pair):
    told = karat("score", *pair, "-m", "SBERT", "-m", "SentenceSupport", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    (similarity, support) = found["measures"]
    floor = similarity["floors"]["rag"]
    assert 0 <= floor < measured(told, "SemanticSimilarity")["mean"] - 0.3
    assert "floors" not in support
    (note,) = [n["text"] for n in found["notes"] if "SemanticSimilarity" in n["text"]]
    assert f"is to be read against {floor:.3f}" in note
    assert "(wordllama)" in note


def test_a_similarity_of_chance_is_warned_of(karat, put, pair):
    crossed = [{"id": "1", "answer": "Two years."}, {"id": "2", "answer": "It is red."}]
    told = karat("score", pair[0], put("crossed.jsonl", crossed), "-m", "SBERT", "--json")
    (note,) = [n for n in json.loads(told.out)["notes"] if "to be read against" in n["text"]]
    assert note["level"] == "warning"
    assert "hardly nearer" in note["text"]


def test_citation_marks_change_no_score_of_words(karat, put, pair):
    cited = [{**row, "answer": f"{row['answer'].rstrip('.')} [1] (source 1)."} for row in RESULTS]
    measures = [option for name in ("EM", "TokenF1", "ROUGE-L", "LengthRatio", "SBERT") for option in ("-m", name)]
    plain, marked = (karat("score", pair[0], put("rag.jsonl", rows), *measures, "--json") for rows in (RESULTS, cited))
    for name in ("EM", "TokenF1", "ROUGE-L", "LengthRatio", "SemanticSimilarity"):
        assert measured(marked, name) == measured(plain, name)
    assert not [note for note in json.loads(marked.out)["notes"] if "marks" in note["text"]]


SQUAD = {"version": "1.1", "data": [{"title": "Oxygen", "paragraphs": [{"context": "It is called oxygen.", "qas": [
    {"id": "1", "question": "What is it?", "answers": [{"text": "oxygen", "answer_start": 13}]},
    {"id": "2", "question": "Who?", "answers": [{"text": "The Swede", "answer_start": 0}]},
]}]}]}  # fmt: skip


def test_a_test_set_in_squad_form_is_scored_as_its_script_does(karat, put):
    given = put("dev.json", SQUAD), put("pred.json", {"1": "“Oxygen”", "2": "a Swede"})
    told = karat("score", *given)
    assert told.code == 0, told.err
    assert "normalised as the SQuAD v1.1 script does (norm=squad)" in " ".join(told.out.split())
    found = karat("score", *given, "--json")
    assert [m["name"] for m in json.loads(found.out)["measures"]] == [
        "EM(norm=squad)", "TokenF1(norm=squad)", "ROUGE-L(norm=squad)",
    ]  # fmt: skip
    assert measured(found, "EM(norm=squad)")["mean"] == 0.5  # typographic quotes stay
    report = api.score(*given, measures=["EM", "EM(norm=unicode)"])
    assert report.measures == ("EM(norm=squad)", "EM")
    assert (report.mean("exact_match(norm=squad)"), report.mean("EM")) == (0.5, 1.0)
    assert api.score(*given, measures="TokenF1").mean("F1_token") == 0.5
    by_dialect = api.score(*given, dialect="squad")
    assert list(by_dialect.measures) == ["EM(norm=squad)", "TokenF1(norm=squad)"]


def test_refusals_are_counted(karat, pair):
    told = karat("score", *pair, "-m", "Refusal")
    assert "Refusals" in told.out
    assert "## Refusals" in api.score(*pair, measures="Refusal").to_markdown()
    (row,) = json.loads(karat("score", *pair, "-m", "Refusal", "--json").out)["refusals"]
    assert row == {
        "system": "rag", "n": 3, "unanswerable": 1, "declined": 1, "right": 1, "empty": 0,
        "precision": 1.0, "recall": 1.0, "f1": 1.0,
    }  # fmt: skip


def test_refusals_are_not_shown_where_there_are_none(karat, put, pair):
    testset = put("plain.jsonl", QUESTIONS[:2])
    told = karat("score", testset, pair[1], "-m", "TokenF1")
    assert "Refusals" not in karat("score", testset, put("two.jsonl", RESULTS[:2]), "-m", "TokenF1").out
    assert told.code == 0


def test_an_answer_that_failed_is_failed_and_its_hits_are_scored(karat, put, pair):
    rows = [{**RESULTS[0], "answer": None, "answer_error": "no reply"}, *RESULTS[1:]]
    told = karat("score", pair[0], put("rag.jsonl", rows), "-m", "TokenF1", "-m", "MRR", "-m", "Refusal", "--json")
    assert told.code == 5
    assert (measured(told, "TokenF1")["n"], measured(told, "TokenF1")["n_failed"]) == (1, 1)
    assert (measured(told, "MRR")["mean"], measured(told, "MRR")["n_failed"]) == (1.0, 0)
    found = json.loads(told.out)
    assert found["refusals"][0]["n"] == 2
    assert not any("empty" in n["text"] for n in found["notes"])


def test_the_contexts_are_those_that_the_answer_names(pair):
    rows = [{**RESULTS[0], "context_ids": ["c"]}]
    (full,) = api.score(QUESTIONS[:1], RESULTS[:1], measures="SupportDensity").summary["mean"]
    (named,) = api.score(QUESTIONS[:1], rows, measures="SupportDensity").summary["mean"]
    assert (full, named) == (1.0, 0.0)


def test_contexts_alone_are_scored_by_what_needs_no_answer(pair):
    rows = [{key: value for key, value in row.items() if key != "answer"} for row in RESULTS]
    report = api.score(QUESTIONS, rows, measures=["ContextRelevance(by=heuristic)", "TokenF1"])
    assert report.mean("ContextRelevance(by=heuristic)") is not None
    assert report.mean("TokenF1") is None
    assert set(report.per_query["TokenF1.reason"]) == {"the results hold no answers"}


def test_a_judge_asks_the_model_and_no_call_is_paid_for_twice(karat, pair):
    with FakeLLM(reply=json.dumps({"reason": "fine", "grade": 2, "score": 2, "relevance": 2})) as llm:
        options = ("--model", "m", "--base-url", llm.base_url, "-o", "out")
        first = karat("score", *pair, "-m", "Relevance", *options, "--json")
        asked = llm.count
        again = karat("score", *pair, "-m", "Relevance", *options, "--json")
        assert (asked > 0, llm.count) == (True, asked)
    assert first.code == 0, first.err
    assert measured(first, "Relevance")["mean"] == 2.0
    assert measured(first, "Relevance") == measured(again, "Relevance")
    notes = [note["text"] for note in json.loads(first.out)["notes"]]
    assert any(note.startswith("m: ") and "cost unknown" in note for note in notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "CrossEncoder"], "CrossEncoder needs a cross-encoder"),
        (["-m", "Faithfulness"], "Faithfulness needs a chat model"),
        (["-m", "TokenF1", "--model", "m"], "--model would change nothing"),
        (["-m", "SBERT", "--base-url", "http://127.0.0.1:1/v1"], "--base-url is for a chat model"),
        (["-m", "SBERT", "--embedder", "wordlama"], "Did you mean wordllama?"),
        (["-m", "CrossEncoder", "--cross-encoder", "nowhere"], "does not exist"),
    ],
    ids=["no cross-encoder", "no model", "needless model", "needless url", "embedder", "folder"],
)
def test_what_cannot_be_asked_is_one_sentence(karat, pair, words, said):
    told = karat("score", *pair, *words)
    assert told.code == 2
    assert said in told.sentence


def test_the_dialects_that_ask_models_use_what_is_there(karat, pair):
    momento = karat("score", *pair, "--dialect", "momento", "--json")
    assert momento.code == 0, momento.err
    found = json.loads(momento.out)
    assert "SemanticSimilarity(norm=squad)" in [m["name"] for m in found["measures"]]
    assert any(n["text"].endswith("because they need a model: CrossEncoder.") for n in found["notes"])
    bench = json.loads(karat("score", *pair, "--dialect", "rag-benchmark", "--json").out)
    assert "SemanticSimilarity(prefix=passage, norm=rag-benchmark)" in [m["name"] for m in bench["measures"]]
    named = json.loads(karat("score", *pair, "--dialect", "rag-benchmark", "-m", "SBERT", "--json").out)
    assert [m["name"] for m in named["measures"]] == ["SemanticSimilarity(prefix=passage, norm=rag-benchmark)"]
