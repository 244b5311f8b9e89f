"""karat review and karat freeze from the command line: keys, saving, stopping by force, hostile text, applying."""

import json
import os
import signal
import subprocess
import sys

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


@pytest.fixture
def typed(monkeypatch, karat):
    """karat review with lines typed into it."""
    import io

    def run(lines, *args):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return karat("review", "qa.jsonl", *args)

    return run


def decisions(folder):
    return json.loads((folder / "qa.jsonl.review.json").read_text())["decisions"]


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_keep_edit_drop_and_apply(qa, folder, typed, karat):
    before = qa.read_bytes()
    told = typed(["k", "d", "e What name does the radio room answer to?", "a The name Lantern", "k"])
    assert told.code == 0
    assert "1 of 3  q1  literal" in told.out
    assert "2 kept (1 edited), 1 dropped, 0 undecided" in told.out
    assert "karat review qa.jsonl --apply" in told.out
    assert qa.read_bytes() == before
    told = karat("review", "qa.jsonl", "--json")
    assert json.loads(told.out) == {"questions": 3, "kept": 2, "edited": 1, "dropped": 1, "undecided": 0}
    told = karat("review", "qa.jsonl", "--apply")
    assert "wrote 2 questions to qa.jsonl" in told.out
    assert "The original is qa.jsonl.original." in told.out
    assert (folder / "qa.jsonl.original").read_bytes() == before
    rows = rows_of(qa)
    assert [row["id"] for row in rows] == ["q1", "q3"]
    assert (rows[1]["question"], rows[1]["answers"]) == (
        "What name does the radio room answer to?",
        ["The name Lantern"],
    )
    assert rows[1]["gold"] == ROWS[2]["gold"]
    told = typed([])
    assert "2 kept (0 edited), 0 dropped, 0 undecided" in told.out


def test_the_walk_back_and_on_and_out(qa, folder, typed):
    told = typed(["n", "b", "x", "k", "u", "q"])
    shown = [line.split()[3] for line in told.out.splitlines() if " of 3  q" in line]
    assert shown == ["q1", "q2", "q1", "q2", "q2"]
    assert "'x' is no command" in told.out
    assert list(decisions(folder)) == ["q1"]
    told = typed(["q"])
    assert "2 of 3  q2" in told.out
    assert "1 of 3" not in told.out
    assert "1 of 3  q1" in typed(["q"], "--from", "q1").out
    assert "no question has the id 'q7'" in typed([], "--from", "q7").sentence


def test_an_edit_reads_its_text_from_the_next_line(qa, folder, typed):
    typed(["e", "Quite another?", "a", "", "q"])
    assert decisions(folder)["q1"]["question"] == "Quite another?"
    assert "answer" not in decisions(folder)["q1"]


def test_the_chunk_with_its_quote_and_the_audit(qa, put, karat, typed):
    put("docs.jsonl", DOCS)
    assert karat("index", "docs.jsonl", "-o", "i.index", "--chunk", "whole").code == 0
    told = typed(["q"], "i.index")
    assert "[[The night watch lasts four hours]] and is kept by two people." in told.out
    put("qa.jsonl", [{**ROWS[0], "question": "According to the passage, how long is the night watch?"}])
    told = typed(["q"], "i.index")
    assert "audit" in told.out
    assert "passage_references" in told.out


def test_hostile_text_does_not_reach_the_terminal(put, typed):
    evil = "\x1b[2J\x1b]0;owned\x07 \u202edrow\u0000 [bold]x[/bold]"
    put("qa.jsonl", [{"id": f"q{evil}", "question": f"Q{evil}?", "answers": [evil], "kind": evil,
                      "gold": [{"doc": evil, "quote": evil}]}])  # fmt: skip
    told = typed(["q"])
    assert told.code == 0
    assert not set("\x1b\x07\u202e\x00") & set(told.out)
    assert "[bold]x[/bold]" in told.out


def test_killed_it_loses_nothing(qa, folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", "review", "qa.jsonl"], cwd=folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    with process:
        process.stdin.write("d\ne Edited?\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("state") and "kept, edited" in line:
                break
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    found = decisions(folder)
    assert {qid: one["verdict"] for qid, one in found.items()} == {"q1": "drop", "q2": "keep"}
    assert found["q2"]["question"] == "Edited?"
    assert [path.name for path in folder.glob(".*.part")] == []
    assert rows_of(qa) == ROWS


def test_applying_elsewhere_and_what_is_refused(qa, folder, typed, karat):
    assert "nothing is decided about qa.jsonl yet" in karat("review", "qa.jsonl", "--apply").sentence
    assert "-o is where --apply writes to" in karat("review", "qa.jsonl", "-o", "new.jsonl").sentence
    typed(["d", "q"])
    before = qa.read_bytes()
    told = karat("review", "qa.jsonl", "--apply", "-o", "new.jsonl", "--json")
    assert json.loads(told.out)["questions"] == 2
    assert (qa.read_bytes(), (folder / "qa.jsonl.original").exists()) == (before, False)
    assert [row["id"] for row in rows_of(folder / "new.jsonl")] == ["q2", "q3"]
    assert "new.jsonl exists" in karat("review", "qa.jsonl", "--apply", "-o", "new.jsonl").sentence
    assert karat("freeze", "qa.jsonl", "--version", "1.0").code == 0
    assert "frozen as version 1.0 and is not changed in place" in karat("review", "qa.jsonl", "--apply").sentence
    assert qa.read_bytes() == before


def test_an_original_is_never_overwritten(qa, folder, typed, karat):
    typed(["d", "q"])
    karat("review", "qa.jsonl", "--apply")
    middle = qa.read_bytes()
    typed(["d", "q"])
    assert "qa.jsonl.original-2" in karat("review", "qa.jsonl", "--apply").out
    assert rows_of(folder / "qa.jsonl.original") == ROWS
    assert (folder / "qa.jsonl.original-2").read_bytes() == middle


def test_freeze_says_what_it_froze(qa, karat):
    told = karat("freeze", "qa.jsonl", "--version", "1.0")
    assert told.code == 0
    assert "qa.jsonl: 3 questions" in told.out
    assert "literal 2, paraphrase 1" in told.out
    assert "nothing changed" in karat("freeze", "qa.jsonl", "--version", "1.0").out
    told = karat("freeze", "qa.jsonl", "--version", "1.0", "--json")
    assert json.loads(told.out)["written"] is None
    assert "the same questions have one version" in karat("freeze", "qa.jsonl", "--version", "2").sentence


def test_a_frozen_set_that_changed_is_said_to_be_so(qa, karat, typed):
    assert karat("freeze", "qa.jsonl", "--version", "1.0").code == 0
    assert "frozen as version 1.0" in karat("audit", "qa.jsonl", "-").out
    qa.write_text(qa.read_text().splitlines()[0] + "\n")
    told = karat("audit", "qa.jsonl", "-", "--json")
    assert any("changed since" in note for note in json.loads(told.out)["notes"])
    assert "changed since" in typed(["q"]).err
