"""Walk: the files of folders in a fixed order, and what is met on the way that is no file to read."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from karat.core.docs import Problem
from karat.core.errors import InputError
from karat.io.decoding import printable

_JUNK_FOLDERS = frozenset({"__pycache__", "__MACOSX", "node_modules"})
_JUNK_FILES = frozenset({"thumbs.db", "desktop.ini"})
_KARATS_OWN = ("index.json", "manifest.json")
_KARATS_SIGN = re.compile(rb'"karat"\s*:\s*"\d+\.\d+')
_UNFINISHED = re.compile(r"\.draft-.*|embeddings\.journal|[0-9a-f]{12}(-\d+)?")  # what a killed build may leave
_SIGN_SIZE = 1 << 20
_CORPORA = frozenset({"corpus", "docs", "documents", "collection"})
_QUESTIONS = frozenset({"queries", "qrels"})
_RECORD_ENDINGS = frozenset({"jsonl", "ndjson", "json", "csv", "tsv", "parquet"})


@dataclass(frozen=True)
class Found:
    """A file to read: where it is, its path below the folder given, and that folder (None: given by name)."""

    path: Path
    below: str
    folder: Path | None


@dataclass
class Walk:
    """What the sources hold; links out of them are passed over and named, unless they are followed."""

    follow_links: bool = False
    files: list[Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _seen: dict[tuple[int, int], str] = field(default_factory=dict)
    _skipped: Counter[str] = field(default_factory=Counter)

    def add(self, source: Path) -> None:
        """Everything that one source names; a source that is not there is the user's mistake."""
        place = printable(str(source))
        try:
            status = source.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise InputError("is a link that leads to itself", place=place, remedy="Check the path.") from None
            there = isinstance(error, PermissionError)
            what = "cannot be read: permission denied" if there else "does not exist"
            raise InputError(what, place=place, remedy="Check the path.") from None
        except ValueError:
            raise InputError("is no path", place=place, remedy="Check the path.") from None
        if stat.S_ISDIR(status.st_mode):
            self._folder(source)
        else:
            self._file(source, source.name, None, status)

    def finish(self) -> None:
        """Count what was passed over."""
        kinds = [f"{count:,} {what}" for what, count in sorted(self._skipped.items())]
        if kinds:
            self.problems.append(
                Problem("folders", "skipped", f"not documents, passed over: {', '.join(kinds)}.", fatal=False)
            )

    def _folder(self, top: Path) -> None:
        """A folder and all below it; real folders before linked ones, so that a link never hides what it leads to."""
        start = len(self.files)
        links: list[tuple[Path, str, frozenset[tuple[int, int]]]] = []
        stack: list[tuple[Path, str, frozenset[tuple[int, int]]]] = [(top, "", frozenset())]
        while stack or links:
            folder, below, above = stack.pop() if stack else links.pop(0)
            try:
                key = _key(folder.stat())
                entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                self._unlisted(folder, error)
                continue
            if key in above:
                self._say(folder, "loop", "is a link to a folder that holds it; not followed.", fatal=False)
                continue
            if key in self._seen:
                reason = f"leads to a folder that is read already, as {self._seen[key]}."
                self._say(folder, "duplicate", reason, fatal=False)
                continue
            if below and _is_made_by_karat(folder, entries):
                self._skipped["folders made by karat"] += 1
                continue
            self._seen[key] = printable(str(folder))
            questions = _questions(entries)
            for entry in entries:
                inner = f"{below}/{entry.name}" if below else entry.name
                if entry.name in questions:
                    self._skipped["files of a test set beside its corpus"] += 1
                elif entry.name.startswith(".") or entry.name.startswith("~$"):
                    self._skipped["hidden files and folders"] += 1
                elif entry.name in _JUNK_FOLDERS or entry.name.lower() in _JUNK_FILES:
                    self._skipped["files that systems leave behind"] += 1
                else:
                    self._entry(Path(entry.path), inner, top, above | {key}, stack, links)
        self.files[start:] = sorted(self.files[start:], key=lambda found: os.fsencode(found.below))

    def _entry(
        self,
        path: Path,
        below: str,
        top: Path,
        above: frozenset[tuple[int, int]],
        folders: list[tuple[Path, str, frozenset[tuple[int, int]]]],
        links: list[tuple[Path, str, frozenset[tuple[int, int]]]],
    ) -> None:
        try:
            status = path.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._say(path, "loop", "is a link that leads to itself.", "Remove it.")
            elif path.is_symlink():
                self._say(path, "unreadable", "is a link to a file that does not exist.", "Remove or mend it.")
            else:
                self._unlisted(path, error)
            return
        if path.is_symlink() and not self.follow_links and not _is_within(path, top):
            reason = "is a link that leads out of the folder; not followed."
            self._say(path, "link", reason, "Name what it leads to, or follow links: --follow-links.")
        elif stat.S_ISDIR(status.st_mode):
            (links if path.is_symlink() else folders).append((path, below, above))
        else:
            self._file(path, below, top, status)

    def _file(self, path: Path, below: str, folder: Path | None, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._say(path, "unsupported", "is no regular file (a pipe, socket or device).", "Leave it out.")
            return
        self.files.append(Found(path, below, folder))

    def _unlisted(self, path: Path, error: OSError) -> None:
        why = "permission denied" if isinstance(error, PermissionError) else error.strerror or type(error).__name__
        self._say(path, "unreadable", f"cannot be read: {why}.", "Check its permissions.")

    def _say(self, path: Path, kind: str, reason: str, remedy: str = "", *, fatal: bool = True) -> None:
        self.problems.append(Problem(printable(str(path)), kind, reason, remedy, fatal))


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


def ids_of(files: Sequence[Found]) -> list[str]:
    """The id of each file: its path below the folder given; where two folders hold the same, their names before it."""
    ids = [printable(found.below) for found in files]
    depth = 0
    while depth < 64:
        places: dict[str, set[Path | None]] = {}
        for found, id_ in zip(files, ids, strict=True):
            places.setdefault(id_, set()).add(found.folder if found.folder is not None else found.path.parent)
        clashing = {place for of in places.values() if len(of) > 1 for place in of}
        if not clashing:
            break
        depth += 1
        made = []
        for found, id_ in zip(files, ids, strict=True):
            top = found.folder if found.folder is not None else found.path.parent
            parts = Path(os.path.abspath(top)).parts[1:]
            clash = top in clashing and len(parts) >= depth
            made.append("/".join((*map(printable, parts[-depth:]), printable(found.below))) if clash else id_)
        ids = made
    return ids
