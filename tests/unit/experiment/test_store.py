import json
import os

import pytest

from karat.core.errors import InputError, UsageError
from karat.experiment.store import find_run, new_run, open_run, resumable, runs_in


def made(folder, name="mine", **manifest):
    return new_run(folder, name, {"karat": "0.2", "digest": "d1", **manifest})


def test_a_run_has_a_folder_that_says_when_and_what(tmp_path):
    run = made(tmp_path / "runs", "my first/run")
    assert run.path.parent == tmp_path / "runs"
    time, name, mark = run.id.split("-", 1)[0], run.id.split("-", 1)[1].rsplit("-", 1)[0], run.id.rsplit("-", 1)[1]
    assert (len(time), name, len(mark)) == (16, "my-first-run", 6)
    assert open_run(run.path).manifest["status"] == "running"
    run.update(status="done")
    assert open_run(run.path).is_done


def test_the_journal_gives_back_whole_records_and_drops_what_a_kill_tore(tmp_path):
    run = made(tmp_path)
    with run.journal() as journal:
        journal.add([{"q": "1", "x": 0.1}, {"q": "zwei\n\u2028\ud800"}])
    with open(run.path / "journal.jsonl", "ab") as file:
        file.write(b'{"q": "3", "x"')
    assert run.journaled() == ([{"q": "1", "x": 0.1}, {"q": "zwei\n\u2028\ud800"}], [])
    with run.journal() as journal:
        journal.add([{"q": "3"}])
    assert [record["q"] for record in run.journaled()[0]] == ["1", "zwei\n\u2028\ud800", "3"]


def test_no_bit_of_a_journal_changes_a_record_in_silence(tmp_path):
    run = made(tmp_path)
    records = [{"q": "1", "rows": [3, 1], "scores": [0.5, 0.25]}, {"q": "2"}, {"q": "3"}]
    with run.journal() as journal:
        journal.add(records)
    path = run.path / "journal.jsonl"
    data = path.read_bytes()
    for place in range(len(data) - 1):
        for bit in range(8):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
            row = data[:place].count(b"\n")
            lost = records[row : row + 1 + (data[place : place + 1] == b"\n")]  # two lines become one
            found, damaged = run.journaled()
            assert found == [record for record in records if record not in lost]
            assert damaged[0] == row + 1
            assert run.journaled() == (found, [])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_journal_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    run = made(tmp_path)
    monkeypatch.setattr("karat.experiment.store.private", lambda path, flags: os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(InputError, match=r"journal.jsonl: cannot be written: No space left"), run.journal() as journal:
        journal.add([{"q": "1"}])


def test_the_last_run_is_the_one_started_last_though_the_clock_was_set_back(tmp_path, monkeypatch):
    from datetime import UTC, datetime

    class Clock(datetime):
        year_now = 2026

        @classmethod
        def now(cls, tz=None):
            return datetime(cls.year_now, 1, 1, tzinfo=UTC)

    monkeypatch.setattr("karat.experiment.store.datetime", Clock)
    first = made(tmp_path)
    Clock.year_now = 2020
    second, third = made(tmp_path), made(tmp_path)
    assert [run.id for run in runs_in(tmp_path)] == [first.id, second.id, third.id]
    assert find_run(tmp_path, "LAST").id == resumable(tmp_path, "d1").id == third.id


def test_a_run_is_for_its_user_alone(tmp_path):
    run = made(tmp_path / "runs")
    with run.journal() as journal:
        journal.add([{"q": "1"}])
    modes = [os.stat(path).st_mode & 0o777 for path in (run.path.parent, run.path, run.path / "journal.jsonl")]
    assert modes == [0o700, 0o700, 0o600]
    with open(run.path / "journal.jsonl", "ab") as file:
        file.write(b"torn")
    run.journaled()
    assert os.stat(run.path / "journal.jsonl").st_mode & 0o777 == 0o600


def test_a_manifest_holds_whatever_a_command_line_may(tmp_path):
    run = made(tmp_path, command=["karat", "run", "\udcff.yaml"])
    assert open_run(run.path).manifest["command"] == ["karat", "run", "\ufffd.yaml"]


def test_runs_of_one_second_stand_in_their_order(tmp_path):
    ids = [made(tmp_path, name).id for name in "cabed"]
    assert [run.id for run in runs_in(tmp_path)] == ids


def test_runs_are_found_by_last_name_and_beginning(tmp_path):
    for time in ("20260101T000000Z", "20260102T000000Z"):
        run = made(tmp_path, "mine")
        run.update(number=None)  # of an earlier version, which knew them by the clock
        path = run.path
        os.rename(path, path.with_name(f"{time}-mine-abcdef"))
    other = made(tmp_path, "other")
    (tmp_path / "notes").mkdir()
    assert [run.id for run in runs_in(tmp_path)][:2] == ["20260101T000000Z-mine-abcdef", "20260102T000000Z-mine-abcdef"]
    assert find_run(tmp_path, "LAST").id == other.id
    assert find_run(tmp_path, "mine").id == "20260102T000000Z-mine-abcdef"
    assert find_run(tmp_path, "20260101").id == "20260101T000000Z-mine-abcdef"
    assert find_run(tmp_path, str(other.path)).id == other.id
    with pytest.raises(UsageError, match="is the beginning of 2 runs"):
        find_run(tmp_path, "2026010")
    with pytest.raises(UsageError, match=r"there is no run 'othr' in .*Did you mean other"):
        find_run(tmp_path, "othr")
    with pytest.raises(UsageError, match="there are no runs in"):
        find_run(tmp_path / "none", "LAST")


def test_only_a_stopped_run_of_the_same_work_is_resumed(tmp_path):
    assert resumable(tmp_path, "d1") is None
    run = made(tmp_path)
    assert resumable(tmp_path, "d1").id == run.id
    assert resumable(tmp_path, "d2") is None
    with run.held():
        assert resumable(tmp_path, "d1") is None
    run.update(status="done")
    assert resumable(tmp_path, "d1") is None


def test_two_processes_at_one_run_are_refused(tmp_path):
    run = made(tmp_path)
    with run.held(), pytest.raises(UsageError, match="another process is at this run"), open_run(run.path).held():
        pass


def test_what_is_no_run_is_said_to_be_none(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps({"other": 1}))
    with pytest.raises(InputError, match="this is no run of karat"):
        open_run(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="a run cannot be written here"):
        new_run(tmp_path / "file", "x", {})
