"""Facts: what is known of a corpus beside its chunks, a piece at a time, added up; and which pieces to read again."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from karat.core.docs import Chunks, Problem
from karat.core.text.boilerplate import navigation
from karat.core.text.words import plural
from karat.corpus._chunk import Chunked, ChunkNotes, numbered_as
from karat.corpus._parts import FilePart
from karat.corpus._plan import CorpusPiece
from karat.corpus._read import PieceReading, text_digest
from karat.corpus.tables import Docs, load_docs
from karat.io.writing import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class PieceFacts:
    """What is known of a piece, or, added up, of several in their order."""

    parts: tuple[tuple[FilePart, ...], ...] = ()
    """What was read of each file, for each piece."""
    docs: int = 0
    pages: int = 0
    chunks: int = 0
    tokens: int = 0
    notes: ChunkNotes = field(default_factory=ChunkNotes)
    boilerplate: Mapping[str, Mapping[str, tuple[int, str]]] = field(default_factory=dict)
    """By document and kind of boilerplate how many chunks are such, and the first of their ids."""

    @classmethod
    def of(cls, reading: PieceReading, chunked: Chunked) -> Self:
        """Those of one piece. Its rows are counted from 1, unless ids follow them: the same wherever it stands."""
        kinds: dict[str, dict[str, tuple[int, str]]] = {}
        for chunk in chunked.chunks:
            if kind := navigation(chunk.text):
                of_doc = kinds.setdefault(chunk.doc, {})
                count, first = of_doc.get(kind, (0, chunk.id))
                of_doc[kind] = count + 1, first
        return cls(
            parts=(tuple(part if part.by_row else part.moved(1) for part in reading.parts),),
            docs=len(reading.docs),
            pages=sum(len(doc.pages) for doc in reading.docs),
            chunks=len(chunked.chunks),
            tokens=sum(chunk.tokens or 0 for chunk in chunked.chunks),
            notes=chunked.notes,
            boilerplate=kinds,
        )

    def __add__(self, other: PieceFacts) -> PieceFacts:
        kinds = {doc: dict(of_doc) for doc, of_doc in self.boilerplate.items()}
        for doc, of_doc in other.boilerplate.items():
            mine = kinds.setdefault(doc, {})
            for kind, (count, first) in of_doc.items():
                earlier, one = mine.get(kind, (0, first))
                mine[kind] = earlier + count, min(one, first, key=_key)
        return PieceFacts(
            parts=self.parts + other.parts,
            docs=self.docs + other.docs,
            pages=self.pages + other.pages,
            chunks=self.chunks + other.chunks,
            tokens=self.tokens + other.tokens,
            notes=self.notes + other.notes,
            boilerplate=kinds,
        )

    def save(self, path: Path) -> None:
        """Write them as JSON."""
        write_whole(path, json.dumps(asdict(self)) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        """What `save` wrote."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        notes = plain.pop("notes")
        problems = {name: tuple(Problem(**one) for one in notes[name]) for name in ("empty", "renamed")}
        substituted = notes["substituted"] and tuple(notes["substituted"])
        return cls(
            parts=tuple(tuple(FilePart(**part) for part in parts) for parts in plain.pop("parts")),
            notes=ChunkNotes(substituted=substituted, **problems),
            **plain,
        )

    def boilerplate_problems(self, chunks: Chunks) -> Iterator[Problem]:
        """For each document how many of its chunks look like navigation, contents or an index, which answer nothing."""
        if not self.boilerplate:
            return
        sizes = chunks.sizes_of(self.boilerplate)
        remedy = "They hold the words of many questions and answer none: leave such pages out of the documents."
        for doc, kinds in sorted(
            self.boilerplate.items(), key=lambda one: min(_key(id_) for _, id_ in one[1].values())
        ):
            ordered = sorted(kinds.items(), key=lambda one: (-one[1][0], _key(one[1][1])))
            listed = ", ".join(f"{kind} ({count:,})" for kind, (count, _) in ordered)
            total = sum(count for count, _ in kinds.values())
            verb = "looks" if total == 1 else "look"
            reason = f"{total:,} of {plural(sizes[doc], 'chunk')} {verb} like boilerplate: {listed}."
            yield Problem(doc, "boilerplate", reason, remedy=remedy, fatal=False)


