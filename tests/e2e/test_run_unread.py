"""A run whose corpus holds documents that cannot be read: it names them everywhere, and exits with 5."""

import json
import os

import pytest
from fpdf import FPDF


@pytest.fixture
def experiment(folder):
    docs = folder / "docs"
    docs.mkdir()
    (docs / "sound.txt").write_text("The boiler room is locked at night. The key hangs beside the door.")
    (docs / "torn.pdf").write_text("%PDF-1.4 and nothing more")
    (docs / "leak.txt").symlink_to(folder / "secret.txt")
    (folder / "secret.txt").write_text("The password of the boiler room is swordfish.")
    row = {"id": "q1", "question": "When is the boiler room locked?", "gold": [{"doc": "sound.txt"}]}
    (folder / "questions.jsonl").write_text(json.dumps(row) + "\n")
    return folder


@pytest.mark.slow
def test_a_run_names_what_it_could_not_read(experiment, karat):
    done = karat("run", "docs", "questions.jsonl")
    assert done.code == 5, done.err
    assert "read or built: 2." in done.out
    (run,) = (experiment / "runs").glob("2*")
    for name in ("report.html", "report.md", "report.txt", "results.json", "manifest.json"):
        text = (run / name).read_text()
        assert "torn.pdf" in text, name
        assert "leak.txt" in text, name
    unread = json.loads((run / "manifest.json").read_text())["unread"]
    assert [(p["place"], p["kind"], p["fatal"]) for p in unread] == [
        ("docs/leak.txt", "link", True),
        ("docs/torn.pdf", "broken", True),
    ]


def test_links_are_followed_where_karat_yaml_says_so(experiment, karat):
    (experiment / "karat.yaml").write_text(
        "corpus: docs\ntestset: questions.jsonl\nsystems: [pure_sparse]\nengines: bm25\noutputs: [json]\n"
        "reading: {memory_mb: 512, seconds: 60, follow_links: true}\n"
    )
    (experiment / "docs" / "torn.pdf").unlink()
    done = karat("run", "--json")
    assert done.code == 0, done.err
    (chunks,) = (experiment / "runs" / "indexes").rglob("chunks.jsonl")
    assert "swordfish" in chunks.read_text()


@pytest.mark.slow
def test_what_one_file_may_take_is_set_on_the_command_line(folder, karat):
    (folder / "docs").mkdir()
    (folder / "docs" / "sound.txt").write_text("The boiler room is locked at night.")
    paper = FPDF()
    paper.set_font("Helvetica")
    for _ in range(3):
        paper.add_page()
        paper.cell(text="All is well in the boiler room.")
    paper.output(folder / "docs" / "long.pdf")
    whole = karat("index", "docs", "-o", "a.index", "--engine", "bm25")
    assert whole.code == 0, whole.err
    done = karat("index", "docs", "-o", "b.index", "--engine", "bm25", "--max-pages", "2")
    assert done.code == 5
    assert "long.pdf: has 3 pages" in done.out + done.err


def test_a_pipe_in_place_of_karat_yaml_is_refused_at_once(folder, karat):
    os.mkfifo(folder / "karat.yaml")
    done = karat("run")
    assert done.code == 2
    assert "karat.yaml: is no regular file" in done.err
