"""Folders: order, ids, what is passed over, and file systems at their worst."""

import os
import socket
from dataclasses import replace

import pytest

from karat.core.errors import InputError, UsageError
from karat.corpus import READERS, _file, read


@pytest.fixture
def folder(tmp_path):
    top = tmp_path / "docs"
    top.mkdir()
    (top / "sound.txt").write_text("All is well.")
    return top


def said(reading):
    return [(problem.kind, problem.fatal, str(problem)) for problem in reading.problems]


def test_files_come_in_the_order_of_the_bytes_of_their_paths(folder):
    for name in ("b/c.txt", "b.txt", "B.txt", "a/z.md", "é.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    reading = read(str(folder))
    assert [doc.id for doc in reading.docs] == ["B.txt", "a/z.md", "b.txt", "b/c.txt", "sound.txt", "é.txt"]
    assert [(taken.place, taken.format, taken.docs, taken.pages) for taken in reading.taken][1] == (
        str(folder / "a/z.md"), "markdown", 1, 0,
    )  # fmt: skip
    assert reading.problems == ()


def test_a_single_file_has_its_name_as_id(folder):
    assert [doc.id for doc in read(folder / "sound.txt").docs] == ["sound.txt"]


def test_folders_that_hold_the_same_names_stand_before_them(tmp_path):
    for place in ("2020/docs", "2021/docs", "other"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "a.txt").write_text(place)
    (tmp_path / "other" / "b.txt").write_text("b")
    two = read([tmp_path / "2020/docs", tmp_path / "other"])
    assert [doc.id for doc in two.docs] == ["docs/a.txt", "other/a.txt", "other/b.txt"]
    three = read([tmp_path / "2020/docs", tmp_path / "2021/docs", tmp_path / "other"])
    assert [doc.id for doc in three.docs] == ["2020/docs/a.txt", "2021/docs/a.txt", "other/a.txt", "other/b.txt"]


def test_a_file_given_twice_is_read_once(folder):
    reading = read([folder, folder / "sound.txt"])
    assert len(reading.docs) == 1
    assert said(reading) == [("duplicate", False, f"{folder / 'sound.txt'}: is given twice; read once.")]


def test_a_file_given_twice_gives_no_other_one_a_new_id(folder):
    (folder / "sub").mkdir()
    for name in ("a.txt", "sub/a.txt"):
        (folder / name).write_text(name)
    assert [doc.id for doc in read([folder, folder / "sub" / "a.txt"]).docs] == ["a.txt", "sound.txt", "sub/a.txt"]


def test_a_source_that_does_not_exist_is_an_error(folder):
    with pytest.raises(InputError, match=r"nowhere: does not exist\. Check the path\."):
        read([folder, folder / "nowhere"])
    with pytest.raises(UsageError, match="no documents were named"):
        read([])
    with pytest.raises(InputError, match="is no path"):
        read("a\0b")


def test_no_documents_at_all(tmp_path):
    with pytest.raises(
        InputError, match=rf"^{tmp_path}: no document could be read\. It holds no files\. Readable: \.adoc"
    ):
        read(tmp_path)


def test_what_is_never_a_document_is_counted_and_not_listed(folder):
    for name in (".git/config", ".DS_Store", "__pycache__/a.pyc", "old.index/index.json", "old.index/chunks.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text('{"karat": "0.1.0"}')
    (folder / "~$a.docx").write_text("a lock")
    (folder / "site").mkdir()
    (folder / "site" / "index.json").write_text('{"text": "not of karat", "karat": 18}')
    (folder / "new.index").mkdir()  # its first build was stopped
    (folder / "new.index" / ".lock").touch()
    (folder / "new.index" / "embeddings.journal").touch()
    (folder / "newer.index" / "0123456789ab").mkdir(parents=True)  # and this one a step later
    (folder / "newer.index" / ".lock").touch()
    (folder / "newer.index" / "0123456789ab" / "chunks.jsonl").write_text('{"id": "a", "text": "a chunk"}')
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["site/index.json:1", "sound.txt"]
    assert said(reading) == [
        (
            "skipped", False,
            "folders: not documents, passed over: 1 files that systems leave behind, 3 folders made by karat, "
            "3 hidden files and folders.",
        )
    ]  # fmt: skip


def test_other_files_are_listed_with_what_can_be_read(folder):
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "all.zip").write_bytes(b"PK\x03\x04" + bytes(40))
    (folder / "style.css").write_text("p {}")
    (folder / "script.py").write_text("print()")
    (folder / "data.bin").write_bytes(bytes(100))
    (folder / "README").write_text("no ending is text")
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["README", "sound.txt"]
    listed = {p.place.rpartition("/")[2]: (p.kind, p.fatal, p.reason) for p in reading.problems}
    assert listed == {
        "all.zip": ("unsupported", True, "is an archive (zip), which is not read."),
        "data.bin": ("unsupported", True, "is a binary file (ending .bin)."),
        "photo.png": ("unsupported", False, "is an image, which is not read."),
        "script.py": ("unsupported", True, "is no kind of document that is read (ending .py)."),
        "style.css": ("unsupported", False, "is no kind of document that is read (ending .css)."),
    }
    assert ".docx" in reading.problems[-1].remedy


def test_a_file_of_unknown_ending_is_text_when_it_is_named_itself(folder):
    (folder / "notes.org").write_text("words")
    reading = read(folder / "notes.org")
    assert reading.docs[0].text == "words"
    assert reading.problems[0].reason == "has the unknown ending .org; read as plain text."


def test_a_link_to_a_folder_above_is_a_loop(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "a.txt").write_text("a")
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["sound.txt", "sub/a.txt"]
    assert sorted(said(reading)) == [
        ("loop", False, f"{folder / 'sub' / 'up'}: is a link to a folder that holds it; not followed."),
        ("loop", True, f"{folder / 'self'}: is a link that leads to itself. Remove it."),
    ]


def test_a_link_to_a_folder_is_followed_once_and_the_folder_keeps_its_name(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "e.txt").write_text("e")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "real").mkdir()
    (folder / "real" / "r.txt").write_text("r")
    for name in ("a link before it", "z link after it"):
        (folder / name).symlink_to(folder / "real")
    reading = read(folder, follow_links=True)
    assert [doc.id for doc in reading.docs] == ["linked/e.txt", "real/r.txt", "sound.txt"]
    assert len(reading.problems) == 2
    assert said(reading)[:1] == [
        (
            "duplicate", False,
            f"{folder / 'a link before it'}: leads to a folder that is read already, as {folder / 'real'}.",
        )
    ]  # fmt: skip


