"""What is to be done to shards, and by whom: tasks are known by the importable names of karat's own code alone."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from karat.core.progress import Progress
from karat.io.checksum import digest

if TYPE_CHECKING:
    from karat.pool._ledger import Ledger

WORK = ("read", "build", "embed", "search", "answer", "judge", "score")
"""Kinds of work."""


@dataclass(frozen=True, kw_only=True)
class Shard:
    """What a task reads or wrote: a file or a folder, what is in it by its digest, and how much of it there is.

    `rows` is what progress counts; `name` is what people call it. Shards of one `owner` are done by the worker that has
    opened what they need, where a pool has workers that last.
    """

    path: Path
    rows: int
    digest: str
    name: str = ""
    owner: int | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """A stage by its importable name (`karat.systems.index_stages:ReadAndChunk`) and its settings, plain JSON.

    `hints` are settings that change how fast it is done and never what is written. `label` says to people what is done;
    `counts_bytes`: the rows of its shards are bytes, which people are told in MB. `work` is what a user asks resources
    for by: one of WORK.
    """

    name: str
    settings: Mapping[str, Any]
    work: str
    hints: Mapping[str, Any] = field(default_factory=dict)
    label: str = "working"
    counts_bytes: bool = False

    @cached_property
    def digest(self) -> str:
        """What the bytes it writes depend on, apart from the shard."""
        return digest({"name": self.name, "settings": self.settings, "karat": version("karat")})

    def open(self, progress: Progress) -> Stage:
        """The stage, ready for shards."""
        module, _, name = self.name.partition(":")
        stage: Stage = getattr(import_module(module), name)({**self.settings, **self.hints}, progress)
        return stage


class Stage(Protocol):
    """What the name of a task leads to: `Stage(settings, progress)`, opened once in each process."""

    def run(self, shard: Shard, folder: Path) -> int:
        """Write what comes of a shard into an empty folder, a file at least: how many rows. Same input, same bytes."""
        ...


class Pool(Protocol):
    """Who does the work: so many `jobs` at a time, on this machine alone or on a cluster."""

    jobs: int
    is_cluster: bool

    def map(
        self,
        task: Task,
        shards: Sequence[Shard],
        ledger: Ledger,
        progress: Progress,
        *,
        anew: Container[str] = (),
    ) -> Iterator[tuple[Shard, Shard]]:
        """Each shard with what came of it, in any order and at least once.

        What the ledger holds is not done again, but for the shards of the digests `anew`.
        """
        ...
