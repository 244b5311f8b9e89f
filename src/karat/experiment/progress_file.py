"""Progress file: what a run is doing, in a small file of its folder, for whoever watches it from another process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from karat.core.errors import InputError
from karat.io.writing import write_whole

Say = Callable[[str, int, int], None]
PROGRESS = "progress.json"
_EVERY = 1.0  # seconds


@contextmanager
def progress_written(folder: Path, say: Say) -> Iterator[Say]:
    """A `say` that writes into the folder too, at most once a second; the file goes with the block."""
    path = folder / PROGRESS
    step, begun, last = "", time.time(), 0.0

    def written_too(what: str, done: int, total: int) -> None:
        nonlocal step, begun, last
        say(what, done, total)
        if what != step:
            step, begun = what, time.time()
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            state = {"what": what, "done": done, "total": max(done, total), "begun": round(begun, 3)}
            with suppress(InputError):  # a run does not end because it cannot say how far it is
                write_whole(path, json.dumps(state) + "\n", private=True)

    try:
        yield written_too
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
