import errno
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from shouted import log, outputs, shard

from karat.core.errors import InputError, KaratError, UsageError
from karat.pool import Ledger, LocalPool, Task

TASK = Task(name="shouting:Upper", settings={"before": "> "}, work="build", label="shouting")


def run(tmp_path, texts, jobs=1, task=TASK, steps=None):
    shards = [shard(tmp_path, text, name) for name, text in texts.items()]
    progress = (lambda *step: steps.append(step)) if steps is not None else (lambda *step: None)
    return list(LocalPool(jobs).map(task, shards, Ledger(tmp_path / "ledger"), progress))


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_shard_is_done_once_and_what_is_done_is_not_done_again(tmp_path, jobs):
    texts = {"a": "one", "b": "two", "c": "three"}
    pairs = run(tmp_path, texts, jobs)
    assert outputs(pairs) == {"a": "> ONE", "b": "> TWO", "c": "> THREE"}
    assert {source.path.name: output.rows for source, output in pairs} == {"a": 3, "b": 3, "c": 5}
    assert ({int(pid) for _, pid in log(tmp_path)} == {os.getpid()}) is (jobs == 1)
    again = run(tmp_path, {**texts, "b": "other"}, jobs)
    assert outputs(again) == {"a": "> ONE", "b": "> OTHER", "c": "> THREE"}
    assert sorted(name for name, _ in log(tmp_path)) == ["a", "b", "b", "c"]
    digests = {source.path.name: output.digest for source, output in pairs}
    assert [output.digest == digests[source.path.name] for source, output in again].count(False) == 1


def test_what_is_done_anew_stands_beside_what_it_was_unless_it_is_the_same(tmp_path):
    ledger, one = Ledger(tmp_path / "ledger"), shard(tmp_path, "one")
    pool, quiet = LocalPool(1), lambda *step: None
    ((_, first),) = pool.map(TASK, [one], ledger, quiet)
    ((_, same),) = pool.map(TASK, [one], ledger, quiet, anew={one.digest})
    one.path.write_text("other")  # under the same digest
    ((_, other),) = pool.map(TASK, [one], ledger, quiet, anew={one.digest})
    assert (same, len(log(tmp_path))) == (first, 3)
    assert [(o.path / "deep" / "text").read_text() for o in (first, other)] == ["> ONE", "> OTHER"]
    assert ledger.find(TASK, one) == other


def test_one_shard_needs_no_process(tmp_path):
    run(tmp_path, {"a": "one"}, jobs=2)
    assert log(tmp_path) == [["a", str(os.getpid())]]


def test_settings_are_part_of_what_is_done_and_hints_are_not(tmp_path):
    run(tmp_path, {"a": "one"})
    assert outputs(run(tmp_path, {"a": "one"}, task=replace(TASK, hints={"fast": True}))) == {"a": "> ONE"}
    assert len(log(tmp_path)) == 1
    assert outputs(run(tmp_path, {"a": "one"}, task=replace(TASK, settings={"before": "! "}))) == {"a": "! ONE"}


@pytest.mark.parametrize("damage", ["changed", "gone", "card", "link"])
def test_what_was_damaged_is_done_again(tmp_path, damage):
    ((_, output),) = run(tmp_path, {"a": "one"})
    file = output.path / "deep" / "text"
    if damage == "changed":
        file.write_text("> ENO")
    elif damage == "card":
        (output.path / "shard.json").write_text("{}")
    else:
        file.unlink()
    if damage == "link":
        file.symlink_to(tmp_path / "a")
    assert outputs(run(tmp_path, {"a": "one"})) == {"a": "> ONE"}


def test_the_same_bytes_whoever_does_it(tmp_path):
    found = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        run(folder, {"a": "one", "b": "two"}, jobs)
        ledger = folder / "ledger"
        found.append({p.relative_to(ledger).as_posix(): p.read_bytes() for p in ledger.rglob("*") if p.is_file()})
    assert found[0] == found[1]


def test_a_process_that_dies_is_named_and_its_shard_tried_once_more(tmp_path):
    steps = []
    assert outputs(run(tmp_path, {"a": "die once", "b": "two"}, 2, steps=steps)) == {"a": "> DIE ONCE", "b": "> TWO"}
    assert "shouting: a process ended at shard a (SIGKILL); trying it again" in [what for what, _, _ in steps]