def test_a_link_out_of_the_folder_is_named_and_not_followed(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "e.txt").write_text("e")
    (tmp_path / "secret.txt").write_text("s")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "inner.txt").symlink_to(folder / "sound.txt")
    (folder / "outer.txt").symlink_to("../secret.txt")
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["inner.txt", "sound.txt"]
    told = (
        "is a link that leads out of the folder; not followed. Name what it leads to, or follow links: --follow-links."
    )
    assert said(reading) == [("link", True, f"{folder / name}: {told}") for name in ("linked", "outer.txt")]
    assert [doc.id for doc in read(tmp_path / "docs" / "linked").docs] == ["e.txt"]


def test_a_link_to_nothing(folder):
    (folder / "gone.txt").symlink_to(folder / "nothing.txt")
    assert said(read(folder)) == [
        ("unreadable", True, f"{folder / 'gone.txt'}: is a link to a file that does not exist. Remove or fix it.")
    ]


def denying(monkeypatch, name, error):
    """Let the operating system refuse to open files of a name (tests may run as root, whom nothing is denied)."""
    ordinary = os.open

    def refuse(path, *args, **more):
        if str(path).endswith(name):
            raise error
        return ordinary(path, *args, **more)

    monkeypatch.setattr(_file.os, "open", refuse)


@pytest.mark.slow
def test_unreadable_permissions(folder, monkeypatch):
    (folder / "locked.txt").write_text("x")
    if os.getuid():
        (folder / "locked.txt").chmod(0)
    else:
        denying(monkeypatch, "locked.txt", PermissionError(13, "Permission denied"))
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["sound.txt"]
    assert said(reading) == [
        (
            "unreadable", True,
            f"{folder / 'locked.txt'}: cannot be read: permission denied. Check its permissions.",
        )
    ]  # fmt: skip


