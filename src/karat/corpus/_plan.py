"""Plan: a corpus as pieces, each read by itself: files in their order, or lines of one large JSONL file.

Where a piece ends goes by the content there (by a line, or by a file's name and size), within a least and a most size:
what is inserted, changed or removed moves the ends beside it, and the other pieces stay what they are. The digest of a
piece is that of all its documents follow from. A corpus of up to 64 MB is one piece.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from karat.core.docs import Problem, unread_line
from karat.core.errors import InputError, KaratError, UsageError
from karat.core.progress import Progress
from karat.corpus._file import File, LineRange, ReadError, as_read_errors, no_progress
from karat.corpus._parts import CorpusFiles, FilePart, join_parts
from karat.corpus._reader import readable, reader_of
from karat.corpus._records import refuse_unused_map
from karat.corpus._walk import CorpusWalk, ids_of
from karat.corpus.readers.jsonl import READER as JSONL
from karat.corpus.readers.jsonl import is_split
from karat.io.checksum import digest
from karat.io.decoding import printable
from karat.io.fields import DOCUMENT, checked_map
from karat.io.limits import ReadLimits
from karat.io.opening import open_regular, range_pieces

WHOLE_BYTES = 64 << 20
"""A corpus up to this size is one piece: its documents, chunks and terms fit some hundred MB of memory."""
PIECE_BYTES, MOST_PIECES = 8 << 20, 256
"""What a piece of a larger one holds, about: so little that 1% of a million passages are few of its pieces. Of a very
large one it is 2, 4, 8 ... times as much, since each piece costs a little of every search."""

_NAMED = 5  # sources and notes that the error of an empty corpus names
_BLOCK = 4 << 20
_CRCS = 1 << 32

Sources = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, kw_only=True)
class FilePlan:
    """A file of a corpus, or a range of its lines, as it is to be read."""

    path: str
    id: str
    named: bool
    size: int = -1
    changed: int = -1
    """When it was last changed, in nanoseconds; -1: not looked at, as `size`."""
    lines: Sequence[int] | None = None
    """Where its range begins and ends, in bytes, and the row that is first in it."""

    def file(self, columns: Mapping[str, str], progress: Progress, limits: ReadLimits) -> File:
        """It as readers take it."""
        part = None if self.lines is None else LineRange(*self.lines)
        return File(Path(self.path), self.id, printable(self.path), self.named, columns, progress, limits, part=part)

    def check_unchanged(self) -> None:
        """Refuse a file that is another one than was planned."""
        if self.changed != _stamp(self.path)[1] or self.size != _stamp(self.path)[0]:
            raise KaratError(f"{printable(self.path)} was changed while it was indexed. Index again.")


@dataclass(frozen=True)
class FoundFiles:
    """The files that sources hold, what was met on the way, and the columns that were named."""

    sources: Sequence[str | os.PathLike[str]]
    files: Sequence[FilePlan]
    problems: Sequence[Problem]
    columns: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class CorpusPiece:
    """A piece of a corpus: what `read_piece` reads, in plain values; its size; and the digest of what follows from."""

    description: Mapping[str, Any]
    bytes: int
    content: str
    """The digest of its bytes and of all else that its documents follow from, but of the number of its first row."""

    @property
    def digest(self) -> str:
        """The digest of what its documents and notes follow from; their rows may be counted from another first one."""
        again = {name: self.description[name] for name in ("taken", "names", "row") if name in self.description}
        return digest({"content": self.content, **again})

    @property
    def row(self) -> int:
        """The number of its first row; 1 for a piece of whole files."""
        lines = self.description["files"][0]["lines"]
        return 1 if lines is None else int(lines[2])

    def again(self, **known: Any) -> CorpusPiece:
        """The piece as it is to be read once more is known: `taken`, the ids of documents in earlier pieces, each with
        its place and the digest of its text; `names`, ids of documents elsewhere that its chunks must not have;
        `row`, its first row, where ids are made of it.
        """
        return replace(self, description={**self.description, **known})


@dataclass(frozen=True, kw_only=True)
class CorpusPlan:
    """The pieces of a corpus, in the order of its documents."""

    pieces: tuple[CorpusPiece, ...]
    found: FoundFiles

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was met on the way to the files."""
        return tuple(self.found.problems)

    def conclude(self, parts: Sequence[Sequence[FilePart]]) -> CorpusFiles:
        """What the files of the corpus were taken for, and all that is wrong with it: of the parts of each piece.

        A column that no record has is a UsageError, a corpus without a document an InputError.
        """
        together = []
        for piece, of_piece in zip(self.pieces, parts, strict=True):
            together += [part.moved(piece.row) if part.continues else part for part in of_piece]
        return conclude(self.found, join_parts(together))


