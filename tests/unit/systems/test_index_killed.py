"""Builds of many shards that are killed, or whose workers are, and then repeated."""

import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from many_shards import NUMBERS, PIECE, files_of, lines

import karat
from karat.core.errors import InputError
from karat.systems import index_build, index_stages
from karat.systems.index import Index

KILLED = """
import os, signal, sys
import karat
from karat.systems import index_build
index_build.PIECE_BYTES = int(sys.argv[4])
stop, seen = int(sys.argv[5]), 0

def progress(what, done, total):
    global seen, stop
    if seen >= stop and sys.argv[6] == "workers":
        workers = children()
        if len(workers) == 2:  # between two stages there may be none
            stop = float("inf")
            for pid in workers:
                os.kill(int(pid), signal.SIGKILL)
                print(pid)
    elif seen == stop:
        os.kill(os.getpid(), signal.SIGKILL)
    seen += 1

def children():
    found = set()
    for task in os.listdir("/proc/self/task"):
        try:
            found.update(open(f"/proc/self/task/{task}/children").read().split())
        except OSError:  # threads come and go
            continue
    return found

karat.index(sys.argv[1], sys.argv[2], jobs=int(sys.argv[3]), progress=progress)
"""


def killed(corpus, output, jobs, stop, whom="all"):
    words = [sys.executable, "-c", KILLED, corpus, output, jobs, PIECE, stop, whom]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module", autouse=True)
def _small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_build, "PIECE_BYTES", PIECE)
        yield


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The corpus, what an undisturbed build makes of it and in how many steps, and an index of other documents."""
    folder, steps = tmp_path_factory.mktemp("calm"), []
    corpus, other = folder / "docs.jsonl", folder / "old.jsonl"
    corpus.write_text(lines(NUMBERS))
    other.write_text(lines(range(10)))
    karat.index(corpus, folder / "calm", jobs=1, progress=lambda *step: steps.append(step))
    karat.index(other, folder / "standing", jobs=1)
    return SimpleNamespace(
        corpus=corpus, files=files_of(folder / "calm"), steps=len(steps), standing=folder / "standing"
    )


# By several processes: as many steps as are surely reported, since these come as often as somebody gets to it.
PLACES = [(1, 0.1), (1, 0.4), (1, 0.7), (1, 1.0), (2, 0.05), (2, 0.15), (2, 0.3)]


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "share"), PLACES)
def test_a_build_that_is_killed_anywhere_goes_on_and_ends_in_the_same_bytes(tmp_path, calm, jobs, share):
    target = tmp_path / "i"
    shutil.copytree(calm.standing, target)
    assert killed(calm.corpus, target, jobs, int((calm.steps - 1) * share)).returncode == -signal.SIGKILL
    assert len(Index.open(target, verify=True).docs) == 10  # what stood there still does
    karat.index(calm.corpus, target, jobs=jobs)
    assert files_of(target) == calm.files


@pytest.mark.slow
def test_what_a_killed_build_did_is_not_done_again(tmp_path, calm, monkeypatch):
    killed(calm.corpus, tmp_path / "i", 1, calm.steps * 2 // 3)
    with pytest.raises(InputError, match="its build was not finished"):
        Index.open(tmp_path / "i")
    monkeypatch.setattr(index_stages.ReadAndChunk, "run", None)
    karat.index(calm.corpus, tmp_path / "i", jobs=1)
    assert files_of(tmp_path / "i") == calm.files


@pytest.mark.slow
def test_workers_that_are_killed_are_replaced(tmp_path, calm):
    """And several processes make the bytes that one makes."""
    ended = killed(calm.corpus, tmp_path / "i", 2, 5, "workers")
    assert (ended.returncode, ended.stderr, len(ended.stdout.split())) == (0, "", 2)
    assert files_of(tmp_path / "i") == calm.files
