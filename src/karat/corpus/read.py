"""Read: files and folders in; documents, and all that could not be read, out."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from karat.core.docs import Doc, Problem
from karat.core.errors import InputError, UsageError
from karat.corpus._decode import plain, printable
from karat.corpus._file import File, Progress, ReadError, explained
from karat.corpus._reader import readable, reader_of
from karat.corpus._records import check_used, checked
from karat.corpus._walk import Walk, ids_of

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


def _silent(what: str, done: int, total: int) -> None:
    pass


def read(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    progress: Progress = _silent,
    columns: Mapping[str, str] | None = None,
) -> Reading:
    """Read documents from files and folders, whatever their formats.

    A file that cannot be read becomes a Problem and the rest goes on; only a source that does not exist, or a corpus
    without any document, is an error. Files are read in the order of the bytes of their paths. `columns` says which
    field (id, text, title, url, page ...) an unusual column of records is.
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not given:
        raise UsageError("no documents were named. Give a file or a folder.")
    mapped = checked(columns)
    walk = Walk()
    for source in given:
        walk.add(Path(source))
    walk.finish()
    shelf = _Shelf(walk.problems)
    fields: dict[str, None] = {}
    for number, (found, id_) in enumerate(zip(walk.files, ids_of(walk.files), strict=True)):
        progress("reading", number, len(walk.files))
        if shelf.is_new(found.path):
            place = printable(str(found.path))
            file = File(found.path, id_, place, found.folder is None, mapped, progress)
            shelf.take(file)
            fields |= dict.fromkeys(sorted(file.fields))
    progress("reading", len(walk.files), len(walk.files))
    check_used(mapped, fields)
    if not shelf.docs:
        raise _nothing(given, shelf.problems)
    return Reading(tuple(shelf.docs), tuple(shelf.problems), tuple(shelf.taken))


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

    def take(self, file: File) -> None:
        """All documents of a file; whatever goes wrong becomes a Problem."""
        before, name = len(self.docs), ""
        try:
            with explained():
                reader = reader_of(file)
                name = reader.name
                for doc in reader.read(file):
                    self._add(doc, file)
        except ReadError as fault:
            file.problem(fault.kind, self._kept(fault.reason, before), fault.remedy, fatal=fault.fatal)
        except Exception as error:
            what = plain(str(error)).split("\n")[0][:200]
            reason = f"could not be read ({type(error).__name__}: {what})."
            file.problem("failed", self._kept(reason, before), "Please report this file's kind.", fatal=True)
        if len(self.docs) == before and not file.problems:
            file.problem("empty", "holds no records.", "Leave it out, or restore it.", fatal=True)
        file.sum_up()
        self.problems += file.problems
        if len(self.docs) > before:
            pages = sum(len(doc.pages) for doc in self.docs[before:])
            self.taken.append(TakenFile(file.place, name, len(self.docs) - before, pages))
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
