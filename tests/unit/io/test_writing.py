"""Files are complete or not there."""

import os
import stat
import subprocess
import sys

import pytest

from karat.core.errors import InputError
from karat.io.writing import private, private_folder, replaced, write_whole


def test_folders_are_made_and_old_content_replaced(tmp_path):
    path = tmp_path / "new" / "deep" / "a.txt"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def break_off():
        with replaced(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file.x: cannot be written: .*Choose another place"):
        write_whole(tmp_path / "file" / "x", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder: cannot be written"):
        write_whole(tmp_path / "folder", b"")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


KILLED = """
import os, sys
from karat.io.writing import replaced
with replaced(sys.argv[1]) as part:
    part.write_text("half")
    os._exit(9)
"""


def test_what_a_killed_writer_left_goes_with_the_next_and_what_another_is_writing_stays(tmp_path):
    path = tmp_path / "a.txt"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(os.listdir(tmp_path)) == 1
    (tmp_path / ".a.txt.notes.part").write_text("the user's own")
    with replaced(path) as part:
        part.write_text("first")
        write_whole(path, "second")
        assert sorted(os.listdir(tmp_path)) == sorted([part.name, ".a.txt.notes.part", "a.txt"])
    assert path.read_text() == "first"
    assert sorted(os.listdir(tmp_path)) == [".a.txt.notes.part", "a.txt"]


def test_private_files_and_folders_are_for_their_user_alone(tmp_path):
    old = os.umask(0)
    try:
        private_folder(tmp_path / "folder")
        with open(tmp_path / "folder" / "a", "ab", opener=private):
            pass
        write_whole(tmp_path / "folder" / "b", "x", private=True)
        write_whole(tmp_path / "folder" / "c", "x")
    finally:
        os.umask(old)
    modes = {name: stat.S_IMODE(os.stat(tmp_path / "folder" / name).st_mode) for name in (".", "a", "b", "c")}
    assert modes == {".": 0o700, "a": 0o600, "b": 0o600, "c": 0o666}


def test_a_link_in_place_of_a_private_file_is_not_followed(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("mine")
    (tmp_path / "journal.jsonl").symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"), open(tmp_path / "journal.jsonl", "ab", opener=private):
        pass
    assert other.read_text() == "mine"


@pytest.mark.parametrize("place", [".", "/", ""])
def test_a_place_without_a_name_is_refused(place):
    with pytest.raises(InputError, match=r"cannot be written: Is a directory\. Choose another place\."):
        write_whole(place, "x")
