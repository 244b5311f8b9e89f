"""Chunks and documents on disk."""

import json

import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks, Doc, Page, Section
from karat.core.errors import InputError
from karat.corpus import Chunking, chunk_docs, load_chunks, load_docs, save_chunks, save_docs

ODD = 'lone \ud800, NUL \0, \u2028 \u2029 \x85 \x7f, "quotes" \\ and\nlines\r\n'
CHUNKS = [
    Chunk("a#0001", "a", "One."),
    Chunk(
        "a#0002",
        "a",
        ODD,
        title=ODD,
        url="http://x",
        pages=(1, 3),
        labels=("i", ""),
        span=(4, 9),
        tokens=0,
        meta={ODD: ODD, "": ""},
    ),
    Chunk('q"\\\n\ud800', "", ""),
    Chunk("ночь", "डॉ", "Ночь।", title=""),
]
PAGES = (Page(1, 0, 3, "i"), Page(2, 3, 5))
SECTIONS = (Section("S", 1, 0), Section("", 2, 1))
DOCS = [
    Doc("a", ODD, "T", url="u", pages=PAGES, sections=SECTIONS, part_of=None, meta={"k": "v"}),
    Doc("b", "", part_of="a"),
]


@pytest.fixture
def folder(tmp_path):
    save_chunks(Chunks(CHUNKS), tmp_path)
    save_docs(DOCS, tmp_path)
    return tmp_path


def test_what_was_saved_is_loaded(folder):
    chunks, docs = load_chunks(folder), load_docs(folder)
    assert isinstance(chunks, Chunks)
    assert list(chunks) == CHUNKS
    assert list(docs) == DOCS
    assert chunks.ids == [c.id for c in CHUNKS]
    assert list(chunks.texts) == [c.text for c in CHUNKS]
    assert chunks.row_of["ночь"] == 3
    assert (len(chunks), len(docs)) == (4, 2)
    assert list(docs.ids) == ["a", "b"]
    assert docs.id_at(1) == "b"


@pytest.mark.parametrize("chunking", ["tokens:200:40", "whole"])
def test_a_document_that_is_a_chunk_is_written_once(tmp_path, chunking):
    docs = [
        Doc("a", "One.", "T", url="u", meta={"k": "v"}),
        Doc("b", " blanks around it "),
        Doc("c", "Part.", part_of="whole"),
        Doc("d", "word " * 300),
        Doc("e", "Page.", pages=(Page(1, 0, 5),)),
    ]
    chunks = chunk_docs(docs, Chunking.parse(chunking)).chunks
    save_chunks(chunks, tmp_path)
    save_docs(docs, tmp_path, chunks)
    assert list(load_docs(tmp_path)) == docs
    rows = [json.loads(line) for line in (tmp_path / "docs.jsonl").read_text().splitlines()]
    assert rows[0] == {"id": "a", "chunk": "a" if chunking == "whole" else "a#0001"}
    assert rows[2] == {"id": "c", "chunk": "c"}
    assert ["text" in row for row in rows] == [False, True, False, True, True]
    (tmp_path / "chunks.jsonl").unlink()
    with pytest.raises(InputError, match=r"chunks\.jsonl: is missing"):
        list(load_docs(tmp_path))


def test_rows_are_those_of_a_sequence(folder):
    chunks = load_chunks(folder)
    assert chunks[-1] == CHUNKS[-1]
    assert chunks[np.int64(1)] == CHUNKS[1]
    assert list(chunks[1:3]) == CHUNKS[1:3]
    assert list(reversed(chunks)) == CHUNKS[::-1]
    for row in (4, -5):
        with pytest.raises(IndexError):
            chunks[row]


