"""The folder of an index: versioned, checksummed, and replaced as a whole.

`index.json` names the generation that counts, a folder beside it, and size and checksums of each of its files. A new
generation is written next to the old one and counts from the moment `index.json` is replaced, which is one step; a
build that is killed before leaves the old index as it was.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, UsageError
from karat.io.checksum import DamagedError, digest, file_crc32, file_sha256, sealed, unsealed
from karat.io.lock import LOCK, locked
from karat.io.writing import NO_ROOM, PART, unwritable, write_whole

HEAD, JOURNAL = "index.json", "embeddings.journal"
FORMAT, VERSION = "karat index", 1
_DRAFT = ".draft-"
_GENERATION = re.compile(r"[0-9a-f]{12}(-\d+)?")
_LEFT = re.compile(rf"{_GENERATION.pattern}|\.{re.escape(HEAD)}{PART}")  # by a build that was killed
_SMALL = 8 << 20  # files up to this size are checksummed whenever the index is opened
_CHANGED = "{} is not what was written: its checksum differs"


@dataclass
class IndexDraft:
    """A generation in the making: write files into `folder` and what there is to know into `about`."""

    folder: Path
    journal: Path
    about: dict[str, Any] = field(default_factory=dict)


@contextmanager
def drafted(path: Path) -> Iterator[IndexDraft]:
    """A draft that becomes the index at `path` when the block ends well; else the index there stays as it was."""
    check_target(path)
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise _unwritable(path, problem) from None
    with locked(path, "another build is writing this index. Wait for it, or name another folder."):
        for left in path.glob(f"{_DRAFT}*"):
            shutil.rmtree(left, ignore_errors=True)
        draft = IndexDraft(path / f"{_DRAFT}{secrets.token_hex(4)}", path / JOURNAL)
        try:
            draft.folder.mkdir()
            yield draft
            _commit(path, draft)
        except OSError as problem:
            if problem.errno not in NO_ROOM:
                raise
            raise _unwritable(path, problem) from problem
        finally:
            shutil.rmtree(draft.folder, ignore_errors=True)
            if made and not (path / HEAD).exists() and not draft.journal.exists():
                shutil.rmtree(path, ignore_errors=True)


def check_target(path: Path) -> None:
    """Refuse to write an index over something that is none."""
    if path.is_dir():
        names = {p.name for p in path.iterdir()}
        others = sorted(
            name
            for name in names - {LOCK, JOURNAL}
            if not name.startswith(_DRAFT) and not (LOCK in names and _LEFT.fullmatch(name))
        )
        if others and not (path / HEAD).is_file():
            raise UsageError(
                f"{path} is a folder that holds other things ({others[0]!r}, ...): an index is not written into it. "
                "Name a new folder, for example -o handbook.index."
            )
    elif path.exists() or path.is_symlink():
        raise UsageError(f"{path} is a file. Name a new folder for the index, for example -o handbook.index.")


def _commit(path: Path, draft: IndexDraft) -> None:
    files = {
        name: {"bytes": size, "crc32": file_crc32(draft.folder / name), "sha256": file_sha256(draft.folder / name)}
        for name, size in sorted(_sizes(draft.folder).items())
    }
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, **draft.about, "files": files}
    head["generation"] = _place(path, draft.folder, digest(head)[:12], files)
    write_whole(path / HEAD, json.dumps(sealed(head), ensure_ascii=False, indent=1) + "\n")
    draft.journal.unlink(missing_ok=True)
    for other in path.iterdir():
        if other.is_dir() and _GENERATION.fullmatch(other.name) and other.name != head["generation"]:
            shutil.rmtree(other, ignore_errors=True)


def _place(path: Path, draft: Path, name: str, files: Mapping[str, Any]) -> str:
    """Move the draft to its generation; one of the same content that still is whole is kept instead."""
    for number in count(1):
        generation = name if number == 1 else f"{name}-{number}"
        target = path / generation
        if not target.exists():
            os.rename(draft, target)
            return generation
        if _fault(target, files, verify=True) is None:
            return generation
    raise AssertionError("count ends never")


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether an index stands there, sound or not."""
    return (Path(path) / HEAD).is_file()


