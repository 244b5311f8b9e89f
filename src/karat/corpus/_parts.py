"""Parts: what was read of files, a part of a file at a time, and what follows for the corpus once all are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat.core.docs import Problem
from karat.corpus._file import ROWS_NAMED, File, ReadError
from karat.corpus._records import note_textless
from karat.io.pages import PageReader

_REPEATS = ("duplicate", "clash")  # said of a file after everything else
_ONCE = "encoding"  # said of one row of a file


@dataclass(frozen=True)
class ReadFile:
    """What one file was taken for, and how many documents and pages it held."""

    place: str
    format: str
    docs: int
    pages: int


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """What was read of a file, or of a range of its lines: all but the documents, in plain values."""

    place: str
    reader: str | None
    read: int
    """Documents read, those included whose ids were taken."""
    docs: int
    pages: int
    notes: Mapping[str, Any]
    """What `File.notes` gives."""
    fault: Mapping[str, Any] | None = None
    """Why no more was read."""
    row: int = 1
    """The row it began with when it was read."""
    continues: bool = False
    """Whether it goes on with the file of the part before it."""

    @property
    def by_row(self) -> bool:
        """Whether ids of documents are made of the numbers of their rows."""
        return bool(self.notes["by_row"])

    def moved(self, row: int) -> FilePart:
        """The same part where it begins with another row."""
        by, head = row - self.row, f"{self.place}:"
        if not by:
            return self
        problems = [
            problem | {"place": f"{head}{int(problem['place'].removeprefix(head)) + by}"}
            if problem["place"] != self.place
            else problem
            for problem in self.notes["problems"]
        ]
        textless = [(at + by, names) for at, names in self.notes["textless"]]
        return replace(self, row=row, notes={**self.notes, "problems": problems, "textless": textless})


@dataclass(frozen=True)
class CorpusFiles:
    """What the files of a corpus were taken for, what is wrong with them, and what their records call their fields."""

    taken: tuple[ReadFile, ...]
    problems: tuple[Problem, ...]
    fields: tuple[str, ...]


def join_parts(parts: Iterable[FilePart]) -> CorpusFiles:
    """The files whose parts these are, in their order."""
    taken: list[ReadFile] = []
    problems: list[Problem] = []
    fields: dict[str, None] = {}
    for of_file in _by_file(parts):
        file, docs = _joined(of_file), sum(part.docs for part in of_file)
        problems += file.problems
        fields |= dict.fromkeys(sorted(file.fields))
        if of_file[0].reader is not None and docs:
            pages = sum(part.pages for part in of_file)
            taken.append(ReadFile(file.place, of_file[0].reader, docs, pages))
    return CorpusFiles(tuple(taken), tuple(problems), tuple(fields))


def _by_file(parts: Iterable[FilePart]) -> Iterator[Sequence[FilePart]]:
    together: list[FilePart] = []
    for part in parts:
        if together and not part.continues:
            yield together
            together = []
        together.append(part)
    if together:
        yield together


def _joined(parts: Sequence[FilePart]) -> File:
    """A file with all that is to be said of it, in the order in which reading it in one go says it."""
    file = File(Path(parts[0].place), "", parts[0].place)
    pages = PageReader()
    for part in parts:
        _add_problems(file, part, lambda kind: kind not in _REPEATS)
        file.fields.update(part.notes["fields"])
        file.unit = part.notes["unit"]
        file.textless += [(row, names) for row, names in part.notes["textless"]][: ROWS_NAMED - len(file.textless)]
        file.textless_count += part.notes["textless_count"]
        pages.add(part.notes["page_counts"])
    file.page_counts = pages.counts
    fault = next((ReadError(**part.fault) for part in parts if part.fault is not None), None)
    fault = note_textless(file, has_docs=any(part.read for part in parts), fault=fault)
    for part in parts:
        _add_problems(file, part, _REPEATS.__contains__)
    docs = sum(part.docs for part in parts)
    if fault is not None:
        rest = f" {docs:,} documents before that are kept." if docs else ""
        file.problem(fault.kind, fault.reason + rest, fault.remedy, fatal=fault.fatal)
    if not docs and not file.problems:
        file.problem("empty", "holds no records.", "Leave it out, or restore it.", fatal=True)
    file.sum_up()
    return file


def _add_problems(file: File, part: FilePart, is_meant: Callable[[str], bool]) -> None:
    """The problems of some kinds that a part names, and how many rows more have them."""
    unnamed = {kind: count for kind, count in part.notes["rows"].items() if is_meant(kind)}
    for plain in part.notes["problems"]:
        problem = Problem(**plain)
        if not is_meant(problem.kind) or (part.continues and problem.kind == _ONCE and file.rows[_ONCE]):
            continue
        if problem.kind in unnamed:
            unnamed[problem.kind] -= 1
            file.rows[problem.kind] += 1
        if file.rows[problem.kind] <= ROWS_NAMED:
            file.problems.append(problem)
    if part.continues:
        unnamed.pop(_ONCE, None)
    for kind, count in unnamed.items():
        file.rows[kind] += count
