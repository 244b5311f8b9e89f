"""Decode: bytes into text, with the encoding that was assumed where it is not UTF-8; and what is no text at all."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache

from karat.core.text.wellformed import well_formed

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_SAMPLE = 64 << 10
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_HIGH_LETTERS = bytes(range(0xC0, 0x100))
_HIGH_RUN = re.compile(rb"[\xc0-\xff]{3,}")


@dataclass(frozen=True)
class Decoded:
    """Text, the name of the encoding, and how many places of it could not be decoded (they read U+FFFD)."""

    text: str
    encoding: str
    replaced: int = 0


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """The text of these bytes: by its mark, as UTF-8, as declared, or by a guess. Never fails.

    Valid UTF-8 beats a declaration: pages are often converted and keep the old one.
    """
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return _replacing(data[len(mark) :], codec, name)
    wide = _wide_without_mark(data)
    if wide:
        return _replacing(data, wide, "UTF-16")
    try:
        return Decoded(data.decode("utf-8"), "UTF-8")
    except UnicodeDecodeError:
        pass
    meant = _codec(declared)
    if declared and meant and meant != "utf-8" and (as_declared := _declared(data, declared, meant)):
        return as_declared
    loose = _replacing(data, "utf-8", "UTF-8")
    sound = sum(not letter.isascii() for letter in loose.text) - loose.replaced
    if loose.replaced * (1 if meant == "utf-8" else 10) <= sound:
        return loose
    sample = data[:_SAMPLE]
    high = _count(sample, _HIGH_LETTERS)
    if sum(map(len, _HIGH_RUN.findall(sample))) * 2 > high:
        upper_half_first = sum(byte >= 0xE0 for byte in sample) * 2 >= high  # small letters lie there in Windows-1251
        return _replacing(data, *(("cp1251", "Windows-1251") if upper_half_first else ("koi8-r", "KOI8-R")))
    try:
        return Decoded(data.decode("cp1252"), "Windows-1252")
    except UnicodeDecodeError:
        return Decoded(data.decode("latin-1"), "Latin-1")


@lru_cache(maxsize=1)  # several readers ask in turn
def is_binary(head: bytes) -> bool:
    """Whether the beginning of a file is no text: more than one byte in a hundred is a control character."""
    if head.startswith(tuple(mark for mark, _, _ in _MARKS)) or _wide_without_mark(head):
        return False
    sample = head[:_SAMPLE]
    return _count(sample, _CONTROLS) * 100 > len(sample)


def cleaned(text: str) -> str:
    r"""Text that everything later can take: lines end with \n; no NUL, byte order mark or lone surrogate.

    >>> cleaned("a\r\nb\0\ud800")
    'a\nb\ufffd'
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    return well_formed(text.removeprefix("\ufeff"))


def printable(name: str) -> str:
    r"""A file's name as text that can be written: bytes that are no UTF-8 become \xff.

    >>> printable("a\udcff")
    'a\\xff'
    """
    raw = name.encode("utf-8", "surrogateescape") if not _other_surrogate(name) else name.encode("utf-8", "replace")
    return raw.decode("utf-8", "backslashreplace")


def _other_surrogate(name: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" and not "\udc80" <= letter <= "\udcff" for letter in name)


def _count(sample: bytes, wanted: bytes) -> int:
    return len(sample) - len(sample.translate(None, wanted))


def _replacing(data: bytes, codec: str, name: str) -> Decoded:
    text = data.decode(codec, "replace")
    replaced = text.count("\ufffd")
    if replaced and codec.startswith("utf"):  # those that the text itself holds are no failures
        replaced -= data.count("\ufffd".encode(codec))
    return Decoded(text, name, max(replaced, 0))


def _codec(declared: str | None) -> str | None:
    try:
        return codecs.lookup(declared).name if declared else None
    except (LookupError, ValueError):
        return None


def _declared(data: bytes, declared: str, codec: str) -> Decoded | None:
    try:
        return Decoded(data.decode("cp1252" if codec in ("iso8859-1", "ascii") else codec), declared)
    except (LookupError, UnicodeError, ValueError, TypeError):
        return None


def _wide_without_mark(data: bytes) -> str | None:
    """The UTF-16 codec of data that has NULs and reads as plain text in it."""
    sample = data[: _SAMPLE & ~1]
    if len(sample) < 4 or b"\0" not in sample:
        return None
    for codec in ("utf-16-le", "utf-16-be"):
        text = sample.decode(codec, "replace")
        good = sum(letter < "\u2100" and (letter.isprintable() or letter in "\t\r\n\f") for letter in text)
        if good >= 0.95 * len(text):
            return codec
    return None
