"""The ledger: a folder for each thing that was done, named by the task and the shard that it was done to.

A folder is written under another name and renamed when it is complete, so what stands there is whole. `shard.json` in
it says how many rows it holds and lists its files with their checksums; the digest of that is the digest of the shard.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Container, Generator, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from karat.core.errors import KaratError
from karat.io.checksum import digest
from karat.io.filetable import fault, file_table, is_file_table
from karat.pool._task import Shard, Stage, Task

CARD = "shard.json"
_NAME = re.compile(r"[0-9a-f]{24}(-\d+)?")
_PART = ".part-"
_LATE_TRIES, _LATE_SECONDS = 120, 0.5


class Ledger:
    """What is done, in a folder; it is made when the first thing is done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, task: Task, shard: Shard) -> Shard | None:
        """What came of a shard, the last time, if it is there and every byte is as it was written."""
        output = None
        for place in self._places(task, shard):
            if not place.exists():
                return output
            card = shard_card(place)
            if card is not None and _is_whole(place, card):
                output = Shard(path=place, rows=card["rows"], digest=digest(card), name=shard.name)
        return output

    def standing(
        self, task: Task, shards: Iterable[Shard], anew: Container[str] = ()
    ) -> Generator[tuple[Shard, Shard], None, list[Shard]]:
        """Each shard that was done before, with what came of it, but for those of the digests `anew`; the others."""
        todo = []
        for shard in shards:
            output = self.find(task, shard) if shard.digest not in anew else None
            if output is None:
                todo.append(shard)
            else:
                yield shard, output
        return todo

    def probe(self) -> Path:
        """A file with a text that nobody can know, by which others show that they see this folder."""
        path = self.folder / f"{_PART}{secrets.token_hex(4)}" / "probe"
        path.parent.mkdir(parents=True)
        path.write_text(secrets.token_hex(16), "utf-8")
        return path

    def await_folder(self, path: Path) -> None:
        """Wait for a folder that another machine has renamed: network storage may show it late."""
        for _ in range(_LATE_TRIES):
            if path.exists():
                return
            time.sleep(_LATE_SECONDS)
            os.listdir(self.folder)  # makes clients of NFS look again
        raise KaratError(f"{path} was written by a worker and is not seen here. Look at the storage of {self.folder}.")

    def write(self, task: Task, stage: Stage, shard: Shard) -> Shard:
        """Do it, and keep what came of it beside what came of it before, which somebody may still read.

        Where that was the same it stays, and where it was damaged it is replaced.
        """
        part = self.folder / f"{_PART}{secrets.token_hex(4)}"
        part.mkdir(parents=True)
        try:
            rows = stage.run(shard, part)
            card = {"rows": rows, "files": file_table(part)}
            (part / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")
            for place in self._places(task, shard):
                if _moved(part, place, card):
                    return Shard(path=place, rows=rows, digest=digest(card), name=shard.name)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        raise AssertionError("places end never")

    def name_of(self, task: Task, shard: Shard) -> str:
        """What comes of a shard is called so, or so with a number."""
        return digest({"task": task.digest, "shard": shard.digest})[:24]

    def _places(self, task: Task, shard: Shard) -> Iterator[Path]:
        name = self.name_of(task, shard)
        return (self.folder / (name if number == 1 else f"{name}-{number}") for number in count(1))

    def forget_all_but(self, shards: Iterable[Shard] = ()) -> None:
        """Remove whatever else it wrote there."""
        kept = {shard.path.name for shard in shards}
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in kept and (is_shard_name(path.name) or path.name.startswith(_PART)):
                _remove(path)

    def forget_parts(self) -> None:
        """Remove what a process that was killed left half done."""
        for path in self.folder.glob(f"{_PART}*"):
            _remove(path)


def is_shard_name(name: Any) -> bool:
    """Whether a folder of a ledger may be called so."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def shard_card(folder: Path) -> dict[str, Any] | None:
    """What `shard.json` in a folder says: rows and files; None where it says nothing of the kind."""
    try:
        card = json.loads((folder / CARD).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_card = isinstance(card, dict) and type(card.get("rows")) is int and is_file_table(card.get("files"))
    return card if is_card else None


def _is_whole(place: Path, card: Mapping[str, Any]) -> bool:
    return fault(place, card["files"], large=True) is None


def _moved(part: Path, place: Path, card: Mapping[str, Any]) -> bool:
    """Whether a folder now stands at a place: it was moved there, or the same stood there before."""
    if place.is_symlink():
        place.unlink()
    if place.exists():
        standing = shard_card(place)
        if standing is not None and _is_whole(place, standing):
            return standing == card
        shutil.rmtree(place)
    try:
        os.rename(part, place)
    except OSError as problem:
        if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return _moved(part, place, card)  # another worker did the same meanwhile
    return True


def _remove(path: Path) -> None:
    """Remove a folder, or a link to one and not what it leads to."""
    if path.is_symlink():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)
