"""Nuggets from the command line: written from the gold, gone through, frozen."""

import csv
import json

import pytest

from karat.testing import FakeLLM

DOCS = [
    {"id": "watch", "text": "The night watch lasts four hours and is kept by two people. It begins at eight."},
    {"id": "fuel", "text": "Each tank holds 42,000 litres of fuel and is dipped every Monday by the mechanic."},
]
ROWS = [
    {"id": "q1", "question": "How long does the night watch last?", "gold": [{"doc": "watch"}], "answers": ["4 hours"]},
    {
        "id": "q2",
        "question": "How much fuel does a tank hold?",
        "gold": [{"doc": "fuel"}],
        "answers": ["42,000 litres"],
    },
    {"id": "q3", "question": "Who is the king?", "answerable": False},
]
FACTS = {
    "watch": [{"text": "The watch lasts four hours.", "importance": "vital"}],
    "tank": [
        {"text": "A tank holds 42,000 litres.", "importance": "vital"},
        {"text": "It is dipped every Monday.", "importance": "okay"},
    ],
}


def written(request):
    asked = request.messages[1]["content"].split("passage 1")[0]
    return json.dumps({"nuggets": next(facts for word, facts in FACTS.items() if word in asked)})


@pytest.fixture
def station(put, karat):
    put("docs.jsonl", DOCS)
    put("qa.jsonl", ROWS)
    assert karat("index", "docs.jsonl", "-o", "i.index", "--chunk", "whole", "--engine", "bm25").code == 0


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_written_reviewed_and_frozen(station, karat, folder):
    make = ("testset", "make", "i.index", "--nuggets-for", "qa.jsonl", "-o", "full.jsonl")
    with FakeLLM(written) as llm:
        asking = ("--model", "fake", "--base-url", llm.base_url)
        told = karat(*make, *asking)
        assert (told.code, llm.count) == (0, 2), told.err
        assert "3 nuggets (2 vital) for 2 questions: wrote full.jsonl" in told.out
        assert "1 unanswerable or without gold in the index, and got none." in told.out
        assert "karat testset review full.jsonl i.index" in told.out
        again = json.loads(karat(*make, *asking, "--force", "--json").out)
        assert (again["made"], again["without"], again["vital"], llm.count) == (["q1", "q2"], ["q3"], 2, 2)
    rows = lines(folder / "full.jsonl")
    assert [row.get("nuggets") for row in rows] == [FACTS["watch"], FACTS["tank"], None]
    assert karat("testset", "review", "full.jsonl", "i.index", "-o", "r.csv").code == 0
    with (folder / "r.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert table[1]["nuggets"] == "vital: A tank holds 42,000 litres.\nokay: It is dipped every Monday."
    table[1]["nuggets"] = "vital:  A tank holds 42,000 litres.\r\n"
    with (folder / "r.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, table[0])
        out.writeheader()
        out.writerows(table)
    told = karat("testset", "review", "full.jsonl", "--apply", "r.csv")
    assert "1 kept (1 edited), 0 dropped, 2 undecided" in told.out, told.err
    assert [len(row.get("nuggets", [])) for row in lines(folder / "full.jsonl")] == [1, 1, 0]
    assert karat("testset", "freeze", "full.jsonl", "--version", "1.0").code == 0
    changed = [
        {**row, "nuggets": FACTS["watch"] * 2} if row["id"] == "q1" else row for row in lines(folder / "full.jsonl")
    ]
    (folder / "full.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    assert "changed since" in karat("testset", "check", "full.jsonl").out + karat("testset", "check", "full.jsonl").err


def test_a_model_that_fails_leaves_its_questions_without(station, karat, folder):
    def half(request):
        return written(request) if "watch" in request.messages[1]["content"].split("passage 1")[0] else "nonsense"

    make = ("testset", "make", "i.index", "--nuggets-for", "qa.jsonl", "-o", "full.jsonl", "--model", "fake")
    with FakeLLM(half) as llm:
        told = karat(*make, "--base-url", llm.base_url)
        assert (told.code, llm.count) == (5, 3)  # one is asked to repair its reply
        assert "\nq2: " in told.out
    assert "nuggets" not in lines(folder / "full.jsonl")[1]
    with FakeLLM("nonsense") as llm:
        told = karat(*make[:-4], "-o", "none.jsonl", "--model", "fake", "--base-url", llm.base_url)
        assert told.code == 3
        assert "nothing was written" in told.out
    assert not (folder / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "new.jsonl"), "no chat model is named to write nuggets"),
        ((), "no file is named for the test set"),
        (("-o", "qa.jsonl", "--model", "m"), "qa.jsonl exists"),
        (("-o", "new.jsonl", "--model", "m", "--kinds", "literal"), "--kinds"),
        (("-o", "new.jsonl", "--model", "m", "--offline"), "--offline"),
        (("-o", "new.jsonl", "--model", "m", "--repeat", "2"), "--repeat is for judges"),
        (("-o", "new.jsonl", "--from", "traces"), "--nuggets-for"),
    ],
)
def test_what_cannot_be_is_refused(station, karat, words, said):
    told = karat("testset", "make", "i.index", "--nuggets-for", "qa.jsonl", *words)
    assert (told.code, said in told.sentence) == (2, True), told.err