def _key(id_: str) -> bytes:
    return id_.encode("utf-8", "surrogatepass")


def pieces_again(
    pieces: Sequence[CorpusPiece], facts: Sequence[PieceFacts], folders: Sequence[Path]
) -> dict[int, CorpusPiece]:
    """The pieces, by number, that have to be read once more, with what has become known from others.

    `facts` are those of each piece, `folders` hold its documents. A document whose id is taken by one of an earlier
    piece is left out; a chunk must not be called what a document of another piece is called; and ids that are made of
    the numbers of rows follow these.
    """
    known: dict[int, dict[str, Any]] = {}
    for number, (piece, its) in enumerate(zip(pieces, facts, strict=True)):
        first = its.parts[0][0]
        if first.continues and first.by_row and first.row != piece.row:
            known.setdefault(number, {})["row"] = piece.row
    if len(pieces) > 1:
        docs = _PieceDocs(folders, facts)
        for number, taken in docs.taken().items():
            known.setdefault(number, {})["taken"] = taken
        for number, names in docs.names().items():
            known.setdefault(number, {})["names"] = names
    return {number: pieces[number].again(**more) for number, more in sorted(known.items())}


class _PieceDocs:
    """The documents of all pieces, compared by hashes of their ids."""

    def __init__(self, folders: Sequence[Path], facts: Sequence[PieceFacts]) -> None:
        self._docs: list[Docs] = [load_docs(folder) for folder in folders]
        self._facts = facts
        self._starts = np.cumsum([0, *map(len, self._docs)])
        ids = chain.from_iterable(docs.ids for docs in self._docs)
        self._hashes: NDArray[np.int64] = np.fromiter(map(hash, ids), np.int64, int(self._starts[-1]))

    def taken(self) -> dict[int, dict[str, tuple[str, str]]]:
        """By piece, the ids that documents of earlier pieces have: with their places and the digests of their texts."""
        ordered = np.sort(self._hashes)
        first: dict[str, tuple[int, int]] = {}
        taken: dict[int, dict[str, tuple[str, str]]] = {}
        for piece, row, id_ in self._with_hash(ordered[1:][ordered[1:] == ordered[:-1]]):
            holder, its_row = first.setdefault(id_, (piece, row))
            if holder != piece:
                text = self._docs[holder][its_row].text
                taken.setdefault(piece, {})[id_] = self._file_of(holder, its_row), text_digest(text)
        return taken

    def names(self) -> dict[int, list[str]]:
        """By piece, the ids of documents of other pieces that one of its chunks might be called."""
        called: dict[str, list[tuple[int, str]]] = {}  # by the document of that chunk: their pieces and ids
        for piece, docs in enumerate(self._docs):
            for id_ in docs.ids:
                if "#" in id_ and (head := numbered_as(id_)) is not None:
                    called.setdefault(head, []).append((piece, id_))
        names: dict[int, set[str]] = {}
        for piece, _, head in self._with_hash(np.fromiter(map(hash, called), np.int64, len(called))):
            for other, id_ in called.get(head, ()):
                if other != piece:
                    names.setdefault(piece, set()).add(id_)
        return {piece: sorted(ids) for piece, ids in names.items()}

    def _with_hash(self, hashes: NDArray[np.int64]) -> Iterator[tuple[int, int, str]]:
        """Piece, row and id of each document whose id has one of these hashes."""
        for number in np.flatnonzero(np.isin(self._hashes, hashes)).tolist() if len(hashes) else ():
            piece = int(np.searchsorted(self._starts, number, "right")) - 1
            row = number - int(self._starts[piece])
            yield piece, row, self._docs[piece].id_at(row)

    def _file_of(self, piece: int, row: int) -> str:
        """The place of the file that a document of a piece is from."""
        parts = self._facts[piece].parts[0]
        return parts[bisect_right(list(accumulate(part.docs for part in parts)), row)].place
