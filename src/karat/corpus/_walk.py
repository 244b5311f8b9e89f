"""Walk: the files of folders in a fixed order, and what is met on the way that is no file to read."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from karat.core.docs import Problem
from karat.core.errors import InputError
from karat.io.dataset_folder import Selection, is_dataset_id, selected_corpus, split_named
from karat.io.decoding import printable
from karat.io.irds import check_docs
from karat.io.opening import refusing

_JUNK_FOLDERS = frozenset({"__pycache__", "__MACOSX", "node_modules"})
_JUNK_FILES = frozenset({"thumbs.db", "desktop.ini"})
_KARATS_OWN = ("index.json", "manifest.json")
_KARATS_SIGN = re.compile(rb'"karat"\s*:\s*"\d+\.\d+')
_UNFINISHED = re.compile(
    r"\.draft-.*|embeddings\.journal(\.\d+)?|shards|[0-9a-f]{12}(-\d+)?"
)  # what a killed build may leave
_SIGN_SIZE = 1 << 20
_CORPORA = frozenset({"corpus", "docs", "documents", "collection"})
_QUESTIONS = frozenset({"queries", "qrels"})
_MOST_FOLDERS = 64  # names of folders before an id
_RECORD_ENDINGS = frozenset({"jsonl", "ndjson", "json", "csv", "tsv", "parquet"})


@dataclass(frozen=True)
class FoundFile:
    """A file to read: where it is, its path below the folder given, that folder, and whether it was given by name."""

    path: Path
    below: str
    top: Path
    named: bool


class _Folder(NamedTuple):
    """A folder to list: where it is, its path below the folder given, and the keys of the folders that hold it."""

    path: Path
    below: str
    above: frozenset[tuple[int, int]]


@dataclass
class CorpusWalk:
    """What the sources hold; links out of them are passed over and named, unless they are followed."""

    follow_links: bool = False
    files: list[FoundFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _folders: dict[tuple[int, int], str] = field(default_factory=dict)
    _paths: set[str] = field(default_factory=set)
    _skipped: Counter[str] = field(default_factory=Counter)

    def add_source(self, source: Path) -> None:
        """Everything that one source names; a source that is not there is the user's mistake."""
        if is_dataset_id(source):
            check_docs(str(source))
            self.files.append(FoundFile(source, str(source), Path(), True))
            return
        source, split = split_named(source)
        try:
            status = source.stat()
        except (OSError, ValueError) as error:
            what = "does not exist"
            if isinstance(error, ValueError):
                what = "is no path"
            elif error.errno == errno.ELOOP:
                what = "is a link that leads to itself"
            elif isinstance(error, PermissionError):
                what = "cannot be read: permission denied"
            raise InputError(what, place=printable(str(source)), remedy="Check the path.") from None
        if stat.S_ISDIR(status.st_mode):
            with refusing(source):
                selection = selected_corpus(source, split)
            if selection is not None:
                self._selected(source, selection)
            else:
                self._folder(source)
        else:
            self._file(FoundFile(source, source.name, source.parent, True), status)

    def _selected(self, top: Path, selection: Selection) -> None:
        """The files of a dataset that hold its documents."""
        for path in selection.files:
            self._file(FoundFile(path, path.relative_to(top).as_posix(), top, False), path.stat())
        if selection.note:
            self._add_problem(top, "split", f"is a dataset: {selection.note}.", fatal=False)

    def count_skipped(self) -> None:
        """Count what was passed over."""
        kinds = [f"{count:,} {what}" for what, count in sorted(self._skipped.items())]
        if kinds:
            self.problems.append(
                Problem("folders", "skipped", f"not documents, passed over: {', '.join(kinds)}.", fatal=False)
            )

    def _folder(self, top: Path) -> None:
        """A folder and all below it; real folders before linked ones, so that a link never hides what it leads to."""
        start = len(self.files)
        folders, links = [_Folder(top, "", frozenset())], deque[_Folder]()
        while folders or links:
            folder = folders.pop() if folders else links.popleft()
            try:
                key = _key(folder.path.stat())
                entries = sorted(os.scandir(folder.path), key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                self._unlisted(folder.path, error)
                continue
            if key in folder.above:
                self._add_problem(
                    folder.path, "loop", "is a link to a folder that holds it; not followed.", fatal=False
                )
            elif key in self._folders:
                reason = f"leads to a folder that is read already, as {self._folders[key]}."
                self._add_problem(folder.path, "duplicate", reason, fatal=False)
            elif folder.below and _is_made_by_karat(folder.path, entries):
                self._skipped["folders made by karat"] += 1
            else:
                self._folders[key] = printable(str(folder.path))
                for path, below in self._documents(folder, entries):
                    self._entry(path, top, _Folder(path, below, folder.above | {key}), folders, links)
        self.files[start:] = sorted(self.files[start:], key=lambda file: os.fsencode(file.below))

    def _documents(self, folder: _Folder, entries: Sequence[os.DirEntry[str]]) -> Iterator[tuple[Path, str]]:
        """What may hold documents among the entries of a folder, with its path below the folder given."""
        questions = _questions(entries)
        for entry in entries:
            if entry.name in questions:
                self._skipped["files of a test set beside its corpus"] += 1
            elif entry.name.startswith((".", "~$")):
                self._skipped["hidden files and folders"] += 1
            elif entry.name in _JUNK_FOLDERS or entry.name.lower() in _JUNK_FILES:
                self._skipped["files that systems leave behind"] += 1
            else:
                yield Path(entry.path), f"{folder.below}/{entry.name}" if folder.below else entry.name

    def _entry(self, path: Path, top: Path, entry: _Folder, folders: list[_Folder], links: deque[_Folder]) -> None:
        try:
            status = path.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._add_problem(path, "loop", "is a link that leads to itself.", "Remove it.")
            elif path.is_symlink():
                self._add_problem(path, "unreadable", "is a link to a file that does not exist.", "Remove or fix it.")
            else:
                self._unlisted(path, error)
            return
        if path.is_symlink() and not self.follow_links and not _is_within(path, top):
            reason = "is a link that leads out of the folder; not followed."
            self._add_problem(path, "link", reason, "Name what it leads to, or follow links: --follow-links.")
        elif stat.S_ISDIR(status.st_mode):
            (links if path.is_symlink() else folders).append(entry)
        else:
            self._file(FoundFile(path, entry.below, top, False), status)

    def _file(self, file: FoundFile, status: os.stat_result) -> None:
        path = os.path.abspath(file.path)
        if not stat.S_ISREG(status.st_mode):
            self._add_problem(
                file.path, "unsupported", "is no regular file (a pipe, socket or device).", "Leave it out."
            )
        elif path in self._paths:
            self._add_problem(file.path, "duplicate", "is given twice; read once.", fatal=False)
        else:
            self._paths.add(path)
            self.files.append(file)

    def _unlisted(self, path: Path, error: OSError) -> None:
        why = "permission denied" if isinstance(error, PermissionError) else error.strerror or type(error).__name__
        self._add_problem(path, "unreadable", f"cannot be read: {why}.", "Check its permissions.")

    def _add_problem(self, path: Path, kind: str, reason: str, remedy: str = "", *, fatal: bool = True) -> None:
        self.problems.append(Problem(printable(str(path)), kind, reason, remedy=remedy, fatal=fatal))


def _is_within(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _key(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_made_by_karat(folder: Path, entries: Iterable[os.DirEntry[str]]) -> bool:
    """Whether a folder is an index or a run, by its index.json or manifest.json, or an index that is not finished."""
    names = {entry.name for entry in entries}
    if ".lock" in names and "index.json" not in names and any(map(_UNFINISHED.fullmatch, names)):
        return True
    for name in _KARATS_OWN:
        if name in names and (folder / name).is_file():
            try:
                with open(folder / name, "rb") as file:
                    return bool(_KARATS_SIGN.search(file.read(_SIGN_SIZE)))
            except OSError:
                return False
    return False


def _questions(entries: Sequence[os.DirEntry[str]]) -> set[str]:
    """Names of the queries and judgements that stand beside a corpus of records."""
    stems = {entry.name: entry.name.lower().split(".") for entry in entries}
    if not any(parts[0] in _CORPORA and _RECORD_ENDINGS.intersection(parts[1:]) for parts in stems.values()):
        return set()
    return {
        name
        for name, parts in stems.items()
        if parts[0] in _QUESTIONS and (len(parts) == 1 or _RECORD_ENDINGS.intersection(parts[1:]))
    }


def ids_of(files: Sequence[FoundFile]) -> list[str]:
    """The id of each file: its path below the folder given; where two folders hold the same, their names before it."""
    ids = [printable(file.below) for file in files]
    for depth in range(1, _MOST_FOLDERS + 1):
        tops: dict[str, set[Path]] = {}
        for file, id_ in zip(files, ids, strict=True):
            tops.setdefault(id_, set()).add(file.top)
        clashing = {top for sharing in tops.values() if len(sharing) > 1 for top in sharing}
        if not clashing:
            break
        for row, file in enumerate(files):
            folders = Path(os.path.abspath(file.top)).parts[1:]
            if file.top in clashing and len(folders) >= depth:
                ids[row] = printable("/".join((*folders[-depth:], file.below)))
    return ids
