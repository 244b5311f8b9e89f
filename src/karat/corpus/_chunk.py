"""Chunking: what a chunker is, the setting that names one (`tokens:200:40`), and documents made into chunks by it.

A chunk is called `doc#0001`: the document's id and its number in it, from 1, in as many digits as the document needs
and at least four. A document that stays whole, and one that was chunked before (`part_of`), keeps its own id. Should a
chunk so be called what some document is called, all chunks of its document get one digit more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from karat.core.collection import without_collection
from karat.core.docs import Chunk, Chunks, Doc, Problem
from karat.core.errors import InputError, KaratError, UsageError
from karat.core.progress import Progress
from karat.core.registry import Registry
from karat.core.text.normalise import clean_all
from karat.corpus._file import no_progress

_BATCH = 500  # documents whose words are counted at once
_LEAST_DIGITS = 4


class Piece(NamedTuple):
    """Characters `start` to `end` of a document, under a title of their own or the document's."""

    start: int
    end: int
    title: str | None = None


@dataclass(frozen=True)
class Chunker:
    """A way of chunking: `pieces(doc, size, overlap)` says where the chunks of a document stand.

    Pieces come in the order of the text, and every character that is no white space is in one of them. `unit` is
    what `size` and `overlap` count and `size` the default; a chunker that takes no size has neither. A chunker of which
    `keeps_id` holds makes one piece of a document, and its chunk keeps the document's id. `instead_of(doc)` says why
    a document had to be chunked otherwise than asked for, or None.
    """

    name: str
    summary: str
    pieces: Callable[[Doc, int, int], Iterable[Piece]]
    unit: str | None = None
    size: int | None = None
    keeps_id: bool = False
    instead_of: Callable[[Doc], str | None] = lambda doc: None


Way = Chunker  # its name in 0.3, which plug-ins import


def _find(source: Any) -> Chunker | None:
    """The chunker of a module (`way` in the plug-ins of 0.3), or the object itself."""
    entry = getattr(source, "CHUNKER", getattr(source, "way", source))
    return entry if isinstance(entry, Chunker) else None


CHUNKERS: Registry[Chunker] = Registry("chunker", ("karat.corpus.chunkers",), "karat.cuttings", _find)


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are chunked: by which chunker, how much a chunk holds, and how much of it the next one repeats.

    Without a size the chunker's default is taken, without an overlap a fifth of the size; both stay None for a chunker
    that takes none.
    """

    by: str = "tokens"
    size: int | None = None
    overlap: int | None = None

    def __post_init__(self) -> None:
        chunker = CHUNKERS.get(self.by)
        object.__setattr__(self, "by", chunker.name)
        if chunker.size is None:
            if self.size is not None or self.overlap is not None:
                raise UsageError(f"chunking by {chunker.name} takes no size. Write {chunker.name!r} alone.")
            return
        size = chunker.size if self.size is None else self.size
        if not _is_count(size) or size < 1:
            raise UsageError(
                f"the size of chunking by {chunker.name} is {size!r}. Give a whole number of {chunker.unit} from 1."
            )
        overlap = size // 5 if self.overlap is None else self.overlap
        if not _is_count(overlap) or not 0 <= overlap < size:
            raise UsageError(
                f"the overlap of chunking by {chunker.name} is {overlap!r}. "
                f"Give a whole number of {chunker.unit} from 0, less than the size ({size})."
            )
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "overlap", overlap)

    @classmethod
    def parse(cls, text: str) -> Chunking:
        """From `tokens:200:40`, `sentences:5:1`, `section:400`, `page` or `whole`.

        >>> Chunking.parse("sentences:5").text, Chunking.parse("tokens").text
        ('sentences:5:1', 'tokens:200:40')
        """
        by, *numbers = (part.strip() for part in text.split(":"))
        if len(numbers) > 2:
            raise UsageError(f"{text!r} is no chunking: after the name stand a size and an overlap, no more.")
        for number in numbers:
            if not (number.isascii() and number.isdigit()) or len(number) > 12:
                raise UsageError(f"{number!r} in {text!r} is no whole number. Write it like 'tokens:200:40'.")
        return cls(by, *map(int, numbers))

    @property
    def text(self) -> str:
        """The setting in full, as `parse` takes it."""
        return ":".join(str(part) for part in (self.by, self.size, self.overlap) if part is not None)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class ChunkNotes:
    """What should be known about how documents were chunked. Those of pieces of a corpus are added up."""

    empty: tuple[Problem, ...] = ()
    """Documents without text."""
    substituted: tuple[int, str, str] | None = None
    """How many documents were chunked otherwise than asked for, and the first of them with the reason."""
    renamed: tuple[Problem, ...] = ()
    """Documents whose chunks have more digits than usual, by their ids."""

    def __add__(self, other: ChunkNotes) -> ChunkNotes:
        both = [notes.substituted for notes in (self, other) if notes.substituted is not None]
        first = min(((id_, reason) for _, id_, reason in both), default=None)
        return ChunkNotes(
            empty=self.empty + other.empty,
            substituted=None if first is None else (sum(count for count, *_ in both), *first),
            renamed=tuple(sorted((*self.renamed, *other.renamed), key=lambda problem: problem.place)),
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Them as problems, none of which keeps a document from being searched but that it is empty."""
        return (*self.empty, *self._substitution(), *self.renamed)

    def _substitution(self) -> Iterator[Problem]:
        """One note for all documents that were chunked otherwise than asked for."""
        if self.substituted is not None:
            count, first, reason = self.substituted
            if count > 1:
                reason = f"{reason} So it is with {count - 1:,} other document{'s' if count > 2 else ''}."
            yield Problem(first, "otherwise", reason, fatal=False)


