"""Who is to do the work, as users say it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from karat.core.errors import UsageError, did_you_mean
from karat.pool._local import LocalPool
from karat.pool._task import WORK, Pool

POOLS = ("local", "ray")


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    """A pool `by` its name, and how many shards at a time.

    Of Ray: the `address` of a cluster (`auto` or None: the one that this machine is part of), and what a shard of each
    kind of work takes (`{"embed": {"gpu": 1}}`).
    """

    by: str = "local"
    jobs: int | None = None
    address: str | None = None
    resources: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.by not in POOLS:
            raise UsageError(
                f"there is no pool {self.by!r}.{did_you_mean(self.by, POOLS)} There are {', '.join(POOLS)}."
            )
        if self.by == "local" and (self.address is not None or self.resources):
            raise UsageError("an address and resources are for Ray: choose the pool ray (--pool ray).")
        if self.address is not None and not self.address.strip():
            raise UsageError(
                "the address of a Ray cluster is empty. Write HOST:PORT, or leave it out for that of this machine."
            )
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"the number of jobs must be 1 or more, found {self.jobs}.")
        for work in self.resources:
            if work not in WORK:
                raise UsageError(
                    f"resources are given for {work!r}, which is no work.{did_you_mean(work, WORK)} "
                    f"There is {', '.join(WORK)}."
                )
            for name, amount in self.resources[work].items():
                if type(amount) not in (int, float) or not 0 < amount < math.inf:
                    raise UsageError(f"{name} of {work} must be a number above 0, found {amount!r}.")

    @classmethod
    def of(cls, given: PoolSettings | str | Mapping[str, object] | None, jobs: int | None = None) -> PoolSettings:
        """Settings from what a function is called with: a name, a dict, or nothing."""
        if isinstance(given, PoolSettings):
            return given
        values: dict[str, object] = {"by": given} if isinstance(given, str) else dict(given or {})
        for name in values:
            if name not in cls.__dataclass_fields__:
                known = list(cls.__dataclass_fields__)
                raise UsageError(f"a pool has no {name!r}.{did_you_mean(name, known)} It has {', '.join(known)}.")
        if jobs is not None:
            values["jobs"] = jobs
        return cls(**values)  # type: ignore[arg-type]

    def open(self, logs: Path | None = None) -> Pool:
        """The pool; Ray is imported now, and its workers write `logs`."""
        if self.by == "local":
            return LocalPool(self.jobs)
        from karat.pool._ray import RayPool

        return RayPool(self, logs)


PoolChoice = PoolSettings | str | Mapping[str, object] | Pool | None
"""What functions take for a pool: settings, a name, a dict, one that is open already; None is the local one."""


def open_pool(given: PoolChoice, jobs: int | None = None, logs: Path | None = None) -> Pool:
    """The pool that a function is called with; one that is open already is taken as it is."""
    if given is None or isinstance(given, PoolSettings | str | Mapping):
        return PoolSettings.of(given, jobs).open(logs)
    return given
