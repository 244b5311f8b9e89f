"""Plain text: encodings, what is binary, and what is empty."""

import gzip

import pytest

from karat.corpus import read
from karat.io.decoding import decode, is_binary

RUSSIAN = "Ночная вахта длится четыре часа, потом её сменяют.\n" * 3
FRENCH = "La relève est à l'aube, au pôle déjà éclairé.\n" * 3


def reading_of(tmp_path, content, name="a.txt"):
    (tmp_path / name).write_bytes(content)
    return read(tmp_path)


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (RUSSIAN, "utf-8", "UTF-8"),
        (RUSSIAN, "utf-8-sig", "UTF-8"),
        (RUSSIAN, "utf-16", "UTF-16"),
        (RUSSIAN, "utf-16-le", "UTF-16"),
        (RUSSIAN, "utf-16-be", "UTF-16"),
        (FRENCH, "utf-16-le", "UTF-16"),
        (RUSSIAN, "utf-32", "UTF-32"),
        (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (FRENCH, "latin-1", "Windows-1252"),
        (FRENCH + "\x81", "latin-1", "Latin-1"),
        ("रात की पाली चार घंटे की होती है।", "utf-8", "UTF-8"),
    ],
)
def test_encodings_are_told_and_said(tmp_path, text, codec, name):
    data = text.encode(codec)
    assert decode(data).encoding == name
    reading = reading_of(tmp_path, data)
    assert reading.docs[0].text == text
    said = [] if name == "UTF-8" else [f"is not UTF-8; read as {name}."]
    assert [problem.reason for problem in reading.problems] == said
    assert not any(problem.fatal for problem in reading.problems)


def test_a_few_bad_bytes_do_not_make_utf8_another_encoding(tmp_path):
    data = RUSSIAN.encode() + b"\xff" + RUSSIAN.encode()[:-2] + b"\xd0"
    reading = reading_of(tmp_path, data)
    assert reading.docs[0].text.startswith("Ночная")
    assert reading.docs[0].text.count("\ufffd") == 2
    assert reading.problems[0].reason == "2 places could not be decoded as UTF-8 and read \ufffd."


def test_a_folder_of_mixed_encodings(tmp_path):
    for codec in ("utf-8", "cp1251", "utf-16"):
        (tmp_path / f"{codec}.txt").write_bytes(RUSSIAN.encode(codec))
    reading = read(tmp_path)
    assert [doc.text for doc in reading.docs] == [RUSSIAN] * 3
    assert len(reading.problems) == 2


def test_what_is_binary(tmp_path):
    assert is_binary(bytes(range(256)))
    assert is_binary(b"text\0\0\0with many NULs")
    assert not is_binary(b"a log\twith\x1b[0m colour\n" * 5)
    (tmp_path / "b.txt").write_text("x")
    reading = reading_of(tmp_path, bytes(range(256)) * 10)
    (problem,) = reading.problems
    assert problem.kind == "broken"
    assert problem.reason == "is named .txt but holds no text."


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "is empty (0 bytes)."), (b" \n\t", "holds nothing but white space.")]
)
def test_empty(tmp_path, content, reason):
    (tmp_path / "b.txt").write_text("x")
    (problem,) = reading_of(tmp_path, content).problems
    assert (problem.kind, problem.reason, problem.fatal) == ("empty", reason, True)


def test_gzip(tmp_path):
    reading = reading_of(tmp_path, gzip.compress(b"packed ") + gzip.compress(b"words"), "a.txt.gz")
    assert reading.docs[0].text == "packed words"
    assert reading.docs[0].id == "a.txt.gz"


def test_truncated_gzip(tmp_path):
    (tmp_path / "b.txt").write_text("x")
    (problem,) = reading_of(tmp_path, gzip.compress(b"packed words" * 50)[:-12], "a.txt.gz").problems
    assert problem.kind == "broken"
    assert "truncated" in problem.reason


def test_line_ends_and_nul_are_made_plain(tmp_path):
    assert reading_of(tmp_path, b"a\r\nb\rc" + b"d" * 200 + b"\0").docs[0].text == "a\nb\nc" + "d" * 200