def plan_corpus(
    sources: Sources,
    *,
    columns: Mapping[str, str] | None = None,
    limits: ReadLimits | None = None,
    follow_links: bool = False,
    progress: Progress = no_progress,
    piece_bytes: int | None = None,
) -> CorpusPlan:
    """The pieces of a corpus. Its bytes are read once, for digests and ends of lines; nothing is parsed.

    The size of the corpus says how large a piece is, unless `piece_bytes` does.
    """
    listing = found_in(sources, columns, follow_links=follow_links)
    limits = limits or ReadLimits()
    shared = {"columns": dict(listing.columns), "limits": asdict(limits)}
    total = len(listing.files)
    pieces: list[CorpusPiece] = []
    stamps = [_stamp(file.path) for file in listing.files]
    if piece_bytes is None:
        piece_bytes = _piece_bytes(sum(size for size, _ in stamps))
    group = _Group(piece_bytes)

    def close() -> None:
        if group.files:
            pieces.append(_piece(group.files, group.digests, shared, group.bytes))
            group.clear()

    for number, (plain, (size, changed)) in enumerate(zip(listing.files, stamps, strict=True)):
        progress("planning", number, total)
        plan = replace(plain, size=size, changed=changed)
        if size > _most(piece_bytes) and _is_split(plan, listing.columns, limits):
            close()
            for lines, content in _line_ranges(plan.path, size, piece_bytes):
                part = replace(plan, lines=(lines.start, lines.end, lines.row))
                pieces.append(_piece([part], [content], shared, lines.end - lines.start))
            continue
        if group.files and group.bytes + size > _most(piece_bytes):
            close()
        group.add(plan, _content(plan.path, size))
        if group.is_full:
            close()
    close()
    progress("planning", total, total)
    return CorpusPlan(pieces=tuple(pieces), found=listing)


def found_in(sources: Sources, columns: Mapping[str, str] | None, *, follow_links: bool) -> FoundFiles:
    """The files of sources in the order in which they are read."""
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not given:
        raise UsageError("no documents were named. Give a file or a folder.")
    mapped = checked_map(columns, DOCUMENT)
    walk = CorpusWalk(follow_links=follow_links)
    for source in given:
        walk.add_source(Path(source))
    walk.count_skipped()
    files = [
        FilePlan(path=str(file.path), id=id_, named=file.named)
        for file, id_ in zip(walk.files, ids_of(walk.files), strict=True)
    ]
    return FoundFiles(given, files, walk.problems, mapped)


def conclude(found: FoundFiles, files: CorpusFiles) -> CorpusFiles:
    """The files with all problems of the corpus; a column that no record has, and a corpus of nothing, are refused."""
    refuse_unused_map(found.columns, files.fields)
    problems = (*found.problems, *files.problems)
    if not files.taken:
        raise _nothing(found.sources, problems)
    return replace(files, problems=problems)


def _nothing(sources: Sequence[str | os.PathLike[str]], problems: Sequence[Problem]) -> InputError:
    """The error of a corpus without documents, which says what was seen instead."""
    place = ", ".join(printable(str(source)) for source in sources[:_NAMED])
    notes = [str(problem) for problem in problems if not problem.fatal][:_NAMED]
    seen = " ".join(filter(None, (unread_line(problems), *notes))) or "It holds no files."
    return InputError("no document could be read", place=place, remedy=f"{seen} Readable: {readable()}.")


