"""The folder of an index: versioned, checksummed, and replaced as a whole.

`index.json` names the generation that counts, a folder beside it, with size and checksums of each of its files, and the
shards that it goes with, by the digest of what is in them. A new generation is written next to the old one and counts
from the moment `index.json` is replaced, which is one step; a build that is killed before leaves the old index as it
was. Shards stand in a ledger: what the next build needs of them it uses again. Version 1 had no shards.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, UsageError
from karat.core.text.words import plural
from karat.io.checksum import DamagedError, digest, sealed, unsealed
from karat.io.filetable import CHANGED, FileTable, fault, file_table, is_file_table, part_fault
from karat.io.lock import LOCK, locked
from karat.io.writing import NO_ROOM, PART, unwritable, write_whole
from karat.pool import Ledger, Shard, is_shard_name, shard_card

HEAD, JOURNAL, SHARDS, LOGS = "index.json", "embeddings.journal", "shards", "logs"
FORMAT, VERSIONS = "karat index", (1, 2)
_DRAFT = ".draft-"
_GENERATION = re.compile(r"[0-9a-f]{12}(-\d+)?")
_JOURNALS = re.compile(rf"{re.escape(JOURNAL)}(\.\d+)?")
_LEFT = re.compile(rf"{_GENERATION.pattern}|\.{re.escape(HEAD)}{PART}|{SHARDS}|{LOGS}")  # by a build that was killed


@dataclass(frozen=True, kw_only=True)
class PieceReuse:
    """Of how many pieces of a corpus the documents and chunks were there already, and what was read instead."""

    pieces: int
    read: int
    docs: int
    """Documents of the pieces that were read."""
    continued: int
    """Pieces that a build had read which was interrupted."""
    removed: int
    """Pieces of the index that stood there which this one has not."""
    is_first: bool
    """Whether no index stood there."""

    @property
    def line(self) -> str | None:
        """What to say of it; None where nothing could be used again."""
        if (self.is_first and not self.continued) or self.read == self.pieces == 1:
            return None
        reused = f"{self.pieces - self.read:,} of {plural(self.pieces, 'piece')}" if self.read else "everything"
        if self.continued:
            reused += f" ({plural(self.continued, 'piece')} from an interrupted build)"
        if self.read:
            return f"{reused}; {self.read:,} changed or new ({plural(self.docs, 'document')} read)"
        if self.removed:
            return f"{reused}; {plural(self.removed, 'piece')} removed"
        return reused if self.continued else f"{reused}: no document changed"


@dataclass
class IndexDraft:
    """A generation in the making: write files into `folder` and what there is to know into `about`.

    `shards` are what it goes with, by the part of the index that they are of; `used` were needed on the way, and will
    be again. What the pool reads is put into `plan`. A first build that fails leaves nothing, unless it `is_long`.
    One that is not needed changes nothing: the index that stands there is the same.
    """

    path: Path
    folder: Path
    about: dict[str, Any] = field(default_factory=dict)
    shards: dict[str, Sequence[Shard]] = field(default_factory=dict)
    used: list[Shard] = field(default_factory=list)
    reuse: PieceReuse | None = None
    is_long: bool = False
    is_needed: bool = True

    @property
    def plan(self) -> Path:
        """A folder for what is to be done."""
        return self.folder.with_name(f"{self.folder.name}-plan")

    @property
    def ledger(self) -> Ledger:
        """The shards that were built for this index, now or before."""
        return Ledger(self.path / SHARDS)

    def journal(self, number: int = 0) -> Path:
        """Where the embeddings of a shard are kept until it is complete."""
        return self.path / (f"{JOURNAL}.{number}" if number else JOURNAL)


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
        draft = IndexDraft(path, path / f"{_DRAFT}{secrets.token_hex(4)}")
        if (path / SHARDS).is_symlink():  # whatever it leads to is none of this index
            (path / SHARDS).unlink()
        draft.ledger.forget_parts()
        try:
            draft.folder.mkdir()
            draft.plan.mkdir()
            yield draft
            if draft.is_needed:
                _commit(draft)
            else:
                _forget_all_but(_head(path)["generation"], draft)
        except OSError as problem:
            if problem.errno not in NO_ROOM:
                raise
            raise _unwritable(path, problem) from problem
        finally:
            for folder in (draft.folder, draft.plan):
                shutil.rmtree(folder, ignore_errors=True)
            if made and not (path / HEAD).exists() and not draft.is_long and not draft.journal().exists():
                shutil.rmtree(path, ignore_errors=True)


def check_target(path: Path) -> None:
    """Refuse to write an index over something that is none."""
    if path.is_dir():
        names = {p.name for p in path.iterdir()}
        others = sorted(
            name
            for name in names - {LOCK}
            if not (name.startswith(_DRAFT) or _JOURNALS.fullmatch(name))
            and not (LOCK in names and _LEFT.fullmatch(name))
        )
        if others and not (path / HEAD).is_file():
            raise UsageError(
                f"{path} is a folder that holds other things ({others[0]!r}, ...): an index is not written into it. "
                "Name a new folder, for example -o handbook.index."
            )
    elif path.exists() or path.is_symlink():
        raise UsageError(f"{path} is a file. Name a new folder for the index, for example -o handbook.index.")


def _commit(draft: IndexDraft) -> None:
    path = draft.path
    files = file_table(draft.folder)
    shards = {
        part: [{"name": shard.path.name, "digest": shard.digest} for shard in of_part]
        for part, of_part in draft.shards.items()
    }
    head: dict[str, Any] = {
        "format": FORMAT, "version": VERSIONS[-1], **draft.about, "files": files, "shards": shards,
    }  # fmt: skip
    head["generation"] = _place(path, draft.folder, digest(head)[:12], files)
    write_whole(path / HEAD, json.dumps(sealed(head), ensure_ascii=False, indent=1) + "\n")
    _forget_all_but(head["generation"], draft)


def _forget_all_but(generation: str, draft: IndexDraft) -> None:
    """Remove what belongs to no index any more: other generations and shards, and journals."""
    for other in draft.path.iterdir():
        if other.is_dir() and _GENERATION.fullmatch(other.name) and other.name != generation:
            shutil.rmtree(other, ignore_errors=True)
        elif _JOURNALS.fullmatch(other.name):
            other.unlink()
    draft.ledger.forget_all_but([*draft.used, *chain.from_iterable(draft.shards.values())])


def _place(path: Path, draft: Path, name: str, files: FileTable) -> str:
    """Move the draft to its generation; one of the same content that still is whole is kept instead."""
    for number in count(1):
        generation = name if number == 1 else f"{name}-{number}"
        target = path / generation
        if not target.exists():
            os.rename(draft, target)
            return generation
        if fault(target, files, fully=True) is None:
            return generation
    raise AssertionError("count ends never")


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether an index stands there, sound or not."""
    return (Path(path) / HEAD).is_file()


