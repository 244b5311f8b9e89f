"""karat run: killed, stopped, held, failed in part, and resumed."""

import hashlib
import json
import random
import signal
import subprocess
import sys
import time

import pytest

SLOW = """
import time
def search(question, k):
    time.sleep(0.03)
    return [["watch", 2.0], ["fuel", 1.0]]
"""
COUNTING = """
def search(question, k):
    with open("asked.txt", "a") as asked:
        asked.write("x")
    return ["watch"]
"""
RAISING = """
def search(question, k):
    if "fuel" in question:
        raise ValueError("no fuel")
    return ["watch"]
"""


@pytest.mark.slow
def test_killed_at_random_moments_a_run_ends_as_if_undisturbed(station, put, folder, last):
    put("slow.py", SLOW)
    put("karat.yaml", station.spec.replace("systems: [", "systems: [{call: 'slow:search'}, "))
    command = [sys.executable, "-c", "from karat.cli.main import main; main()", "run", "-q", "--runs-dir"]

    def go(runs, seconds=None):
        with subprocess.Popen(
            [*command, runs], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                _, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                return False
        assert process.returncode == 0, err
        return True

    started = time.monotonic()
    assert go("calm")
    whole = time.monotonic() - started
    draw, kills = random.Random(0), 0
    while kills < 20:
        if go("killed", draw.uniform(0.3, 1.05) * whole):
            (last("killed") / "manifest.json").unlink()  # a new run for the kills that are left
        else:
            kills += 1
    assert go("killed")
    digests = {hashlib.sha256((last(runs) / "rows.parquet").read_bytes()).hexdigest() for runs in ("calm", "killed")}
    assert len(digests) == 1


def test_what_a_journal_holds_is_not_asked_again(station, put, karat, folder, last):
    put("counting.py", COUNTING)
    put("karat.yaml", station.spec.replace("systems: [", "systems: [{call: 'counting:search'}, "))
    assert karat("run").code == 0
    assert (folder / "asked.txt").read_text() == "x" * 6
    journal = stopped(last()) / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"system"' not in line] + [line for line in lines if '"system"' in line][:4]
    journal.write_text("".join(kept))
    assert karat("run").code == 0
    assert (folder / "asked.txt").read_text() == "x" * 8


def stopped(run, kept=None):
    """Make a run look as if it was killed when the journal had so many records."""
    from karat.experiment.store import open_run

    open_run(run).update(status="running")
    journal = run / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:kept]))
    return run


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["mine.py", "words.txt", "hits.jsonl"])
def test_what_was_changed_after_a_run_was_stopped_makes_it_another_run(station, put, karat, folder, changed, last):
    files = {
        "mine.py": "def search(question, k):\n    return ['watch']\n",
        "words.txt": "fuel => tank\n",
        "hits.jsonl": [{"id": "q0", "retrieved": [{"id": "watch"}]}],
    }
    for name, content in files.items():
        put(name, content)
    named = "{name: mine, call: 'mine:search'}, {preset: pure_sparse, name: more, rewrite: ['expand:words.txt']}"
    put("karat.yaml", station.spec.replace("[pure_dense, ", f"[{named}, {{name: theirs, results: hits.jsonl}}, "))
    assert karat("run").code == 0
    first = stopped(last(), 3)
    put(changed, "\n" + (folder / changed).read_text())
    assert karat("run").code == 0
    assert last() != first


def test_rewritten_questions_are_found_again_by_what_rewrote_them(station, put, karat, folder, last):
    put("a.txt", "night => radio Lantern\n")
    put("b.txt", "night => generators Asta\n")
    named = [f"{{preset: pure_sparse, name: {n}, rewrite: ['expand:{n}.txt']}}" for n in "ab"]
    put("karat.yaml", station.spec.replace("[pure_dense, ", f"[{', '.join(named)}, "))
    assert karat("run").code == 0
    rows = (last() / "rows.parquet").read_bytes()
    path = stopped(last())
    assert karat("run").code == 0
    assert last() == path
    assert (path / "rows.parquet").read_bytes() == rows


