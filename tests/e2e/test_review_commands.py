"""karat testset review and freeze from the command line: out to a file, verdicts, and back."""

import csv
import json

import pytest

DOCS = [
    {"id": "watch", "text": "The night watch lasts four hours and is kept by two people. It begins at eight."},
    {"id": "fuel", "text": "Each tank holds 42,000 litres of fuel and is dipped every Monday by the mechanic."},
    {"id": "radio", "text": "The radio room answers to the call name Lantern at all hours of the day."},
]
ROWS = [
    {"id": "q1", "question": "How long does the night watch last?", "answers": ["four hours"], "kind": "literal",
     "gold": [{"doc": "watch", "quote": "The night watch lasts four hours"}]},
    {"id": "q2", "question": "How much fuel does a tank hold?", "answers": ["42,000 litres"], "kind": "literal",
     "gold": [{"doc": "fuel", "quote": "Each tank holds 42,000 litres of fuel"}]},
    {"id": "q3", "question": "What is the radio room called?", "answers": ["Lantern"], "kind": "paraphrase",
     "gold": [{"doc": "radio", "quote": "the call name Lantern"}]},
]  # fmt: skip


@pytest.fixture
def qa(put, folder):
    put("qa.jsonl", ROWS)
    return folder / "qa.jsonl"


def decide(folder, number, **cells):
    """Write a verdict or an edit into a row of the review."""
    path = folder / "qa.jsonl.review.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rows[number] |= cells
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_out_decided_and_back(qa, folder, karat):
    before = qa.read_bytes()
    told = karat("testset", "review", "qa.jsonl")
    assert told.code == 0, told.err
    assert "wrote 3 questions to qa.jsonl.review.csv." in told.out
    assert "karat testset review qa.jsonl --apply qa.jsonl.review.csv" in told.out
    decide(folder, 0, verdict="drop")
    decide(folder, 2, question="What name does the radio room answer to?", answer="The name Lantern")
    told = karat("testset", "review", "qa.jsonl", "--apply", "qa.jsonl.review.csv")
    assert "wrote 2 questions to qa.jsonl" in told.out
    assert "1 kept (1 edited), 1 dropped, 1 undecided. The original is qa.jsonl.original." in told.out
    assert (folder / "qa.jsonl.original").read_bytes() == before
    rows = rows_of(qa)
    assert [row["id"] for row in rows] == ["q2", "q3"]
    assert rows[1]["question"] == "What name does the radio room answer to?"
    assert (rows[1]["answers"], rows[1]["gold"]) == (["The name Lantern"], ROWS[2]["gold"])


@pytest.mark.slow
def test_the_chunk_and_the_findings_stand_beside_a_question(qa, put, folder, karat):
    put("docs.jsonl", DOCS)
    assert karat("index", "docs.jsonl", "-o", "i.index", "--chunk", "whole").code == 0
    put("qa.jsonl", [{**ROWS[0], "question": "According to the passage, how long is the night watch?"}])
    told = karat("testset", "review", "qa.jsonl", "i.index", "-o", "r.csv", "--json")
    assert json.loads(told.out) == {"output": "r.csv", "questions": 1}
    with (folder / "r.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["chunks"] == DOCS[0]["text"]
    assert "passage_references" in row["findings"]


@pytest.mark.slow
def test_applying_elsewhere_and_what_is_refused(qa, folder, karat):
    assert karat("testset", "review", "qa.jsonl", "-q").code == 0
    assert "qa.jsonl.review.csv exists" in karat("testset", "review", "qa.jsonl").sentence
    apply = ("testset", "review", "qa.jsonl", "--apply", "qa.jsonl.review.csv")
    assert "decides nothing" in karat(*apply).sentence
    decide(folder, 0, verdict="drop")
    before = qa.read_bytes()
    told = json.loads(karat(*apply, "-o", "new.jsonl", "--json").out)
    assert (told["questions"], told["kept"], told["dropped"], told["undecided"]) == (2, 0, 1, 2)
    assert (qa.read_bytes(), (folder / "qa.jsonl.original").exists()) == (before, False)
    assert [row["id"] for row in rows_of(folder / "new.jsonl")] == ["q2", "q3"]
    assert karat("testset", "freeze", "qa.jsonl", "--version", "1.0").code == 0
    assert "not changed in place" in karat(*apply).sentence
    assert qa.read_bytes() == before


def test_freeze_says_what_it_froze(qa, karat):
    told = karat("testset", "freeze", "qa.jsonl", "--version", "1.0")
    assert told.code == 0
    assert "qa.jsonl: 3 questions" in told.out
    assert "literal 2, paraphrase 1" in told.out
    assert "nothing changed" in karat("testset", "freeze", "qa.jsonl", "--version", "1.0").out
    told = karat("testset", "freeze", "qa.jsonl", "--version", "1.0", "--json")
    assert json.loads(told.out)["written"] is None
    assert "the same questions have one version" in karat("testset", "freeze", "qa.jsonl", "--version", "2").sentence


def test_a_frozen_set_that_changed_is_said_to_be_so(qa, karat):
    assert karat("testset", "freeze", "qa.jsonl", "--version", "1.0").code == 0
    assert "frozen as version 1.0" in karat("testset", "check", "qa.jsonl").out
    qa.write_text(qa.read_text().splitlines()[0] + "\n")
    told = karat("testset", "check", "qa.jsonl", "--json")
    assert any("changed since" in note for note in json.loads(told.out)["notes"])
    assert "changed since" in karat("testset", "review", "qa.jsonl", "-q").err
