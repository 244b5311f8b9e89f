"""A test set that grows: what a run before found for the same questions is not searched again."""

import json
from pathlib import Path

import pytest

import karat
from karat.experiment.store import JOURNAL
from karat.io.checksum import sealed_line, unsealed_line
from karat.systems import retrieval as searching
from karat.systems.engines import Engines

WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "kelp", "larch")
SPEC = """name: grown
corpus: docs.jsonl
testset: qa.jsonl
systems: [pure_dense, pure_sparse, balanced]
outputs: [csv]
measures: [Recall@3]
"""


def text(number):
    return " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5, 7)) + f" {number}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "docs.jsonl").write_text("\n".join(json.dumps({"id": f"d{n}", "text": text(n)}) for n in range(40)))
    (tmp_path / "karat.yaml").write_text(SPEC)
    for name, value in (("TIMED", 3), ("BATCH", 5)):
        monkeypatch.setattr(searching, name, value)
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch):
    def done(texts, **more):
        """The run, and how many questions each engine searched."""
        rows = [
            json.dumps({"id": f"q{n}", "question": asked, "gold": [{"id": f"d{2 * n % 40}"}]})
            for n, asked in enumerate(texts)
        ]
        (folder / "qa.jsonl").write_text("\n".join(rows))
        searched, search = {}, Engines.search

        def counting(engines, name, rewritten, depth):
            if rewritten and rewritten[0].original:  # else it loads the engine
                searched.setdefault(name, []).extend(one.original for one in rewritten)
            return search(engines, name, rewritten, depth)

        with monkeypatch.context() as patched:
            patched.setattr(Engines, "search", counting)
            finished = karat.run(folder / "karat.yaml", **more)
        return Path(finished.folder.path), {name: sorted(set(some)) for name, some in searched.items()}

    return done


QUESTIONS = [text(2 * n) for n in range(20)]
GROWN = [*QUESTIONS[:7], "another basin", *QUESTIONS[8:], "new heron", "new kelp"]


def timed(texts):
    return {texts[batch[0]] for batch in searching.batches_of(len(texts)) if len(batch) == 1}


def rows(run):
    return (run / "rows.parquet").read_bytes(), (run / "comparisons.csv").read_bytes()


@pytest.mark.slow
def test_only_new_and_changed_questions_are_searched_and_those_that_are_timed(run):
    first, searched = run(QUESTIONS)
    assert searched == dict.fromkeys(("dense", "bm25"), sorted(QUESTIONS))
    again, searched = run(GROWN)
    wanted = sorted({"another basin", "new heron", "new kelp"} | timed(GROWN))
    assert searched == dict.fromkeys(("dense", "bm25"), wanted)
    fresh, searched = run(GROWN, fresh=True)
    assert searched == dict.fromkeys(("dense", "bm25"), sorted(GROWN))
    assert rows(fresh) == rows(again) != rows(first)


@pytest.mark.slow
def test_another_index_is_searched_for_all(run, folder):
    run(QUESTIONS)
    with (folder / "docs.jsonl").open("a") as docs:
        docs.write("\n" + json.dumps({"id": "d99", "text": "one more"}))
    assert run(QUESTIONS)[1]["bm25"] == sorted(QUESTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "texts", "rows"])
def test_an_earlier_journal_that_does_not_fit_is_left_aside_and_as_it_is(run, damage):
    first, _ = run(QUESTIONS)
    journal = first / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    records = [unsealed_line(line.rstrip(b"\n")) for line in lines]
    if damage == "cut":
        journal.write_bytes(b"".join(lines)[:-9])
    elif damage == "texts":
        journal.write_bytes(b"".join([sealed_line({"texts": ["x"]}), *lines[1:]]))
    else:
        records = [record | {"rows": ["<i8", "/////////38="]} if "rows" in record else record for record in records]
        journal.write_bytes(b"".join(map(sealed_line, records)))
    before = journal.read_bytes()
    again, searched = run(GROWN)
    assert journal.read_bytes() == before
    if damage != "cut":
        assert searched["bm25"] == sorted(GROWN)
    assert rows(run(GROWN, fresh=True)[0]) == rows(again)