def test_the_file_is_for_people_and_other_tools(folder):
    lines = (folder / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    assert lines[0] == '{"id": "a#0001", "doc": "a", "text": "One."}'
    assert lines[3] == '{"id": "ночь", "doc": "डॉ", "text": "Ночь।", "title": ""}'
    assert list(json.loads(lines[1])) == [
        "id", "doc", "text", "title", "url", "pages", "labels", "span", "tokens", "meta",
    ]  # fmt: skip
    assert {"chunks.jsonl", "chunks.offsets.npy", "docs.jsonl", "docs.offsets.npy"} <= {
        path.name for path in folder.iterdir()
    }


def test_the_same_chunks_are_the_same_bytes(folder, tmp_path):
    other = tmp_path / "other"
    save_chunks(load_chunks(folder), other)
    names = [path.name for path in folder.glob("chunks.*")]
    assert len(names) == 22
    for name in names:
        assert (other / name).read_bytes() == (folder / name).read_bytes()


def test_empty_tables(tmp_path):
    save_chunks(chunk_docs([]).chunks, tmp_path)
    chunks = load_chunks(tmp_path)
    assert (list(chunks), chunks.ids) == ([], [])


def rewrite(path, lines):
    """The lines as they are, with offsets to match and without columns, as 0.3 left them."""
    for column in set(path.parent.glob(f"{path.stem}.*.npy")) - {path.with_suffix(".offsets.npy")}:
        column.unlink()
    path.write_bytes(b"".join(lines))
    np.save(path.with_suffix(".offsets.npy"), np.cumsum([0, *map(len, lines)]))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "a", "doc": \n', "Expecting value"),
        (b"\xff\xfe\xfa\n", "cannot be read"),
        (b"[1]\n", "no JSON object"),
        (b'{"id": "a", "text": "x"}\n', "it has no 'doc'"),
        (b'{"id": "a", "doc": "a", "text": 3}\n', "its 'text' holds int where str belongs"),
        (b'{"id": "a", "doc": "a", "text": "x", "pages": [1, "2"]}\n', "its 'pages' holds str"),
        (b'{"id": "a", "doc": "a", "text": "x", "span": [1]}\n', "its 'span' has 1 numbers"),
        (b'{"id": "a", "doc": "a", "text": "x", "tokens": true}\n', "its 'tokens' holds bool"),
        (b'{"id": "a", "doc": "a", "text": "x", "meta": {"k": 1}}\n', "its 'meta.k' holds int"),
        (b'{"a":' * 100_000 + b"\n", "cannot be read"),
    ],
)
def test_a_corrupt_row_is_named_and_the_others_can_be_read(folder, line, reason):
    path = folder / "chunks.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    rewrite(path, [lines[0], line, *lines[2:]])
    chunks = load_chunks(folder)
    assert chunks[0] == CHUNKS[0]
    assert chunks[2] == CHUNKS[2]
    with pytest.raises(InputError, match=rf"chunks\.jsonl line 2: .*{reason}.* build the index again"):
        chunks[1]


@pytest.mark.parametrize("line", [b'{"doc": "a"}\n', b'{"id": 3}\n', b'{"id": "\xff"}\n', b'{"id": "a\n', b"{\n"])
def test_a_corrupt_id_is_named(folder, line):
    path = folder / "chunks.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    rewrite(path, [lines[0], line, *lines[2:]])
    with pytest.raises(InputError, match=r"chunks\.jsonl line 2: cannot be read"):
        _ = load_chunks(folder).ids


def test_sections_with_the_anchors_of_earlier_versions_are_read(folder):
    path = folder / "docs.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    rewrite(path, [lines[0].replace(b'"level": 1, "start": 0', b'"level": 1, "start": 0, "anchor": "s"'), lines[1]])
    assert b"anchor" in path.read_bytes()
    assert list(load_docs(folder)) == DOCS


def test_an_id_that_does_not_stand_first_is_found(folder):
    path = folder / "chunks.jsonl"
    rewrite(path, [b'{"doc": "a", "text": "{\\"id\\": \\"no\\"}", "id": "yes"}\n'])
    assert load_chunks(folder).ids == ["yes"]


def test_a_table_that_was_changed_is_named_when_it_is_opened(folder):
    path = folder / "docs.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match=r"docs\.jsonl: has \d+ bytes where its offsets say \d+"):
        load_docs(folder)


@pytest.mark.parametrize(
    "offsets",
    [np.array([0.0, 5.0]), np.array([[0, 5]]), np.zeros(0, np.int64), np.array([1, 5]), np.array([0, 5, 3])],
    ids=["floats", "two dimensions", "none", "not from 0", "descending"],
)
def test_wrong_offsets_are_named(folder, offsets):
    np.save(folder / "chunks.offsets.npy", offsets)
    with pytest.raises(InputError, match=r"chunks\.offsets\.npy: "):
        load_chunks(folder)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x93NUMPY\x01\x00", b"PK\x03\x04"])
def test_a_foreign_file_of_offsets_is_named(folder, content):
    (folder / "chunks.offsets.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"chunks\.offsets\.npy: is damaged"):
        load_chunks(folder)


def test_pickled_offsets_are_refused(folder):
    np.save(folder / "chunks.offsets.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(InputError, match=r"chunks\.offsets\.npy: is damaged"):
        load_chunks(folder)


@pytest.mark.parametrize("name", ["chunks.jsonl", "chunks.offsets.npy"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name}: is missing"):
        load_chunks(folder)


def test_a_table_that_cannot_be_finished_leaves_the_old_one(folder):
    before = (folder / "chunks.jsonl").read_bytes()

    def breaking():
        yield CHUNKS[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        save_chunks(breaking(), folder)
    assert (folder / "chunks.jsonl").read_bytes() == before
    assert list(load_chunks(folder)) == CHUNKS
    assert not list(folder.glob(".*"))
