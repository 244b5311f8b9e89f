"""Blocks: replies in their order, by workers where that pays, found again by who goes on."""

import pytest
from blocked import Cluster, Doubling

from karat.core.errors import UsageError
from karat.pool import BlockPool, Blocks, LocalPool, PoolSettings, _blocks

NUMBERS = list(range(20))
DOUBLED = [2 * number for number in NUMBERS]


def doubled(tmp_path, pool, folder=None, numbers=NUMBERS, here=None, steps=None):
    (tmp_path / "said").mkdir(exist_ok=True)
    task = Doubling.task({"folder": str(tmp_path / "said")}, "doubling")
    blocks = Blocks(len(numbers), 3, lambda start, end: numbers[start:end])
    here = here or (lambda start, end: [2 * number for number in numbers[start:end]])
    progress = (lambda *step: steps.append(step)) if steps is not None else None
    return [one for reply in BlockPool(pool, folder).replies(task, blocks, here, progress) for one in reply]


def by_workers(tmp_path):
    path = tmp_path / "said" / "log"
    return sorted(int(line) for line in path.read_text().splitlines()) if path.exists() else []


def test_a_cluster_does_all_blocks_and_their_replies_come_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "said").mkdir()
    (tmp_path / "said" / "died").touch()
    assert doubled(tmp_path, Cluster()) == DOUBLED
    assert by_workers(tmp_path) == [0, 3, 6, 9, 12, 15, 18]
    assert [path.name for path in tmp_path.iterdir()] == ["said"]  # nothing is left of its files


def test_one_block_is_done_here_on_a_cluster_too(tmp_path):
    assert doubled(tmp_path, Cluster(), numbers=[5, 6]) == [10, 12]
    assert not by_workers(tmp_path)


def test_a_local_pool_does_here_what_is_quickly_done(tmp_path):
    steps = []
    assert doubled(tmp_path, LocalPool(2), steps=steps) == DOUBLED
    assert not by_workers(tmp_path)
    assert steps[-1] == ("doubling", 20, 20)


def test_processes_do_what_takes_long_and_one_that_is_killed_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(_blocks, "PAYS", 0.0)
    steps = []
    assert doubled(tmp_path, LocalPool(2), tmp_path / "run" / "blocks", steps=steps) == DOUBLED
    assert by_workers(tmp_path) == [3, 6, 9, 12, 15, 18]  # the first told how long one takes
    assert any("a process ended at block 4 (SIGKILL)" in what for what, _, _ in steps)
    assert not (tmp_path / "run" / "blocks").exists()


def test_one_job_does_all_here(tmp_path, monkeypatch):
    monkeypatch.setattr(_blocks, "PAYS", 0.0)
    assert doubled(tmp_path, LocalPool(1)) == DOUBLED
    assert not by_workers(tmp_path)


def test_who_goes_on_finds_what_was_done(tmp_path):
    (tmp_path / "said").mkdir()
    (tmp_path / "said" / "died").touch()
    folder = tmp_path / "blocks"
    task = Doubling.task({"folder": str(tmp_path / "said")}, "doubling")
    replies = BlockPool(Cluster(), folder).replies(task, Blocks(20, 3, lambda a, b: NUMBERS[a:b]), lambda a, b: None)
    assert next(replies) == [0, 2, 4]
    replies.close()
    done = by_workers(tmp_path)
    assert doubled(tmp_path, Cluster(), folder) == DOUBLED
    assert by_workers(tmp_path) == done == [0, 3, 6, 9, 12, 15, 18]
    assert not folder.exists()


def test_blocks_that_are_alike_are_done_once(tmp_path):
    assert doubled(tmp_path, Cluster(), tmp_path / "blocks", numbers=[1, 2, 3] * 4) == [2, 4, 6] * 4
    assert by_workers(tmp_path) == [1]


def test_no_blocks_have_no_replies(tmp_path):
    assert doubled(tmp_path, Cluster(), numbers=[]) == []


def test_a_pool_that_there_is_not_is_refused():
    with pytest.raises(UsageError, match="there is no pool 'rai'"):
        PoolSettings.of("rai")
