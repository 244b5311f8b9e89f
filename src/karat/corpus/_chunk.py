"""Documents in, chunks out.

A chunk is called `doc#0001`: the document's id and its number in it, from 1, in as many digits as the document needs
and at least four. A document that stays whole, and one that was cut before (`part_of`), keeps its own id. Should a
chunk so be called what some document is called, all chunks of its document get one digit more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from karat.core.docs import Chunk, Chunks, Doc, Page, Problem
from karat.core.errors import InputError, KaratError
from karat.core.text.normalise import clean_all
from karat.corpus._chunker import CUTTINGS, Cutting, Piece, Way
from karat.corpus._file import Progress

_TOGETHER = 500
_LEAST_DIGITS = 4


class Cut(NamedTuple):
    """The chunks of a corpus, and what should be known about how documents were cut."""

    chunks: Chunks
    problems: tuple[Problem, ...]


def cut(
    docs: Iterable[Doc],
    cutting: Cutting | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Cut:
    """The chunks of documents, in the order of their ids.

    The text of a chunk is exactly that of its span, without white space around it; every other character of a
    document is in a chunk. The same documents and setting give the same chunks, in whatever order they come. Two
    documents of one id are an InputError. `progress` is told of 0 documents in all where nobody knows how many.
    """
    cutting = cutting or Cutting()
    way = CUTTINGS.get(cutting.by)
    total = len(docs) if isinstance(docs, Sized) else 0
    made: dict[str, list[Chunk]] = {}
    numbered: set[str] = set()
    problems: list[Problem] = []
    otherwise: list[tuple[str, str]] = []
    every = iter(docs)
    while some := list(islice(every, _TOGETHER)):
        drafts: list[tuple[Doc, bool, list[Piece]]] = []
        for doc in some:
            keeps_id = way.keeps_id or doc.part_of is not None
            if doc.part_of is not None:
                pieces = list(_stripped(doc, [Piece(0, len(doc.text))]))
            else:
                pieces = _checked(doc, way, cutting)
                if reason := way.instead_of(doc):
                    otherwise.append((doc.id, reason))
            drafts.append((doc, keeps_id, pieces))
        _make(drafts, made, numbered, problems)
        progress("cutting", len(made), total)
    if otherwise:
        problems.append(_otherwise(otherwise))
    problems += _renumber(made, numbered)
    return Cut(Chunks.ordered([chunk for chunks in made.values() for chunk in chunks]), tuple(problems))


def _checked(doc: Doc, way: Way, cutting: Cutting) -> list[Piece]:
    """The pieces of a document, without white space around them; that none of its text is lost is made sure."""
    pieces = list(_stripped(doc, way.pieces(doc, cutting.size or 0, cutting.overlap or 0)))
    fault, reached = "", 0
    for piece in (*pieces, Piece(len(doc.text), len(doc.text))):
        if piece.start < 0:
            fault = "went beyond"
            break
        if lost := doc.text[reached : piece.start].strip():
            fault = f"left out {lost[:40]!r} of"
            break
        reached = max(reached, piece.end)
    if way.keeps_id and len(pieces) > 1:
        fault = f"made {len(pieces)} chunks of one id of"
    if fault:
        raise KaratError(
            f"cutting by {way.name} {fault} the document {doc.id}: a fault of that way of cutting. "
            "Choose another, and report it to its author."
        )
    return pieces


def _stripped(doc: Doc, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces without the white space around them; one of nothing else is dropped."""
    for start, end, title in pieces:
        text = doc.text[start:end]
        size = len(text.lstrip())
        if size:
            begin = start + len(text) - size
            yield Piece(begin, begin + len(text.strip()), title)


def _make(
    drafts: Sequence[tuple[Doc, bool, list[Piece]]],
    made: dict[str, list[Chunk]],
    numbered: set[str],
    problems: list[Problem],
) -> None:
    """Chunks of some documents, under the id of each; `numbered` are those whose chunks have numbers."""
    texts = [doc.text[piece.start : piece.end] for doc, _, pieces in drafts for piece in pieces]
    counted = zip(texts, (len(words.split()) for words in clean_all(texts, "words")), strict=True)
    for doc, keeps_id, pieces in drafts:
        if doc.id in made:
            raise InputError("two documents have this id", place=doc.id, remedy="Give each document an id of its own.")
        if not pieces:
            problems.append(Problem(doc.id, "empty", "has no text, so there is no chunk of it."))
        if not keeps_id:
            numbered.add(doc.id)
        paged = _Paged(doc) if doc.pages else None
        ids = [doc.id] if keeps_id else _ids(doc.id, len(pieces))
        chunks = made[doc.id] = []
        for id_, piece in zip(ids, pieces, strict=False):
            text, tokens = next(counted)
            pages, labels = paged.of(piece) if paged else ((), ())
            chunks.append(
                Chunk(
                    id_,
                    doc.id if doc.part_of is None else doc.part_of,
                    text,
                    piece.title or doc.title,
                    doc.url,
                    pages,
                    labels,
                    (piece.start, piece.end) if doc.part_of is None else None,
                    tokens,
                    doc.meta,
                )
            )


class _Paged:
    """The pages of a document, by where they begin."""

    def __init__(self, doc: Doc) -> None:
        self.text = doc.text
        self.pages: list[Page] = sorted(doc.pages, key=lambda page: page.start)
        self.starts = [page.start for page in self.pages]
        self.labelled = any(page.label is not None for page in self.pages)

    def of(self, piece: Piece) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Numbers and labels of the pages of which a piece holds more than white space."""
        first = max(0, bisect_right(self.starts, piece.start) - 1)
        found = []
        for page in self.pages[first : bisect_left(self.starts, piece.end)]:
            shared = self.text[max(page.start, piece.start) : min(page.end, piece.end)]
            if shared and not shared.isspace():
                found.append(page)
        labels = tuple(page.label or "" for page in found) if self.labelled else ()
        return tuple(page.number for page in found), labels if any(labels) else ()


def _ids(doc: str, count: int, more: int = 0) -> list[str]:
    digits = max(_LEAST_DIGITS, len(str(count))) + more
    return [f"{doc}#{number:0{digits}d}" for number in range(1, count + 1)]


def _renumber(made: dict[str, list[Chunk]], numbered: set[str]) -> Iterator[Problem]:
    """Give more digits to chunks that are called what a document is called."""
    heads = {head for doc in made for head, _, tail in [doc.rpartition("#")] if tail.isdecimal() and head in numbered}
    for doc in sorted(heads):
        more, chunks = 0, made[doc]
        while taken := [id_ for id_ in _ids(doc, len(chunks), more) if id_ in made]:
            clash, more = taken[0], more + 1
        if more:
            ids = _ids(doc, len(chunks), more)
            made[doc] = [replace(chunk, id=id_) for chunk, id_ in zip(chunks, ids, strict=True)]
            yield Problem(
                doc,
                "renamed",
                f"its chunks have ids like {ids[0]}, because another document is called {clash}.",
                fatal=False,
            )


def _otherwise(documents: Sequence[tuple[str, str]]) -> Problem:
    """One note for all documents that were cut otherwise than asked for."""
    first, reason = min(documents)
    rest = len(documents) - 1
    if rest:
        reason = f"{reason} So it is with {rest:,} other document{'s' if rest > 1 else ''}."
    return Problem(first, "otherwise", reason, fatal=False)