class Chunked(NamedTuple):
    """The chunks of a corpus, and what should be known about how documents were chunked."""

    chunks: Chunks
    notes: ChunkNotes


@without_collection
def chunk_docs(
    docs: Iterable[Doc],
    chunking: Chunking | None = None,
    progress: Progress = no_progress,
    *,
    names: Collection[str] = (),
) -> Chunked:
    """The chunks of documents, in the order of their ids.

    The text of a chunk is exactly that of its span, without white space around it; every other character of a
    document is in a chunk. The same documents and setting give the same chunks, in whatever order they come. Two
    documents of one id are an InputError. `progress` is told of 0 documents in all where nobody knows how many.
    `names` are ids of documents elsewhere in the corpus, which no chunk may have.
    """
    chunking = chunking or Chunking()
    chunker = CHUNKERS.get(chunking.by)
    total = len(docs) if isinstance(docs, Sized) else 0
    by_doc: dict[str, list[Chunk]] = {}
    numbered: set[str] = set()  # documents whose chunks have numbers
    empty: list[Problem] = []
    substituted: list[tuple[str, str]] = []
    remaining = iter(docs)
    while batch := list(islice(remaining, _BATCH)):
        drafts = [(doc, _pieces(doc, chunker, chunking)) for doc in batch]
        texts = [doc.text[piece.start : piece.end] for doc, pieces in drafts for piece in pieces]
        counted = zip(texts, map(len, map(bytes.split, clean_all(texts, "words"))), strict=True)
        for doc, pieces in drafts:
            if doc.id in by_doc:
                raise InputError(
                    "two documents have this id", place=doc.id, remedy="Give each document an id of its own."
                )
            if not pieces:
                empty.append(Problem(doc.id, "empty", "has no text, so there is no chunk of it."))
            if doc.part_of is None and (reason := chunker.instead_of(doc)):
                substituted.append((doc.id, reason))
            if doc.part_of is None and not chunker.keeps_id:
                numbered.add(doc.id)
            ids = chunk_ids(doc.id, len(pieces)) if doc.id in numbered else [doc.id] * len(pieces)
            by_doc[doc.id] = _chunks(doc, ids, pieces, counted)
        progress("chunking", len(by_doc), total)
    notes = ChunkNotes(
        empty=tuple(empty),
        substituted=(len(substituted), *min(substituted)) if substituted else None,
        renamed=tuple(_renumber(by_doc, numbered, names)),
    )
    chunks = Chunks.ordered([chunk for chunks in by_doc.values() for chunk in chunks])
    return Chunked(chunks, notes)


