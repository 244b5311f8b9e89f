import json
import os
import subprocess
import sys

import pytest

from karat.core.errors import InputError, UsageError
from karat.systems import index_folder
from karat.systems.index_folder import HEAD, JOURNAL, check_part, drafted, opened


def write(path, text="one", **about):
    with drafted(path) as draft:
        (draft.folder / "part").mkdir()
        (draft.folder / "part" / "a.txt").write_text(text)
        draft.about.update(about)


def content(path, **how):
    _, folder = opened(path, **how)
    return (folder / "part" / "a.txt").read_text()


def test_what_was_written_is_read_with_what_is_known_of_it(tmp_path):
    write(tmp_path / "i", karat="0.2.0")
    head, folder = opened(tmp_path / "i", verify=True)
    assert (head["format"], head["version"], head["karat"]) == ("karat index", 2, "0.2.0")
    assert head["files"]["part/a.txt"]["bytes"] == 3
    assert (folder / "part" / "a.txt").read_text() == "one"


def test_the_same_content_gives_the_same_bytes(tmp_path):
    write(tmp_path / "i")
    write(tmp_path / "j")
    assert (tmp_path / "i" / HEAD).read_bytes() == (tmp_path / "j" / HEAD).read_bytes()


def test_a_new_index_takes_the_place_of_the_old_and_leaves_one_generation(tmp_path):
    write(tmp_path / "i", "one")
    write(tmp_path / "i", "two")
    assert content(tmp_path / "i") == "two"
    assert sum(p.is_dir() for p in (tmp_path / "i").iterdir()) == 1


def test_a_failed_build_leaves_the_old_index(tmp_path):
    write(tmp_path / "i", "old")
    with pytest.raises(TypeError):
        write(tmp_path / "i", 7)
    assert content(tmp_path / "i", verify=True) == "old"
    with pytest.raises(TypeError):
        write(tmp_path / "none", 7)
    assert not (tmp_path / "none").exists()