def test_a_folder_that_cannot_be_listed(folder, monkeypatch):
    (folder / "locked").mkdir()
    ordinary = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return ordinary(path)

    monkeypatch.setattr(os, "scandir", refuse)
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["sound.txt"]
    assert said(reading)[0][2].endswith("locked: cannot be read: permission denied. Check its permissions.")


def test_a_file_that_is_deleted_before_it_is_read(folder):
    (folder / "gone.txt").write_text("x")

    def delete(what, done, total):
        (folder / "gone.txt").unlink(missing_ok=True)

    reading = read(folder, progress=delete)
    assert [doc.id for doc in reading.docs] == ["sound.txt"]
    assert said(reading) == [
        (
            "unreadable", True,
            f"{folder / 'gone.txt'}: does not exist. Check the path.",
        )
    ]  # fmt: skip


def test_a_disk_that_fails_while_a_file_is_read(folder, monkeypatch):
    (folder / "bad.txt").write_text("x")
    denying(monkeypatch, "bad.txt", OSError(5, "Input/output error"))
    assert said(read(folder))[0][2].endswith(
        "bad.txt: cannot be read: Input/output error. Check the disk and the path."
    )


def test_pipes_and_sockets_are_never_waited_for(folder, monkeypatch):
    os.mkfifo(folder / "pipe.txt")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.txt")
        reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["sound.txt"]
    assert {problem.reason for problem in reading.problems} == {"is no regular file (a pipe, socket or device)."}
    assert len(reading.problems) == 2


def test_a_file_that_becomes_a_pipe_is_not_waited_for(folder):
    (folder / "a.txt").write_text("x")

    def swap(what, done, total):
        if done == 0:
            (folder / "a.txt").unlink()
            os.mkfifo(folder / "a.txt")

    reading = read(folder, progress=swap)
    assert [doc.id for doc in reading.docs] == ["sound.txt"]
    assert reading.problems[0].kind == "unsupported"


def test_names_that_are_no_utf8_become_ids_that_can_be_written(folder):
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == [r"caf\xe9.txt", "sound.txt"]
    assert reading.docs[0].title == r"caf\xe9"
    reading.taken[0].place.encode("utf-8")


def test_two_files_with_a_record_of_the_same_id(folder):
    (folder / "a.jsonl").write_text('{"id": "x", "text": "one"}\n')
    (folder / "b.jsonl").write_text('{"id": "x", "text": "two"}\n')
    reading = read(folder)
    assert [doc.text for doc in reading.docs] == ["one", "All is well."]
    assert said(reading) == [
        (
            "clash", True,
            f"{folder / 'b.jsonl'}: the id 'x' is taken by another text, in {folder / 'a.jsonl'}; "
            "this one is left out. Give each its own id.",
        )
    ]  # fmt: skip


def test_a_reader_that_fails_is_named_and_the_rest_goes_on(folder, monkeypatch):
    def explode(file):
        raise RuntimeError("boom")
        yield

    (folder / "a.jsonl").write_text("x")
    monkeypatch.setitem(READERS._loaded, "jsonl", replace(READERS.get("jsonl"), read=explode))
    reading = read(folder)
    assert [doc.id for doc in reading.docs] == ["sound.txt"]
    assert "a.jsonl: could not be read (RuntimeError: boom)." in said(reading)[0][2]
    assert said(reading)[0][0] == "failed"


def test_reading_twice_gives_the_same(folder):
    (folder / "a.jsonl").write_text('{"id": "x", "text": "one"}\nbroken\n')
    assert read(folder) == read(folder)


def test_every_reader_is_registered_under_the_name_of_its_file():
    names = {reader.name for reader in READERS}
    assert names == {"docx", "html", "ir_datasets", "jsonl", "markdown", "pdf", "squad", "table", "text"}
    assert all(reader.about and (reader.endings or reader.name == "ir_datasets") for reader in READERS)