def _pieces(doc: Doc, chunker: Chunker, chunking: Chunking) -> list[Piece]:
    """The pieces of a document, without white space around them; that none of its text is lost is made sure."""
    if doc.part_of is not None:
        return list(_stripped(doc, [Piece(0, len(doc.text))]))
    pieces = list(_stripped(doc, chunker.pieces(doc, chunking.size or 0, chunking.overlap or 0)))
    if len(pieces) == 1 and pieces[0][:2] == (0, len(doc.text)):
        return pieces
    fault, reached = "", 0
    for piece in (*pieces, Piece(len(doc.text), len(doc.text))):
        if piece.start < 0:
            fault = "went beyond"
            break
        if lost := doc.text[reached : piece.start].strip():
            fault = f"left out {lost[:40]!r} of"
            break
        reached = max(reached, piece.end)
    if chunker.keeps_id and len(pieces) > 1:
        fault = f"made {len(pieces)} chunks of one id of"
    if fault:
        raise KaratError(
            f"chunking by {chunker.name} {fault} the document {doc.id}: a fault of that chunker. "
            "Choose another, and report it to its author."
        )
    return pieces


def _stripped(doc: Doc, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces without the white space around them; one of nothing else is dropped."""
    for piece in pieces:
        start, end, title = piece
        text = doc.text[start:end]
        left, right = len(text.lstrip()), len(text.rstrip())
        if not left:
            continue
        if left == right == end - start:
            yield piece
        else:
            yield Piece(start + len(text) - left, start + right, title)


def _chunks(doc: Doc, ids: Sequence[str], pieces: Sequence[Piece], counted: Iterator[tuple[str, int]]) -> list[Chunk]:
    """The chunks of a document; `counted` gives the text of each piece and its number of words."""
    pages_of = _pages_of(doc) if doc.pages else _no_pages
    of, chunks = doc.part_of, []
    for id_, piece in zip(ids, pieces, strict=True):
        (start, end, title), (text, tokens), (pages, labels) = piece, next(counted), pages_of(piece)
        chunks.append(
            Chunk(
                id_,
                doc.id if of is None else of,
                text,
                title=title or doc.title,
                url=doc.url,
                pages=pages,
                labels=labels,
                span=(start, end) if of is None else None,
                tokens=tokens,
                meta=doc.meta,
            )
        )
    return chunks


def _no_pages(piece: Piece) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Numbers and labels of the pages of a document that has none."""
    return (), ()


def _pages_of(doc: Doc) -> Callable[[Piece], tuple[tuple[int, ...], tuple[str, ...]]]:
    """What gives numbers and labels of the pages of which a piece holds more than white space."""
    pages = sorted(doc.pages, key=lambda page: page.start)
    starts = [page.start for page in pages]

    def pages_of(piece: Piece) -> tuple[tuple[int, ...], tuple[str, ...]]:
        first = max(0, bisect_right(starts, piece.start) - 1)
        held = [
            page
            for page in pages[first : bisect_left(starts, piece.end)]
            if doc.text[max(page.start, piece.start) : min(page.end, piece.end)].strip()
        ]
        labels = tuple(page.label or "" for page in held)
        return tuple(page.number for page in held), labels if any(labels) else ()

    return pages_of


def chunk_ids(doc: str, count: int, more: int = 0) -> list[str]:
    """The ids of the chunks of a document, of so many digits more than it needs."""
    digits = max(_LEAST_DIGITS, len(str(count))) + more
    return [f"{doc}#{number:0{digits}d}" for number in range(1, count + 1)]


def numbered_as(doc: str) -> str | None:
    """The document of which a chunk may be called what this document is called."""
    head, _, tail = doc.rpartition("#")
    return head if tail.isdecimal() else None


def _renumber(by_doc: dict[str, list[Chunk]], numbered: set[str], names: Collection[str]) -> Iterator[Problem]:
    """Give more digits to chunks that are called what a document is called."""
    taken = by_doc.keys() | set(names) if names else by_doc.keys()
    heads = {head for doc in taken if (head := numbered_as(doc)) in numbered}
    for doc in sorted(heads):
        more, chunks = 0, by_doc[doc]
        while clashing := [id_ for id_ in chunk_ids(doc, len(chunks), more) if id_ in taken]:
            clash, more = clashing[0], more + 1
        if more:
            ids = chunk_ids(doc, len(chunks), more)
            by_doc[doc] = [replace(chunk, id=id_) for chunk, id_ in zip(chunks, ids, strict=True)]
            reason = f"its chunks have ids like {ids[0]}, because another document is called {clash}."
            yield Problem(doc, "renamed", reason, fatal=False)
