"""JSON in a stream: the values of a file one after the other, however long the file, and what its first keys are.

One document, JSON lines and documents written one after the other are the same here: values with blanks between.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from karat.core.text.wellformed import well_formed_values
from karat.io.limits import LINE_LIMIT
from karat.io.opening import PIECE
from karat.io.records import NO_CHARACTER, JSONError
from karat.io.source import Source

Inside = Mapping[str, "Inside"]
"""Keys of objects whose values are gone into, by key; what has none is taken whole."""

_REMEDY = "Correct it, or write the file again."
_DEEPEST = 32  # lists within lists that are gone into
_BLANKS = re.compile(r"[ \t\r\n]*+")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)"|([\[\]{},:])|[^\s"\[\]{},:]++')
_MOST_KEYS = 2_000  # of the head, that an outline holds
_DECODER = json.JSONDecoder()
_LONGEST_WORD = len("-Infinity")  # that may be cut off at the end


class TruncatedError(JSONError):
    """The file ends within a value."""

    def __init__(self, row: int) -> None:
        super().__init__("the file ends in the middle of a value", "Export it again.", row)


def json_values(source: Source, inside: Inside) -> Iterator[tuple[int, Any]]:
    """The values of a file, or those that stand inside under some keys, each with its line.

    Lists are gone into, other values that are not wanted are passed over. Held is one value and a piece of the file; a
    value over LINE_LIMIT is refused. JSONError names the line; TruncatedError comes after all that stands before.
    """
    cursor = _Cursor(source)
    while cursor.peek():
        yield from _walk(cursor, inside, 0)


def _walk(cursor: _Cursor, inside: Inside, depth: int) -> Iterator[tuple[int, Any]]:
    if depth > _DEEPEST:
        raise JSONError("the JSON is nested too deeply", "Flatten it.", cursor.row)
    first = cursor.peek()
    if first == "[":
        for _ in cursor.parts("]"):
            yield from _walk(cursor, inside, depth + 1)
    elif first == "{" and inside:
        for _ in cursor.parts("}"):
            key = cursor.value()
            cursor.take(":")
            if isinstance(key, str) and key in inside:
                yield from _walk(cursor, inside[key], depth + 1)
            else:
                cursor.value()
    else:
        yield cursor.row, cursor.value()


class _Cursor:
    """A place in the text of a file, of which a piece is held."""

    def __init__(self, source: Source) -> None:
        self._pieces = source.texts(PIECE)
        self._text, self._at, self._ended = "", 0, False
        self._row, self._counted = 1, 0  # the line of a place before

    @property
    def row(self) -> int:
        """The line of the place."""
        self._row += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._row

    def _read(self, size: int) -> bool:
        """Hold at least so many characters after the place, or all there are; whether there were more."""
        parts, held = [self._text[self._at :]], len(self._text) - self._at
        before, self._row, self._counted = held, self.row, 0
        while held < size and not self._ended:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
            else:
                parts.append(piece)
                held += len(piece)
        self._text, self._at = "".join(parts), 0
        return held > before

    def peek(self) -> str:
        """The next character that is no blank; nothing at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read(1):
                return ""

    def take(self, character: str) -> None:
        """Go past a character that must stand here."""
        present = self.peek()
        if not present:
            raise TruncatedError(self.row)
        if present != character:
            raise JSONError(f"not valid JSON ({character} was expected)", _REMEDY, self.row)
        self._at += 1

    def parts(self, end: str) -> Iterator[None]:
        """Each time at the beginning of a part of a list or an object, until that ends."""
        self._at += 1
        if self.peek() == end:
            self._at += 1
            return
        while True:
            if not self.peek():
                raise TruncatedError(self.row)
            yield None
            if self.peek() == end:
                self._at += 1
                return
            self.take(",")

    def value(self) -> Any:
        """The value that begins here."""
        if not self.peek():
            raise TruncatedError(self.row)
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as problem:
                held = len(self._text) - self._at
                if held > LINE_LIMIT:
                    raise self._too_long() from None
                if not self._ended and self._read(2 * held + 1):
                    continue  # it may only be cut off
                raise self._error(problem) from None
            except RecursionError:
                raise JSONError("the JSON is nested too deeply", "Flatten it.", self.row) from None
            except ValueError:
                raise JSONError("a number in the JSON has too many digits", "Write it as text.", self.row) from None
            if end == len(self._text) and isinstance(value, int | float) and self._read(2 * (end - self._at) + 1):
                continue  # the rest of the number may follow
            if end - self._at > LINE_LIMIT:
                raise self._too_long()
            odd = NO_CHARACTER.search(self._text, self._at, end)
            self._at = end
            return well_formed_values(value) if odd else value

    def _too_long(self) -> JSONError:
        problem = f"a value is longer than {LINE_LIMIT >> 20} MB, the most that is read"
        return JSONError(problem, "Leave out long texts.", self.row)

    def _error(self, problem: json.JSONDecodeError) -> JSONError:
        row = self.row + self._text.count("\n", self._at, problem.pos)
        end = len(self._text.rstrip())
        cut = problem.pos >= end or problem.msg.startswith("Unterminated") or end - problem.pos < _LONGEST_WORD
        if self._ended and cut:
            return TruncatedError(row)
        return JSONError(f"not valid JSON ({problem.msg})", _REMEDY, row)


@lru_cache(maxsize=4)  # several formats ask in turn
def outline(head: bytes) -> frozenset[str]:
    """The keys of the JSON at the beginning of a file, each with those that it stands under: `data.spans.name`.

    Lists do not count. The text may be cut off anywhere.
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    if text.lstrip()[:1] not in ("{", "["):
        return frozenset()
    keys: dict[str, None] = {}
    open_paths: list[str] = []  # of each object and list that is not closed yet
    path, name = "", ""
    for token in _TOKEN.finditer(text):
        string, mark = token.group(1, 2)
        if string is not None:
            name = string
        elif mark == ":":
            above = open_paths[-1] if open_paths else ""
            path = f"{above}.{name}" if above else name
            keys[path] = None
        elif mark in ("{", "["):
            open_paths.append(path)
        elif mark is not None:
            if mark != "," and open_paths:
                open_paths.pop()
            path = open_paths[-1] if open_paths else ""
        if len(keys) > _MOST_KEYS or len(open_paths) > _DEEPEST:
            break
    return frozenset(keys)
