"""Read: files and folders in; documents, and all that could not be read, out. At once, or piece by piece as planned."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.core.collection import without_collection
from karat.core.docs import Doc, Problem
from karat.core.progress import Progress
from karat.corpus._file import File, ReadError, as_read_errors, no_progress
from karat.corpus._parts import FilePart, ReadFile, join_parts
from karat.corpus._plan import FilePlan, Sources, conclude, found_in
from karat.corpus._process import ReaderProcess
from karat.corpus._reader import READERS, Reader, content_of, reader_of, unforeseen
from karat.io.limits import ReadLimits
from karat.io.opening import HEAD

_AHEAD = 8  # files that are opened before the first of them is read


@dataclass(frozen=True)
class CorpusReading:
    """Documents in the order they were read, what each file was taken for, and what could not be read."""

    docs: tuple[Doc, ...]
    problems: tuple[Problem, ...]
    taken: tuple[ReadFile, ...]


@dataclass(frozen=True)
class PieceReading:
    """The documents of a piece of a corpus, in their order, and what was read of each file."""

    docs: tuple[Doc, ...]
    parts: tuple[FilePart, ...]


def read(
    sources: Sources,
    *,
    progress: Progress = no_progress,
    columns: Mapping[str, str] | None = None,
    limits: ReadLimits | None = None,
    follow_links: bool = False,
) -> CorpusReading:
    """Read documents from files and folders, whatever their formats.

    A file that cannot be read becomes a Problem and the rest goes on; only a source that does not exist, or a corpus
    without any document, is an error. Files are read in the order of the bytes of their paths. `columns` says which
    field (id, text, title, url, page ...) an unusual column of records is. `limits` is what one file may take. Links
    that lead out of a folder are left out and named, unless they are to be followed.
    """
    listing = found_in(sources, columns, follow_links=follow_links)
    reading = _read_files(listing.files, listing.columns, limits or ReadLimits(), {}, progress)
    files = conclude(listing, join_parts(reading.parts))
    return CorpusReading(reading.docs, files.problems, files.taken)


def read_piece(description: Mapping[str, Any], *, progress: Progress = no_progress) -> PieceReading:
    """The documents of one piece of a corpus, as `CorpusPiece.description` says.

    Its files must be as they were when the corpus was planned.
    """
    files = [FilePlan(**plain) for plain in description["files"]]
    for file in files:
        file.check_unchanged()
    limits = ReadLimits(**description["limits"])
    reading = _read_files(files, description["columns"], limits, description.get("taken", {}), progress)
    for file in files:
        file.check_unchanged()
    return reading


def text_digest(text: str) -> str:
    """What tells the text of a document whose id is taken from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@without_collection
def _read_files(
    plans: Sequence[FilePlan],
    columns: Mapping[str, str],
    limits: ReadLimits,
    taken: Mapping[str, Sequence[str]],
    progress: Progress,
) -> PieceReading:
    """The documents of files, none of an id that is taken: by a document of this place, whose text has this digest."""
    docs, parts = _DocsById(taken), []
    files = (plan.file(columns, progress, limits) for plan in plans)
    with ReaderProcess(limits, columns) as process:
        for number, (file, reader, fault) in enumerate(_with_readers(files, process)):
            progress("reading", number, len(plans))
            held: list[Doc] = []
            if reader is not None:
                held, fault = content_of(file, reader) if _is_plain(file, reader) else process.receive()
            added = [doc for doc in held if docs.add(doc, file)]
            parts.append(
                FilePart(
                    place=file.place,
                    reader=None if reader is None else reader.name,
                    read=len(held),
                    docs=len(added),
                    pages=sum(len(doc.pages) for doc in added),
                    notes=file.notes(),
                    fault=None if fault is None else vars(fault),
                    row=file.part.row if file.part else 1,
                    continues=_continues(file),
                )
            )
    progress("reading", len(plans), len(plans))
    return PieceReading(tuple(docs), tuple(parts))


def _with_readers(
    files: Iterable[File], process: ReaderProcess
) -> Iterator[tuple[File, Reader | None, ReadError | None]]:
    """Files in their order, each with its reader, or why it has none; some are asked of the process in advance."""
    ahead: deque[tuple[File, Reader | None, ReadError | None]] = deque()
    for file in files:
        reader, fault = None, None
        try:
            with as_read_errors():
                reader = READERS.get("jsonl") if _continues(file) else reader_of(file)
                if not _is_plain(file, reader):
                    process.request(file, reader)
        except ReadError as unreadable:
            reader, fault = None, unreadable
        except Exception as error:
            reader, fault = None, unforeseen(error)
        ahead.append((file, reader, fault))
        while ahead and (process.is_busy or len(ahead) > _AHEAD):
            yield ahead.popleft()
    yield from ahead


def _continues(file: File) -> bool:
    """Whether a range of lines goes on with a file, whose reader was chosen with the first."""
    return file.part is not None and file.part.start > 0


def _is_plain(file: File, reader: Reader) -> bool:
    """Whether a file is read in this process. Its head says how long it is, if it is short and not packed."""
    return reader.in_place_below == math.inf or len(file.head) < min(reader.in_place_below, HEAD)


class _DocsById:
    """Documents as they come in, one of each id."""

    def __init__(self, taken: Mapping[str, Sequence[str]]) -> None:
        self._taken = taken  # ids of documents elsewhere: where, and the digest of the text
        self._by_id: dict[str, tuple[Doc, str]] = {}  # each with the file it is from

    def __iter__(self) -> Iterator[Doc]:
        return (doc for doc, _ in self._by_id.values())

    def add(self, doc: Doc, file: File) -> bool:
        """Whether a document is added: its id may be taken, by the same text or by another."""
        if doc.id in self._taken:
            place, digest = self._taken[doc.id]
            is_same = digest == text_digest(doc.text)
        else:
            earlier, place = self._by_id.setdefault(doc.id, (doc, file.place))
            if earlier is doc:
                return True
            is_same = earlier.text == doc.text
        if is_same:
            reason = f"the document {doc.id!r} is also in {place}, with the same text; kept once."
            file.row_problem(None, "duplicate", reason, fatal=False)
        else:
            reason = f"the id {doc.id!r} is taken by another text, in {place}; this one is left out."
            file.row_problem(None, "clash", reason, "Give each its own id.")
        return False
