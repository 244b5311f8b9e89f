"""text: plain text in whatever encoding."""

from __future__ import annotations

import math
from collections.abc import Iterator

from karat.core.docs import Doc
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.io.decoding import is_binary


def _sniff(file: File) -> bool | None:
    return False if is_binary(file.head) else None


def _read(file: File) -> Iterator[Doc]:
    text = file.text()
    if not text.strip():
        raise ReadError("empty", "holds nothing but white space.", "Leave it out, or restore it.")
    yield Doc(file.id, text, title=file.stem)


READER = Reader(
    "text", "plain text", (".txt", ".text", ".log", ".rst", ".adoc"), _sniff, _read, in_place_below=math.inf
)