def opened(path: Path, *, verify: bool = False) -> tuple[dict[str, Any], Path]:
    """What `index.json` says, and the folder of the generation that counts.

    Sizes of all files are compared always, and checksums of the small ones of the generation; all checksums with
    `verify`. Those of its large files, and of shards, `check_part` and `shards_of` compare when they are needed.
    """
    while True:
        head = _head(path)
        folder = path / head["generation"]
        try:
            what = fault(folder, head["files"], fully=verify) or _shard_fault(path, head, verify=verify)
        except FileNotFoundError as problem:
            what = f"{Path(problem.filename).name} is missing"
        if what is None:
            return head, folder
        if _head(path)["generation"] == head["generation"]:  # else a build has just replaced it
            raise damaged(path, what)


def _shard_fault(path: Path, head: Mapping[str, Any], *, verify: bool) -> str | None:
    """What is wrong with the shards of an index, if anything is."""
    if (path / SHARDS).is_symlink():
        return f"{SHARDS} is a link"
    for one in chain.from_iterable(head["shards"].values()):
        folder = path / SHARDS / one["name"]
        card = shard_card(folder)
        if card is None or digest(card) != one["digest"]:
            return CHANGED.format(f"{SHARDS}/{one['name']}") if folder.exists() else f"{folder.name} is missing"
        if folder.is_symlink():
            return f"{SHARDS}/{one['name']} is a link"
        if what := fault(folder, card["files"], small=False, fully=verify):
            return f"{SHARDS}/{one['name']}/{what}"
    return None


def check_part(path: Path, head: Mapping[str, Any], folder: Path, beginning: str, but: tuple[str, ...] = ()) -> None:
    """Compare the larger files of a part of an index, by how their names begin, with their checksums.

    Names that begin as one of `but` are left out.
    """
    if what := part_fault(folder, head["files"], beginning, but=but):
        raise damaged(path, what)


def shards_of(
    path: Path,
    head: Mapping[str, Any],
    part: str,
    beginning: str = "",
    *,
    check: bool,
    whole: Container[str] = (),
) -> list[Shard]:
    """The shards of a part of an index; with `check` their files of such names are compared with their checksums.

    Shards whose names are in `whole` were compared already.
    """
    shards = []
    for one in head["shards"].get(part, ()):
        folder = path / SHARDS / one["name"]
        card = shard_card(folder)
        if card is None:
            raise damaged(path, f"{SHARDS}/{one['name']} is missing")
        is_checked = check and folder.name not in whole
        if is_checked and (what := part_fault(folder, card["files"], beginning, small=True)):
            raise damaged(path, f"{SHARDS}/{one['name']}/{what}")
        shards.append(Shard(path=folder, rows=card["rows"], digest=one["digest"]))
    return shards


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
    if head.get("version") not in VERSIONS:
        raise InputError(
            f"this index has version {head.get('version')!r}, and this karat reads versions up to {VERSIONS[-1]}",
            place=str(path),
            remedy="Build it again with `karat index`, or use the karat that made it.",
        )
    try:
        head = unsealed(head, strict=True)
    except DamagedError:
        raise damaged(path, CHANGED.format(HEAD)) from None
    head.setdefault("shards", {})  # version 1 has none
    if not _GENERATION.fullmatch(str(head.get("generation"))) or not is_file_table(head.get("files")):
        raise damaged(path, f"{HEAD} names no generation, or no files of it")
    if not _are_shards(head["shards"]):
        raise damaged(path, f"{HEAD} names shards that cannot be")
    return head


def _are_shards(shards: Any) -> bool:
    """Whether this is a table of shards as `_commit` writes it."""
    return isinstance(shards, dict) and all(
        isinstance(of_part, list) and all(map(_is_shard, of_part)) for of_part in shards.values()
    )


def _is_shard(entry: Any) -> bool:
    return isinstance(entry, dict) and is_shard_name(entry.get("name")) and isinstance(entry.get("digest"), str)


def damaged(path: Path, what: str) -> InputError:
    """An index that karat made and that is not whole any more."""
    return InputError(f"the index is damaged: {what}", place=str(path), remedy="Build it again with `karat index`.")


def _foreign(path: Path, why: str) -> InputError:
    return InputError(
        f"this is no karat index: {why}",
        place=str(path),
        remedy="Build one with `karat index DOCS -o INDEX`; --engine faiss:PATH and others search other stores.",
    )


def _unwritable(path: Path, problem: OSError) -> InputError:
    return unwritable(path, problem, "the index cannot be written")
