"""Documents and the chunks they are cut into. All frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, overload


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document: characters `start` to `end` of its text.

    `number` counts the pages of the file from 1; `label` is what is printed on the page ("iv", "12"), if known.
    """

    number: int
    start: int
    end: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Where a headed part of a document begins; it ends where the next of the same or a higher level begins."""

    title: str
    level: int
    start: int


@dataclass(frozen=True, slots=True)
class Doc:
    """A document as text. Offsets of pages, sections and spans count the characters of `text`.

    `part_of` names the document that a text already cut belongs to: such a text is one chunk, under its own id,
    whatever the chunking.
    """

    id: str
    text: str
    title: str | None = None
    _: KW_ONLY
    url: str | None = None
    pages: tuple[Page, ...] = ()
    sections: tuple[Section, ...] = ()
    part_of: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document, as it is searched and shown.

    `pages` are physical page numbers from 1, `labels` the printed ones beside them; `span` is where its text stands
    in the document's text.
    """

    id: str
    doc: str
    text: str
    _: KW_ONLY
    title: str | None = None
    url: str | None = None
    pages: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    tokens: int | None = None
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """A document, or a part of one, that could not be read: named and counted, while the rest goes on."""

    place: str
    kind: str
    """One word: encrypted, empty, scanned, broken, unreadable, loop, unsupported, duplicate, failed ..."""
    reason: str
    _: KW_ONLY
    remedy: str = ""
    fatal: bool = True
    """Whether the document is missing from the corpus; False where only something about it should be known."""
    count: int = 1
    """How many documents or records this stands for."""

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" + (f" {self.remedy}" if self.remedy else "")


def unread_line(problems: Iterable[Problem], most: int = 12) -> str | None:
    """A text that counts and names what is missing from a corpus; None where nothing is."""
    fatal = list(dict.fromkeys(problem for problem in problems if problem.fatal))
    if not fatal:
        return None
    named = " ".join(f"({number}) {problem}" for number, problem in enumerate(fatal[:most], 1))
    more = f" And {len(fatal) - most:,} more." if len(fatal) > most else ""
    return f"Could not be read or built: {sum(problem.count for problem in fatal):,}. {named}{more}"


class Chunks(Sequence[Chunk]):
    """The chunks that engines rank, by row. Rows ascend by id in byte order: a tie goes to the higher row."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks

    @classmethod
    def ordered(cls, chunks: Sequence[Chunk]) -> Chunks:
        """The chunks in the order of rows."""
        return cls(sorted(chunks, key=lambda chunk: chunk.id.encode("utf-8", "surrogatepass")))

    @overload
    def __getitem__(self, row: int) -> Chunk: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Chunk]: ...
    def __getitem__(self, row: int | slice) -> Chunk | Sequence[Chunk]:
        return self._chunks[row]

    def __len__(self) -> int:
        return len(self._chunks)

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each row."""
        return self.column("id")

    @cached_property
    def texts(self) -> Sequence[str]:
        """The text of each row; those of an index are read when they are asked for."""
        return self.column("text")

    def column(self, field: str) -> list[Any]:
        """What a field (doc, title, url, pages, labels, span ...) of each row holds."""
        return [getattr(chunk, field) for chunk in self]

    def sizes_of(self, docs: Container[str]) -> Counter[str]:
        """How many rows each of some documents has."""
        return Counter(doc for doc in self.column("doc") if doc in docs)

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each id."""
        return {id_: row for row, id_ in enumerate(self.ids)}
