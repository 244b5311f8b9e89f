"""jsonl: one record a line, as in BEIR's corpus.jsonl, or a JSON list or object of records, as hybrid-rag's chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from karat.core.docs import Doc
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.corpus._records import Row, docs_of, parsed_json
from karat.io.decoding import decode, is_binary
from karat.io.fields import DOCUMENT, field_name
from karat.io.records import from_columns

_LISTS = ("documents", "docs", "corpus", "passages", "chunks", "records", "items", "rows", "data")
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def _sniff(file: File) -> bool | None:
    return False if is_binary(file.head) else None


def _read(file: File) -> Iterator[Doc]:
    if file.ending == ".json" and not is_lines(file):
        yield from docs_of(file, _rows(parsed_json(file.text())), "record")
    else:
        yield from docs_of(file, lines_of(file))


def is_lines(file: File) -> bool:
    """Whether a file begins with a line that is a whole JSON object and goes on after it."""
    first, end, rest = file.head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if not (end and rest.strip() and first.startswith(b"{")):
        return False
    try:
        return isinstance(parsed_json(first.decode("utf-8", "replace")), dict)
    except ReadError:
        return False


def is_split(file: File) -> bool:
    """Whether a range of the lines of a file can be read alone."""
    return (file.ending != ".json" or is_lines(file)) and not _is_wide(file)


def _is_wide(file: File) -> bool:
    return file.head.startswith(_WIDE) or b"\0" in file.head


def lines_of(file: File) -> Iterator[Row]:
    """The records of a file of lines; one that is no JSON is named and left out."""
    if _is_wide(file):
        numbered: Iterator[tuple[int, bytes]] = enumerate(map(str.encode, file.text().split("\n")), 1)
    else:
        numbered = file.lines()
    is_noted = False
    for row, line in numbered:
        if not line or line.isspace():
            continue
        if line.isascii() and b"\0" not in line:
            text = line.decode("ascii")
        else:
            decoded = decode(line)
            text = decoded.text
            if decoded.encoding != "UTF-8" and not is_noted:
                reason = f"is not UTF-8; such lines are read as {decoded.encoding}."
                file.row_problem(row, "encoding", reason, "Save it as UTF-8.", fatal=False)
                is_noted = True
        try:
            yield row, parsed_json(text)
        except ReadError as fault:
            file.row_problem(row, fault.kind, fault.reason, fault.remedy)


def _rows(document: Any) -> Iterator[Row]:
    """The records of one JSON value."""
    if isinstance(document, list):
        yield from enumerate(document, 1)
        return
    if not isinstance(document, dict):
        raise ReadError("unsupported", "is JSON, but neither a list nor an object.", "Write a list of records.")
    for name in _LISTS:
        inner = document.get(name)
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            yield from enumerate(inner, 1)
            return
    has_text = not {field_name(name) for name in document}.isdisjoint(DOCUMENT["text"])
    listed = from_columns(document) if has_text else None
    if listed is not None:
        yield from enumerate(listed, 1)
    elif not has_text and document and all(isinstance(value, dict) for value in document.values()):
        for row, (key, value) in enumerate(document.items(), 1):
            yield row, {"id": key, **value}
    else:
        yield 1, document


READER = Reader("jsonl", "JSON records", (".jsonl", ".ndjson", ".json"), _sniff, _read, in_place_below=math.inf)
