"""Read: files and folders in; documents, and all that could not be read, out."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from karat.core.docs import Doc, Problem, unread_line
from karat.core.errors import InputError, UsageError
from karat.corpus._file import File, Progress, ReadError, as_read_errors, no_progress
from karat.corpus._process import ReaderProcess
from karat.corpus._reader import Reader, content_of, readable, reader_of, unforeseen
from karat.corpus._records import refuse_unused_map
from karat.corpus._walk import CorpusWalk, ids_of
from karat.io.decoding import printable
from karat.io.fields import DOCUMENT, checked_map
from karat.io.limits import ReadLimits
from karat.io.opening import HEAD

_AHEAD = 8  # files that are opened before the first of them is read
_NAMED = 5  # sources and notes that the error of an empty corpus names


@dataclass(frozen=True)
class ReadFile:
    """What one file was taken for, and how many documents and pages it held."""

    place: str
    format: str
    docs: int
    pages: int


@dataclass(frozen=True)
class CorpusReading:
    """Documents in the order they were read, what each file was taken for, and what could not be read."""

    docs: tuple[Doc, ...]
    problems: tuple[Problem, ...]
    taken: tuple[ReadFile, ...]


def read(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
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
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not given:
        raise UsageError("no documents were named. Give a file or a folder.")
    mapped = checked_map(columns, DOCUMENT)
    limits = limits or ReadLimits()
    walk = CorpusWalk(follow_links=follow_links)
    for source in given:
        walk.add_source(Path(source))
    walk.count_skipped()
    corpus = _Corpus(walk.problems)
    fields: dict[str, None] = {}
    total = len(walk.files)
    files = (
        File(found.path, id_, printable(str(found.path)), found.named, mapped, progress, limits)
        for found, id_ in zip(walk.files, ids_of(walk.files), strict=True)
    )
    with ReaderProcess(limits, mapped) as process:
        for number, (file, reader, fault) in enumerate(_with_readers(files, process)):
            progress("reading", number, total)
            docs: list[Doc] = []
            if reader is not None:
                docs, fault = content_of(file, reader) if _is_plain(file, reader) else process.receive()
            corpus.take(file, reader, docs, fault)
            fields |= dict.fromkeys(sorted(file.fields))
    progress("reading", total, total)
    refuse_unused_map(mapped, fields)
    if not corpus.taken:
        raise _nothing(given, corpus.problems)
    return CorpusReading(tuple(corpus.docs), tuple(corpus.problems), tuple(corpus.taken))


def _with_readers(
    files: Iterable[File], process: ReaderProcess
) -> Iterator[tuple[File, Reader | None, ReadError | None]]:
    """Files in their order, each with its reader, or why it has none; some are asked of the process in advance."""
    ahead: deque[tuple[File, Reader | None, ReadError | None]] = deque()
    for file in files:
        reader, fault = None, None
        try:
            with as_read_errors():
                reader = reader_of(file)
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


def _is_plain(file: File, reader: Reader) -> bool:
    """Whether a file is read in this process. Its head says how long it is, if it is short and not packed."""
    return reader.in_place_below == math.inf or len(file.head) < min(reader.in_place_below, HEAD)


class _Corpus:
    """Documents as they come in, one of each id."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        self.taken: list[ReadFile] = []
        self._by_id: dict[str, tuple[Doc, str]] = {}  # each with the file it is from

    @property
    def docs(self) -> Iterator[Doc]:
        """All of them, in the order they came."""
        return (doc for doc, _ in self._by_id.values())

    def take(self, file: File, reader: Reader | None, docs: Sequence[Doc], fault: ReadError | None) -> None:
        """All documents of a file; whatever went wrong becomes a Problem."""
        added = [doc for doc in docs if self._add(doc, file)]
        if fault is not None:
            rest = f" {len(added):,} documents before that are kept." if added else ""
            file.problem(fault.kind, fault.reason + rest, fault.remedy, fatal=fault.fatal)
        if not added and not file.problems:
            file.problem("empty", "holds no records.", "Leave it out, or restore it.", fatal=True)
        file.sum_up()
        self.problems += file.problems
        if reader is not None and added:
            pages = sum(len(doc.pages) for doc in added)
            self.taken.append(ReadFile(file.place, reader.name, len(added), pages))

    def _add(self, doc: Doc, file: File) -> bool:
        """Whether a document is added: its id may be taken, by the same text or by another."""
        earlier, place = self._by_id.setdefault(doc.id, (doc, file.place))
        if earlier is doc:
            return True
        if earlier.text == doc.text:
            reason = f"the document {doc.id!r} is also in {place}, with the same text; kept once."
            file.row_problem(None, "duplicate", reason, fatal=False)
        else:
            reason = f"the id {doc.id!r} is taken by another text, in {place}; this one is left out."
            file.row_problem(None, "clash", reason, "Give each its own id.")
        return False


def _nothing(sources: Sequence[str | os.PathLike[str]], problems: Sequence[Problem]) -> InputError:
    """The error of a corpus without documents, which says what was seen instead."""
    place = ", ".join(printable(str(source)) for source in sources[:_NAMED])
    notes = [str(problem) for problem in problems if not problem.fatal][:_NAMED]
    seen = " ".join(filter(None, (unread_line(problems), *notes))) or "It holds no files."
    return InputError("no document could be read", place=place, remedy=f"{seen} Readable: {readable()}.")
