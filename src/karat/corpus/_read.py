"""Read: files and folders in; documents, and all that could not be read, out."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from karat.core.docs import Doc, Problem
from karat.core.errors import InputError, UsageError
from karat.corpus._file import HEAD, File, Progress, ReadError, silent
from karat.corpus._process import ReaderProcess
from karat.corpus._reader import Reader, content_of, readable, reader_of, unforeseen
from karat.corpus._records import check_used, checked
from karat.corpus._walk import Walk, ids_of
from karat.io.decoding import printable
from karat.io.limits import ReadLimits

_AHEAD = 64  # files that are opened before the first of them is read
_NAMED = 5  # places of each kind that the error of an empty corpus names


@dataclass(frozen=True)
class TakenFile:
    """What one file was taken for, and how many documents and pages it held."""

    place: str
    format: str
    docs: int
    pages: int


@dataclass(frozen=True)
class Reading:
    """Documents in the order they were read, what each file was taken for, and what could not be read."""

    docs: tuple[Doc, ...]
    problems: tuple[Problem, ...]
    taken: tuple[TakenFile, ...]


def read(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    progress: Progress = silent,
    columns: Mapping[str, str] | None = None,
    limits: ReadLimits | None = None,
    follow_links: bool = False,
) -> Reading:
    """Read documents from files and folders, whatever their formats.

    A file that cannot be read becomes a Problem and the rest goes on; only a source that does not exist, or a corpus
    without any document, is an error. Files are read in the order of the bytes of their paths. `columns` says which
    field (id, text, title, url, page ...) an unusual column of records is. `limits` is what one file may take. Links
    that lead out of a folder are left out and named, unless they are to be followed.
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not given:
        raise UsageError("no documents were named. Give a file or a folder.")
    mapped = checked(columns)
    walk = Walk(follow_links=follow_links)
    for source in given:
        walk.add(Path(source))
    walk.finish()
    shelf = _Shelf(walk.problems)
    fields: dict[str, None] = {}
    limits = limits or ReadLimits()
    files = (
        File(found.path, id_, printable(str(found.path)), found.folder is None, mapped, progress, limits)
        for found, id_ in zip(walk.files, ids_of(walk.files), strict=True)
        if shelf.is_new(found.path)
    )
    with ReaderProcess(limits, mapped) as process:
        for number, (file, reader, fault) in enumerate(_asked_ahead(files, process)):
            progress("reading", number, len(walk.files))
            docs: list[Doc] = []
            if reader is not None:
                docs, fault = content_of(file, reader) if _is_plain(file, reader) else process.receive(file)
            shelf.take(file, reader, docs, fault)
            fields |= dict.fromkeys(sorted(file.fields))
    progress("reading", len(walk.files), len(walk.files))
    check_used(mapped, fields)
    if not shelf.docs:
        raise _nothing(given, shelf.problems)
    return Reading(tuple(shelf.docs), tuple(shelf.problems), tuple(shelf.taken))


def _asked_ahead(
    files: Iterable[File], process: ReaderProcess
) -> Iterator[tuple[File, Reader | None, ReadError | None]]:
    """Files in their order, each with its reader, or why it has none; those to come are asked for in advance."""
    waiting: deque[tuple[File, Reader | None, ReadError | None]] = deque()
    for file in files:
        reader, fault = None, None
        try:
            reader = reader_of(file)
        except ReadError as unreadable:
            fault = unreadable
        except Exception as error:
            fault = unforeseen(error)
        if reader is not None and not _is_plain(file, reader):
            process.request(file, reader)
        waiting.append((file, reader, fault))
        while waiting and (process.is_busy or len(waiting) > _AHEAD):
            yield waiting.popleft()
    yield from waiting


def _is_plain(file: File, reader: Reader) -> bool:
    """Whether a file is read in this process. Its head says how long it is, if it is short and not packed."""
    return reader.plain == math.inf or len(file.head) < min(reader.plain, HEAD)


class _Shelf:
    """Documents as they come in, one of each id."""

    def __init__(self, problems: list[Problem]) -> None:
        self.docs: list[Doc] = []
        self.problems = list(problems)
        self.taken: list[TakenFile] = []
        self._rows: dict[str, int] = {}
        self._ends: list[int] = []  # where the documents of each file end
        self._places: list[str] = []
        self._paths: set[str] = set()

    def is_new(self, path: Path) -> bool:
        """Whether this path was not read yet; a file given twice is said."""
        real = os.path.abspath(path)
        if real in self._paths:
            reason = "is given twice; read once."
            self.problems.append(Problem(printable(str(path)), "duplicate", reason, fatal=False))
            return False
        self._paths.add(real)
        return True

    def take(self, file: File, reader: Reader | None, docs: Sequence[Doc], fault: ReadError | None) -> None:
        """All documents of a file; whatever went wrong becomes a Problem."""
        before = len(self.docs)
        for doc in docs:
            self._add(doc, file)
        if fault is not None:
            file.problem(fault.kind, self._kept(fault.reason, before), fault.remedy, fatal=fault.fatal)
        if len(self.docs) == before and not file.problems:
            file.problem("empty", "holds no records.", "Leave it out, or restore it.", fatal=True)
        file.sum_up()
        self.problems += file.problems
        if reader is not None and len(self.docs) > before:
            pages = sum(len(doc.pages) for doc in self.docs[before:])
            self.taken.append(TakenFile(file.place, reader.name, len(self.docs) - before, pages))
        self._ends.append(len(self.docs))
        self._places.append(file.place)

    def _kept(self, reason: str, before: int) -> str:
        count = len(self.docs) - before
        return reason if not count else f"{reason} {count:,} documents before that are kept."

    def _add(self, doc: Doc, file: File) -> None:
        row = self._rows.get(doc.id)
        if row is None:
            self._rows[doc.id] = len(self.docs)
            self.docs.append(doc)
            return
        earlier = bisect_right(self._ends, row)
        first = self._places[earlier] if earlier < len(self._ends) else file.place
        if self.docs[row].text == doc.text:
            file.repeated(f"the document {doc.id!r} is also in {first}, with the same text; kept once.", False)
        else:
            reason = f"the id {doc.id!r} is taken by another text, in {first}; this one is left out."
            file.repeated(reason, True)


def _nothing(given: Sequence[str | os.PathLike[str]], problems: Sequence[Problem]) -> InputError:
    """The error of a corpus without documents, which says what was seen instead."""
    place = ", ".join(printable(str(source)) for source in given[:_NAMED])
    kinds = Counter(problem.kind for problem in problems)
    seen = []
    for kind, count in kinds.items():
        named = [str(problem) for problem in problems if problem.kind == kind][:_NAMED]
        more = f" (and {count - _NAMED} more)" if count > _NAMED else ""
        seen.append(f"{kind}: {' '.join(named)}{more}")
    said = f"Seen: {'; '.join(seen)}" if seen else "It holds no files."
    return InputError("no document could be read", place=place, remedy=f"{said} Readable: {readable()}.")