def opened(path: Path, *, verify: bool = False) -> tuple[dict[str, Any], Path]:
    """What `index.json` says, and the folder of the generation that counts.

    Sizes of all files and checksums of the small ones are compared always, all checksums with `verify`; of larger files
    `check_part` compares them when they are needed.
    """
    while True:
        head = _head(path)
        folder = path / head["generation"]
        try:
            fault = _fault(folder, head["files"], verify=verify)
        except FileNotFoundError as problem:
            fault = f"{Path(problem.filename).name} is missing"
        if fault is None:
            return head, folder
        if _head(path)["generation"] == head["generation"]:  # else a build has just replaced it
            raise damaged(path, fault)


def check_part(path: Path, head: Mapping[str, Any], folder: Path, beginning: str) -> None:
    """Compare the larger files of a part of an index, by how their names begin, with their checksums."""
    for name, expected in head["files"].items():
        if name.startswith(beginning) and expected["bytes"] > _SMALL and not _is_sound(folder / name, expected):
            raise damaged(path, _CHANGED.format(name))


def _is_sound(file: Path, expected: Mapping[str, Any], *, fully: bool = False) -> bool:
    """Whether a file is what was written, by the faster of its checksums where it has one, or `fully`."""
    if fully or "crc32" not in expected:
        return bool(file_sha256(file) == expected["sha256"])
    return bool(file_crc32(file) == expected["crc32"])


def _fault(folder: Path, files: Mapping[str, Any], *, verify: bool) -> str | None:
    """What is wrong with the files of a generation, if anything is. None of them may lead out of the folder."""
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            return f"{path.relative_to(folder).as_posix() if path != folder else folder.name} is a link"
    sizes = _sizes(folder) if folder.is_dir() else {}
    for name, expected in files.items():
        if name not in sizes:
            return f"{name} is missing"
        if sizes[name] != expected["bytes"]:
            return f"{name} has {sizes[name]:,} bytes instead of {expected['bytes']:,}"
        if (verify or sizes[name] <= _SMALL) and not _is_sound(folder / name, expected, fully=verify):
            return _CHANGED.format(name)
    return None


def _head(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError("there is no such index", place=str(path), remedy="Build it with `karat index DOCS -o INDEX`.")
    if not path.is_dir():
        raise _foreign(path, "it is a file, and an index is a folder")
    if not (path / HEAD).is_file():
        if (path / LOCK).exists() or (path / JOURNAL).exists():
            raise InputError(
                "its build was not finished", place=str(path), remedy="Run the same `karat index` command again."
            )
        raise _foreign(path, f"it has no {HEAD}")
    try:
        head = json.loads((path / HEAD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise damaged(path, f"{HEAD} cannot be read: {problem}") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise _foreign(path, f"its {HEAD} does not say {FORMAT!r}")
    if head.get("version") != VERSION:
        raise InputError(
            f"this index has version {head.get('version')!r}, and this karat reads version {VERSION}",
            place=str(path),
            remedy="Build it again with `karat index`, or use the karat that made it.",
        )
    try:
        head = unsealed(head, strict=True)
    except DamagedError:
        raise damaged(path, _CHANGED.format(HEAD)) from None
    if not _GENERATION.fullmatch(str(head.get("generation"))) or not _are_files(head.get("files")):
        raise damaged(path, f"{HEAD} names no generation, or no files of it")
    return head


def _are_files(files: Any) -> bool:
    """Whether this is a table of files as `_commit` writes it."""
    return isinstance(files, dict) and all(
        isinstance(one, dict) and isinstance(one.get("bytes"), int) and isinstance(one.get("sha256"), str)
        for one in files.values()
    )


def damaged(path: Path, what: str) -> InputError:
    """An index that karat made and that is not whole any more."""
    return InputError(f"the index is damaged: {what}", place=str(path), remedy="Build it again with `karat index`.")


def _foreign(path: Path, why: str) -> InputError:
    return InputError(
        f"this is no karat index: {why}",
        place=str(path),
        remedy="Build one with `karat index DOCS -o INDEX`; --engine faiss:PATH and chroma:PATH search other stores.",
    )


def _unwritable(path: Path, problem: OSError) -> InputError:
    return unwritable(path, problem, "the index cannot be written")


def _sizes(folder: Path) -> dict[str, int]:
    return {p.relative_to(folder).as_posix(): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