KILLED = """
import os, sys, signal
from pathlib import Path
from karat.systems import index_folder
step = sys.argv[2]
if step == "committing":
    index_folder.write_whole = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
if step == "replacing":
    os.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
with index_folder.drafted(Path(sys.argv[1])) as draft:
    (draft.folder / "a.txt").write_text("new")
    draft.journal().write_text("paid for")
    if step == "writing":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", ["writing", "committing"])
def test_a_killed_build_leaves_the_old_index_and_the_journal(tmp_path, step):
    write(tmp_path / "i", "old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "i"), step], check=False)
    assert done.returncode == -9
    assert content(tmp_path / "i", verify=True) == "old"
    assert (tmp_path / "i" / JOURNAL).read_text() == "paid for"
    write(tmp_path / "i", "newer")
    assert content(tmp_path / "i") == "newer"
    assert sorted(p.name for p in (tmp_path / "i").iterdir() if p.name.startswith(".draft")) == []


@pytest.mark.parametrize("step", ["writing", "committing", "replacing"])
def test_a_first_build_that_was_killed_is_named_so_and_can_be_repeated(tmp_path, step):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "i"), step], check=False)
    with pytest.raises(InputError, match=r"its build was not finished. Run the same `karat index`"):
        opened(tmp_path / "i")
    write(tmp_path / "i", "new")
    assert content(tmp_path / "i") == "new"
    assert {path.name for path in (tmp_path / "i").iterdir()} == {".lock", HEAD, opened(tmp_path / "i")[1].name}


def test_a_folder_that_looks_like_a_generation_is_no_build_of_karat(tmp_path):
    (tmp_path / "i" / "0123456789ab").mkdir(parents=True)
    with pytest.raises(UsageError, match="holds other things"):
        write(tmp_path / "i")


def test_rebuilding_a_damaged_index_of_the_same_content_mends_it(tmp_path):
    write(tmp_path / "i", "one")
    _, folder = opened(tmp_path / "i")
    (folder / "part" / "a.txt").write_text("eno")
    write(tmp_path / "i", "one")
    assert content(tmp_path / "i", verify=True) == "one"


def damage_size(path, folder):
    (folder / "part" / "a.txt").write_text("ones")


def damage_byte(path, folder):
    (folder / "part" / "a.txt").write_text("eno")


def damage_missing(path, folder):
    (folder / "part" / "a.txt").unlink()


def damage_head(path, folder):
    (path / HEAD).write_text((path / HEAD).read_text().replace('"bytes": 3', '"bytes": 4'))


def damage_torn(path, folder):
    (path / HEAD).write_text((path / HEAD).read_text()[:40])


def damage_foreign(path, folder):
    (path / HEAD).write_text(json.dumps({"index": "of something else"}))


def damage_files(path, folder):
    from karat.io.checksum import sealed

    head = json.loads((path / HEAD).read_text())
    (path / HEAD).write_text(json.dumps(sealed({**head, "files": {"part/a.txt": 3}})))


def damage_emptied(path, folder):
    from karat.io.checksum import sealed

    head = json.loads((path / HEAD).read_text())
    (path / HEAD).write_text(json.dumps(sealed({**head, "files": {}})))


def damage_seal(path, folder):
    head = json.loads((path / HEAD).read_text())
    (path / HEAD).write_text(json.dumps({name: value for name, value in head.items() if name != "sha256"}))


def damage_version(path, folder):
    head = json.loads((path / HEAD).read_text())
    (path / HEAD).write_text(json.dumps({**head, "version": 9}))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (damage_size, "the index is damaged: part/a.txt has 4 bytes instead of 3"),
        (damage_byte, "the index is damaged: part/a.txt is not what was written"),
        (damage_missing, "the index is damaged: part/a.txt is missing"),
        (damage_head, "the index is damaged: index.json is not what was written"),
        (damage_files, "index.json names no generation, or no files of it"),
        (damage_emptied, "index.json names no generation, or no files of it"),
        (damage_seal, "the index is damaged: index.json is not what was written"),
        (damage_torn, "the index is damaged: index.json cannot be read"),
        (damage_foreign, "this is no karat index"),
        (damage_version, "has version 9, and this karat reads versions up to 2"),
    ],
)
def test_a_damaged_or_foreign_index_is_named_as_such(tmp_path, damage, sentence):
    write(tmp_path / "i")
    damage(tmp_path / "i", opened(tmp_path / "i")[1])
    with pytest.raises(InputError, match=sentence):
        opened(tmp_path / "i")


@pytest.mark.parametrize("old", [False, True])
def test_a_large_file_is_checksummed_when_it_is_needed(tmp_path, monkeypatch, old):
    if old:  # an earlier version wrote one checksum
        commit = index_folder.sealed
        monkeypatch.setattr(index_folder, "sealed", lambda head: commit(without_crc32(head)))
    write(tmp_path / "i", "x" * (9 << 20))
    head, folder = opened(tmp_path / "i")
    assert ("crc32" in head["files"]["part/a.txt"]) is not old
    check_part(tmp_path / "i", head, folder, "part/")
    with open(folder / "part" / "a.txt", "r+b") as file:
        file.seek(1 << 20)
        file.write(b"y")
    opened(tmp_path / "i")
    check_part(tmp_path / "i", head, folder, "other/")
    with pytest.raises(InputError, match=r"i: the index is damaged: part/a.txt is not what was written: its checksum"):
        check_part(tmp_path / "i", head, folder, "part/")
    with pytest.raises(InputError, match="checksum differs"):
        opened(tmp_path / "i", verify=True)


def without_crc32(head):
    files = {name: {k: v for k, v in about.items() if k != "crc32"} for name, about in head["files"].items()}
    return {**head, "files": files}


@pytest.mark.parametrize("gone", [True, False])
def test_an_index_that_is_replaced_while_it_is_opened_is_opened_as_it_is_then(tmp_path, monkeypatch, gone):
    write(tmp_path / "i", "old")
    compare = index_folder.fault

    def replacing(folder, files, *, fully):
        monkeypatch.setattr(index_folder, "fault", compare)
        write(tmp_path / "i", "new")
        if gone:
            (folder / "part" / "a.txt").stat()
        return compare(folder, files, fully=fully)

    monkeypatch.setattr(index_folder, "fault", replacing)
    assert content(tmp_path / "i") == "new"


def test_what_is_no_index_is_neither_opened_nor_overwritten(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("x")
    for name, sentence in (("file", "it is a file"), ("folder", "has no index.json"), ("none", "no such index")):
        with pytest.raises(InputError, match=sentence):
            opened(tmp_path / name)
    with pytest.raises(UsageError, match=r"is a file. Name a new folder"):
        write(tmp_path / "file")
    with pytest.raises(UsageError, match=r"holds other things \('thesis.txt'"):
        write(tmp_path / "folder")
    assert os.listdir(tmp_path / "folder") == ["thesis.txt"]


def test_two_builds_at_once_are_refused(tmp_path):
    with drafted(tmp_path / "i") as draft:
        (draft.folder / "a").write_text("x")
        with pytest.raises(UsageError, match="another build is writing"):
            write(tmp_path / "i")


def test_a_full_disk_and_a_closed_folder_are_named_and_the_old_index_stays(tmp_path, monkeypatch):
    import errno

    write(tmp_path / "i", "old")

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("karat.systems.index_folder._commit", full)
    with pytest.raises(InputError, match="the index cannot be written: No space left on device"):
        write(tmp_path / "i", "new")
    assert content(tmp_path / "i", verify=True) == "old"
    monkeypatch.setattr("pathlib.Path.mkdir", full)
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "j")


@pytest.mark.parametrize("place", ["more.txt", "part/more.txt", "more"])
def test_an_index_leads_to_no_file_outside_its_folder(tmp_path, place):
    write(tmp_path / "i")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("secret")
    _, folder = opened(tmp_path / "i")
    (folder / place).symlink_to(tmp_path / "secret" / ("key.txt" if place.endswith(".txt") else ""))
    with pytest.raises(InputError, match=f"the index is damaged: {place} is a link"):
        opened(tmp_path / "i")


def test_a_generation_is_a_folder_of_its_own(tmp_path):
    write(tmp_path / "i")
    _, folder = opened(tmp_path / "i")
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        opened(tmp_path / "i")
