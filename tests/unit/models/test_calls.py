"""The file of calls: what is kept, what is shared, what is damaged."""

import random
import sqlite3
import threading
from dataclasses import replace

import pytest

from karat.core.errors import InputError
from karat.models.chat import Call, Calls, FailedCall
from karat.models.chat.cache import now

CALL = Call(
    "k1", "m", "answer", '{"model": "m"}', '{"id": 1}', "Да \x00 🙂", 3, None, 0.5, 1.25, "length", "2026-01-01"
)
FAILED = FailedCall("k2", "m", "judge", "{}", "HTTP 500", 4, "2026-01-02")


def test_what_is_kept_comes_back(tmp_path):
    path = tmp_path / "new" / "calls.sqlite"
    with Calls(path) as calls:
        assert calls.get("k1") is None
        calls.add(CALL)
        calls.add(replace(CALL, text="another"))  # the first stays
        calls.add(replace(CALL, key="k0", created="2026-01-03", finish=None))
        calls.add_failure(FAILED)
        calls.add_failure(FAILED)
    with Calls(path) as calls:
        assert calls.get("k1") == CALL
        assert [call.key for call in calls] == ["k1", "k0"]
        assert [call.cut for call in calls] == [True, False]
        assert len(calls) == 2
        assert calls.failures() == [FAILED, FAILED]
        assert calls.get("k2") is None


def test_what_the_shared_file_knows_is_copied(tmp_path):
    shared = tmp_path / "shared.sqlite"
    with Calls(tmp_path / "a.sqlite", shared) as first:
        first.add(CALL)
        first.add_failure(FAILED)
    with Calls(tmp_path / "b.sqlite", shared) as second:
        assert len(second) == 0
        assert second.get("k1") == CALL
        assert len(second) == 1
        assert second.failures() == []
    with Calls(tmp_path / "b.sqlite") as alone:
        assert alone.get("k1") == CALL
    with Calls(shared, shared) as same:
        assert same.get("k1") == CALL
        assert same.failures() == []


def test_a_reply_is_in_the_file_at_once(tmp_path):
    with Calls(tmp_path / "calls.sqlite") as calls, Calls(tmp_path / "calls.sqlite") as other:
        calls.add(CALL)
        assert other.get("k1") == CALL


def test_many_threads_at_once(tmp_path):
    with Calls(tmp_path / "calls.sqlite", tmp_path / "shared.sqlite") as calls:

        def add(start):
            for n in range(start, start + 50):
                calls.add(replace(CALL, key=f"k{n}", created=now()))
                assert calls.get(f"k{n}")

        threads = [threading.Thread(target=add, args=(100 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(calls) == 200


def test_a_file_that_is_none(tmp_path):
    path = tmp_path / "calls.sqlite"
    path.write_bytes(b"this is no database, it is a text that is long enough" * 20)
    with pytest.raises(InputError, match=r"calls\.sqlite: is damaged, or no file of calls: .* delete it"):
        Calls(path)


def test_a_file_that_is_damaged_in_the_middle(tmp_path):
    path = tmp_path / "calls.sqlite"
    with Calls(path) as calls:
        for n in range(300):
            calls.add(replace(CALL, key=f"k{n:04}", reply="x" * 500))
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\xff" * (len(content) - 12288)
    path.write_bytes(content)
    with Calls(path) as calls, pytest.raises(InputError, match="is damaged"):
        list(calls)


def test_a_file_of_something_else(tmp_path):
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE calls (a)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match=r"is a database of something else\. Choose another file"):
        Calls(path)
    with pytest.raises(InputError, match="something else"):
        Calls(tmp_path / "own.sqlite", path)


def test_a_file_of_the_future(tmp_path):
    path = tmp_path / "calls.sqlite"
    Calls(path).close()
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version = 99")
    later.close()
    with pytest.raises(InputError, match="was written by a newer karat"):
        Calls(path)


def test_a_place_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        Calls(tmp_path / "file" / "calls.sqlite")
    with pytest.raises(InputError, match="cannot be used"):
        Calls(tmp_path)


def test_a_closed_file_says_so(tmp_path):
    calls = Calls(tmp_path / "calls.sqlite")
    calls.close()
    calls.close()
    with pytest.raises(InputError, match="was closed already"):
        calls.get("k1")


def test_no_bit_of_a_file_changes_a_call_in_silence(tmp_path):
    path = tmp_path / "calls.sqlite"
    known = {f"k{n}": replace(CALL, key=f"k{n}", text=f"grade {n}", cost_usd=n / 7) for n in range(4)}
    with Calls(path) as calls:
        for call in known.values():
            calls.add(call)
    data = path.read_bytes()
    rows = [place for place in range(len(data)) if data[place : place + 5] in (b"grade", b'{"id"', b"lengt")]
    draw = random.Random(0)
    places = [*(place + offset for place in rows for offset in range(0, 60, 4)), *draw.sample(range(len(data)), 150)]
    outcomes = set()
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :])
        try:
            with Calls(path) as calls:
                found = {key: calls.get(key) for key in known}
            assert all(call is None or call == known[key] for key, call in found.items())
            outcomes.add("same" if found == known else "lost")
        except InputError as error:
            outcomes.add("named" if "calls.sqlite" in str(error) else "unnamed")
        for beside in tmp_path.iterdir():
            beside.unlink()
    assert {"same", "named"} <= outcomes <= {"same", "named", "lost"}


def test_a_damaged_call_is_named_once_and_can_be_asked_again(tmp_path):
    path = tmp_path / "calls.sqlite"
    with Calls(path) as calls:
        calls.add(CALL)
    other = sqlite3.connect(path)
    other.execute("UPDATE calls SET text = 'another'")
    other.commit()
    other.close()
    with Calls(path) as calls:
        with pytest.raises(InputError, match=r"calls.sqlite: a reply in it was damaged .*Run the same command again"):
            calls.get("k1")
        assert calls.get("k1") is None
        calls.add(CALL)
        assert calls.get("k1") == CALL


def test_a_file_of_an_earlier_version_has_no_checksums_and_is_read(tmp_path):
    path = tmp_path / "calls.sqlite"
    with Calls(path) as calls:
        calls.add(CALL)
    earlier = sqlite3.connect(path)
    earlier.execute("ALTER TABLE calls DROP COLUMN crc32")
    earlier.close()
    with Calls(path) as calls:
        assert calls.get("k1") == CALL
        assert list(calls) == [CALL]
        calls.add(replace(CALL, key="k3"))
        assert calls.get("k3").key == "k3"


def test_calls_are_for_their_user_alone(tmp_path):
    with Calls(tmp_path / "new" / "calls.sqlite") as calls:
        calls.add(CALL)
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()}
    assert modes == {f"calls.sqlite{end}": 0o600 for end in ("", "-shm", "-wal")}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