def _piece_bytes(total: int) -> int:
    """How large the pieces of a corpus of so many bytes are."""
    if total <= WHOLE_BYTES:
        return 2 * WHOLE_BYTES  # which ends nowhere
    size = PIECE_BYTES
    while size * MOST_PIECES < total:
        size *= 2
    return size


def _least(piece_bytes: int) -> int:
    return piece_bytes * 3 // 4


def _most(piece_bytes: int) -> int:
    return piece_bytes * 3 // 2


def _is_end(content: bytes, size: int, piece_bytes: int) -> bool:
    """Whether a piece that has its least size ends with this line or file: in the mean after a quarter of a piece."""
    return zlib.crc32(content) * (piece_bytes // 4) < size * _CRCS


class _Group:
    """Files that are put together to a piece."""

    def __init__(self, piece_bytes: int) -> None:
        self._piece_bytes = piece_bytes
        self.clear()

    def clear(self) -> None:
        self.files: list[FilePlan] = []
        self.digests: list[str] = []
        self.bytes = 0

    def add(self, file: FilePlan, content: str) -> None:
        self.files.append(file)
        self.digests.append(content)
        self.bytes += file.size

    @property
    def is_full(self) -> bool:
        """Whether the piece ends with the last of them."""
        last = self.files[-1]
        return self.bytes >= _least(self._piece_bytes) and _is_end(
            last.id.encode("utf-8", "surrogatepass"), last.size, self._piece_bytes
        )


def _piece(files: Sequence[FilePlan], digests: Sequence[str], shared: Mapping[str, Any], size: int) -> CorpusPiece:
    names = [[file.path, file.id, file.named, file.lines and file.lines[0] > 0] for file in files]
    content = digest({"files": names, "content": list(digests), **shared})
    return CorpusPiece(description={"files": [asdict(file) for file in files], **shared}, bytes=size, content=content)


def _stamp(path: str) -> tuple[int, int]:
    """Size and time of change of a file; zeros where nobody can tell."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _content(path: str, size: int) -> str:
    """The digest of a file's bytes, or of nothing where it cannot be read: reading it says why."""
    content = hashlib.sha256()
    try:
        for block in range_pieces(path, 0, size, _BLOCK):
            content.update(block)
    except (OSError, InputError):
        return "unreadable"
    return content.hexdigest()


def _is_split(plan: FilePlan, columns: Mapping[str, str], limits: ReadLimits) -> bool:
    """Whether a file is read by ranges of its lines: a JSONL file that is not packed."""
    file = plan.file(columns, no_progress, limits)
    try:
        with as_read_errors():
            return reader_of(file) is JSONL and not file.is_gzip and is_split(file)
    except ReadError:
        return False


def _line_ranges(path: str, size: int, piece_bytes: int) -> Iterator[tuple[LineRange, str]]:
    """The ranges of lines that a file is read by, each with the digest of its bytes."""
    least, most = _least(piece_bytes), _most(piece_bytes)
    start, row = 0, 1
    with open_regular(path) as raw, io.BufferedReader(raw, _BLOCK) as file:
        while start < size:
            content, at, ended = hashlib.sha256(), start, 0
            is_whole = False  # whether a line begins here
            while at - start < least and (block := file.read(min(_BLOCK, start + least - at))):
                content.update(block)
                at += len(block)
                ended += block.count(b"\n")
                is_whole = block.endswith(b"\n")
            lines = []
            while at < size and (line := file.readline(_BLOCK)):
                lines.append(line)
                at += len(line)
                is_last = line.endswith(b"\n")
                ended += is_last
                if is_last and (at - start >= most or (is_whole and _is_end(line, len(line), piece_bytes))):
                    break
                is_whole = is_last
            content.update(b"".join(lines))
            yield LineRange(start, at, row), content.hexdigest()
            if at == start:  # the file was cut short meanwhile
                return
            start, row = at, row + ended
