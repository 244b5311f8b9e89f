"""Progress file: what a run is doing, in a small file of its folder, for whoever watches it from another process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.core.errors import InputError
from karat.core.progress import Progress, seconds_left
from karat.core.text.words import money
from karat.io.cells import known_number
from karat.io.writing import write_whole

PROGRESS = "progress.json"
_EVERY = 1.0  # seconds
_MOST_BYTES = 4_096
_MOST_LETTERS = 200


class WrittenProgress:
    """A `say` that writes into a folder too, at most once a second; `spent` tells what models were paid so far."""

    def __init__(self, path: Path, say: Progress) -> None:
        self._path, self._say = path, say
        self._step, self._first, self._begun, self._last = "", 0, time.time(), 0.0
        self.spent: Callable[[], Sequence[Mapping[str, Any]]] = lambda: ()

    def __call__(self, what: str, done: int, total: int) -> None:
        self._say(what, done, total)
        if what != self._step:
            self._step, self._first, self._begun = what, done, time.time()
        if time.monotonic() - self._last >= _EVERY:
            self._last = time.monotonic()
            costs = [one["cost_usd"] for one in self.spent() if one.get("cost_usd") is not None]
            state = {"what": what, "done": done, "total": max(done, total), "first": self._first}
            state["begun"] = round(self._begun, 3)
            state |= {"cost_usd": sum(costs)} if costs else {}
            with suppress(InputError):  # a run does not end because it cannot say how far it is
                write_whole(self._path, json.dumps(state) + "\n", private=True)


@contextmanager
def progress_written(folder: Path, say: Progress) -> Iterator[WrittenProgress]:
    """A `say` that writes into the folder too; the file goes with the block."""
    path = folder / PROGRESS
    try:
        yield WrittenProgress(path, say)
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class RunProgress:
    """What a run is doing, and what models were paid for it so far, where any were."""

    what: str
    done: int
    total: int
    seconds_left: float | None
    cost_usd: float | None = None

    @property
    def sentence(self) -> str:
        """How far it is, in words.

        >>> RunProgress("searching", 25, 100, 32.4, 1.5).sentence
        'searching: 25 of 100, about 32 s left; 1.50 USD so far'
        """
        left = f", about {self.seconds_left:,.0f} s left" if self.seconds_left is not None else ""
        cost = f"; {money(self.cost_usd)} so far" if self.cost_usd is not None else ""
        return f"{self.what}: {self.done:,} of {self.total:,}{left}{cost}"

    @classmethod
    def of(cls, folder: Path) -> RunProgress | None:
        """What a run says it is doing; None where it says nothing."""
        path = folder / PROGRESS
        try:
            if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
                return None
            held = json.loads(path.read_text("utf-8"))
            what, done, total, begun = (held[name] for name in ("what", "done", "total", "begun"))
            first, cost = held.get("first", 0), known_number(held.get("cost_usd"))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        if not isinstance(what, str) or type(done) is not int or type(total) is not int:
            return None
        if not 0 <= done <= total < 2**53:
            return None
        left, since = None, known_number(begun)
        if since is not None and type(first) is int and first >= 0:
            left = known_number(seconds_left(done, total, time.time() - since, first))
        cost = cost if cost is None or cost >= 0 else None
        return cls(what[:_MOST_LETTERS], done, total, None if left is None else round(left, 1), cost)