def test_a_process_that_dies_again_is_an_error_that_keeps_what_is_done(tmp_path):
    with pytest.raises(KaratError, match=r"shouting: the process at shard a ended 2 times \(SIGKILL\).*-j 1"):
        run(tmp_path, {"b": "two", "a": "die"}, 2)
    assert outputs(run(tmp_path, {"b": "two"})) == {"b": "> TWO"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_the_same_in_a_process(tmp_path, jobs):
    with pytest.raises(UsageError, match=r"^not so\.$"):
        run(tmp_path, {"a": "usage", "b": "two0"}, jobs)
    with pytest.raises(InputError, match=r"^a.txt line 3: is odd. Mend it.$") as caught:
        run(tmp_path, {"a": "input", "b": "two1"}, jobs)
    assert (caught.value.place, caught.value.row) == ("a.txt", 3)
    with pytest.raises(OSError, match="No space left") as full:
        run(tmp_path, {"a": "full", "b": "two2"}, jobs)
    assert full.value.errno == errno.ENOSPC
    with pytest.raises((ZeroDivisionError, RuntimeError)) as bug:
        run(tmp_path, {"a": "bug", "b": "two3"}, jobs)
    assert jobs == 1 or "ZeroDivisionError" in str(bug.value)
    assert jobs == 2 or list((tmp_path / "ledger").iterdir()) == []


def test_progress_counts_the_rows_of_all_shards_and_of_one_its_steps(tmp_path):
    steps = []
    run(tmp_path, {"a": "one"}, steps=steps)
    assert steps == [("shouting", 1, 2)]
    steps.clear()
    run(tmp_path, {"b": "four", "c": "fives!"}, steps=steps)
    assert steps == [("shouting", done, 10) for done in (2, 4, 7, 10)]


def test_progress_over_bytes_is_told_in_megabytes(tmp_path):
    steps = []
    shards = [replace(shard(tmp_path, name, name), rows=1_500_000) for name in "ab"]
    ledger, task = Ledger(tmp_path / "ledger"), replace(TASK, counts_bytes=True)
    list(LocalPool(1).map(task, shards, ledger, lambda *step: steps.append(step)))
    assert steps == [("shouting [MB]", done, 3) for done in (0, 1, 2, 3)]


def test_what_nobody_names_is_forgotten(tmp_path):
    pairs = run(tmp_path, {"a": "one", "b": "two"})
    ledger = Ledger(tmp_path / "ledger")
    (tmp_path / "ledger" / ".part-12").mkdir()
    ledger.forget_parts()
    assert len(list((tmp_path / "ledger").iterdir())) == 2
    ledger.forget_all_but([pairs[0][1]])
    assert [path.name for path in (tmp_path / "ledger").iterdir()] == [pairs[0][1].path.name]


def test_fewer_than_one_job_is_refused():
    with pytest.raises(UsageError, match="must be 1 or more, found 0"):
        LocalPool(0)


SCRIPT = """
import sys
from pathlib import Path
from karat.pool import Ledger, LocalPool, Shard, Task
folder = Path(sys.argv[1])
shards = [Shard(path=folder / name, rows=1, digest=name) for name in ("a", "b")]
task = Task(name="shouting:Upper", settings={"before": "> "}, work="build")
print(len(list(LocalPool(2).map(task, shards, Ledger(folder / "ledger"), lambda *step: None))))
"""


@pytest.mark.parametrize("how", ["script", "-c"])
def test_a_script_needs_no_guard(tmp_path, how):
    for name in ("a", "b"):
        shard(tmp_path, name, name)
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [str(tmp_path / "script.py")] if how == "script" else ["-c", SCRIPT]
    done = subprocess.run([sys.executable, *words, str(tmp_path)], capture_output=True, text=True, env=environment())
    assert (done.stdout, done.stderr) == ("2\n", "")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_who_started_them(tmp_path, end):
    shard(tmp_path, "slow", "a"), shard(tmp_path, "two", "b")
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], stderr=subprocess.PIPE, env=environment())
    assert wait_for((tmp_path / "pid").exists)
    time.sleep(0.05)
    worker = int((tmp_path / "pid").read_text())
    process.send_signal(end)
    process.communicate(timeout=30)
    assert wait_for(lambda: not Path(f"/proc/{worker}").exists())


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def wait_for(condition, seconds=30):
    limit = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        limit.wait(0.02)
    return False
