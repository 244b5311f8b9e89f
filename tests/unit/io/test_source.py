import gzip
import os
import tracemalloc

import pytest

from karat.core.errors import InputError
from karat.io import source as _source
from karat.io.source import Source


def refused(path):
    with pytest.raises(InputError) as caught:
        list(Source(path).lines())
    return str(caught.value)


def test_lines_are_numbered_and_cleaned(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\ntwo\nl\xc3\xa4st")
    source = Source(path)
    assert list(source.lines()) == [(1, "one"), (2, ""), (3, "two"), (4, "läst")]
    assert source.head == b"one\r\n\ntwo\nl\xc3\xa4st"
    assert source.text() == "one\r\n\ntwo\nläst"


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_blocks_hold_whole_lines(tmp_path, size):
    text = b"\xef\xbb\xbf" + b"".join(b"line %d\n" % n for n in range(50)) + b"last"
    path = tmp_path / "a.txt"
    path.write_bytes(text)
    blocks = list(Source(path).blocks(size))
    assert b"".join(blocks) == text[3:]
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_gzip_is_told_by_content_and_may_have_several_members(tmp_path):
    path = tmp_path / "no_ending"
    path.write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c\n") + b"\0\0\0")
    source = Source(path)
    assert source.is_gzip
    assert [line for _, line in source.lines()] == ["a", "bc"]


def test_truncated_gzip(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(os.urandom(1000).hex().encode())[:-12])
    assert refused(path) == f"{path}: is a truncated gzip file: it ends before its data does. Download it again."


def test_damaged_gzip(tmp_path):
    packed = bytearray(gzip.compress(b"some text\n" * 100))
    packed[-6] ^= 0xFF
    path = tmp_path / "run.gz"
    path.write_bytes(packed)
    assert "is a damaged gzip file" in refused(path)


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_file(tmp_path, content):
    path = tmp_path / "qa.jsonl"
    path.write_bytes(content)
    assert refused(path) == f"{path}: is empty. Give a file with at least one row."


def test_missing_file(tmp_path):
    assert refused(tmp_path / "no.jsonl") == f"{tmp_path / 'no.jsonl'}: does not exist. Check the path."


def test_folder(tmp_path):
    assert refused(tmp_path) == f"{tmp_path}: is a folder where a file is meant. Name a file in it."


def test_permission_denied(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("x")

    def deny(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", deny)
    assert refused(path) == f"{path}: cannot be read: permission denied. Check its permissions."


def test_binary_file(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    assert "is a binary file, not text. Give a text file" in refused(path)


def test_wrong_encoding_names_the_line(tmp_path):
    path = tmp_path / "qa.tsv"
    path.write_bytes(b"id\ttext\n1\tcaf\xe9\n")
    assert refused(path) == f"{path} line 2: the text is not UTF-8 (byte 0xe9). Save it as UTF-8."
    with pytest.raises(InputError, match="line 2: "):
        Source(path).text()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_encodings_are_named(tmp_path, encoding):
    path = tmp_path / "qa.tsv"
    path.write_bytes("id\ttext\n".encode(encoding))
    assert refused(path) == f"{path}: is encoded as {encoding.upper()}. Save it as UTF-8."


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_long_line_is_refused_without_being_held(tmp_path, packed):
    path = tmp_path / "long"
    with gzip.open(path, "wb", 1) if packed else path.open("wb") as file:
        file.write(b"a\nb\n")
        for _ in range(160):
            file.write(b"x" * (1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            for _ in Source(path).blocks(1 << 20):
                pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(caught.value) == (
        f"{path} line 3: the line is longer than 64 MB, the most that is read. "
        "Write one record a line, or leave out long texts."
    )
    assert peak < 80 << 20


def test_line_limit_counts_lines_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "LINE_LIMIT", 10)
    path = tmp_path / "a.txt"
    path.write_bytes(b"0123456789\nshort\n01234567890\n")
    with pytest.raises(InputError, match="line 3: the line is longer"):
        list(Source(path).blocks(4))


def test_large_document_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "TEXT_LIMIT", 100)
    path = tmp_path / "a.json"
    path.write_bytes(b"[" + b" " * 200 + b"]")
    with pytest.raises(InputError, match=r"the most that is read as one document\. Split it"):
        Source(path).text()
    path.write_bytes(gzip.compress(b"[" + b" " * 200 + b"]"))
    with pytest.raises(InputError, match="the most that is read as one document"):
        Source(path).text()


def test_stem_drops_known_endings(tmp_path):
    path = tmp_path / "bm25.v2.trec.gz"
    path.write_bytes(gzip.compress(b"x"))
    assert Source(path).stem == "bm25.v2"