@pytest.mark.slow
def test_a_function_that_raises_fails_its_rows_and_no_others(station, put, karat, folder, last):
    put("mine.py", RAISING)
    put("karat.yaml", station.spec.replace("systems: [", "systems: [{name: mine, call: 'mine:search'}, "))
    told = karat("run")
    assert told.code == 5
    rows = (last() / "rows.csv").read_text()
    assert "ValueError: no fuel" in rows
    first = last()
    assert karat("run", "--retry-errors").code == 5
    assert last() == first
    journal = [json.loads(line) for line in (first / "journal.jsonl").read_text().splitlines()]
    assert [r["row"]["id"] for r in journal if r.get("system") == "mine"] == ["q0", "q1", "q2", "q3", "q4", "q5", "q1"]
    assert karat("run").code == 5
    assert last() != first


def test_a_run_that_nobody_is_at_is_listed_as_stopped(station, put, karat, folder, last):
    from karat.experiment.store import open_run

    put("karat.yaml", station.spec.replace("corpus.jsonl", "lost.jsonl"))
    put("lost.jsonl", [{"id": "x", "text": "Nothing of use."}])
    told = karat("run")
    assert told.code == 3
    assert "allow_zero_overlap: true in karat.yaml" in told.err
    assert "stopped" in karat("show").out
    with open_run(last()).held():
        assert json.loads(karat("show", "--json").out)[0]["status"] == "running"


@pytest.mark.slow
def test_a_place_that_cannot_be_written_and_a_run_that_is_held_are_named(station, put, karat, folder, last):
    put("file", "x")
    assert "file" in karat("run", "--runs-dir", "file").sentence
    karat("run")
    from karat.experiment.store import open_run

    path = stopped(last())
    with open_run(path).held():
        assert karat("run").code == 0  # another process is at the stopped one: this is a new run
    assert last() != path


STAGES = ["searching by", "answering by", "tracing failures", "writing tables"]


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_killed_in_any_stage_a_run_ends_as_if_undisturbed(station, put, folder, last, monkeypatch, stage):
    """The second time that a stage says how far it is the process is gone, as by SIGKILL from outside."""
    import karat

    put("karat.yaml", station.spec + "answer: {by: extractive}\n")
    killed = (
        "import os, signal, karat, karat.systems.retrieval as r\n"
        "r.TIMED, r.BATCH, told = 2, 2, []\n"
        "def say(what, done, total):\n"
        f"    told.append(what.startswith({stage!r}))\n"
        "    sum(told) == 2 and os.kill(os.getpid(), signal.SIGKILL)\n"
        "karat.run('karat.yaml', runs_dir='killed', say=say)"
    )
    assert subprocess.run([sys.executable, "-c", killed], cwd=folder, check=False).returncode == -signal.SIGKILL
    monkeypatch.setattr("karat.systems.retrieval.TIMED", 2)
    monkeypatch.setattr("karat.systems.retrieval.BATCH", 2)
    monkeypatch.chdir(folder)
    stopped_run = last("killed")
    assert not (stopped_run / "study.json.gz").exists()
    again, calm = (karat.run("karat.yaml", runs_dir=runs).folder.path for runs in ("killed", "calm"))
    assert again.name == stopped_run.name
    for name in ("rows.parquet", "answers.jsonl", "summary.csv"):
        assert (again / name).read_bytes() == (calm / name).read_bytes()


def test_a_journal_cut_anywhere_gives_the_same_rows(station, put, karat, last, monkeypatch):
    monkeypatch.setattr("karat.systems.retrieval.TIMED", 2)
    monkeypatch.setattr("karat.systems.retrieval.BATCH", 2)
    assert karat("run").code == 0
    path, rows = last(), (last() / "rows.parquet").read_bytes()
    lines = (path / "journal.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 2 * (2 + 2)  # the questions; two engines: two questions alone, four in two batches
    for kept in (0, 1, 3, 6):
        stopped(path, kept)
        assert karat("run").code == 0
        assert last() == path
        assert (path / "rows.parquet").read_bytes() == rows
        assert len((path / "journal.jsonl").read_text().splitlines()) == len(lines)
