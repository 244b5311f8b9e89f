"""A lock on a folder: one process at a time. It goes with the process that holds it, however that ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from karat.core.errors import InputError, UsageError
from karat.io.writing import private, unwritable

LOCK = ".lock"
_MOMENT = 0.01  # seconds


@contextmanager
def locked(folder: Path, busy: str, name: str = LOCK, *, tries: int = 3) -> Iterator[None]:
    """Hold the folder's lock for the block, or one of another name in it; `busy` says what to do where it is held.

    It is tried a few times: who only looks whether a folder is locked holds its lock for a moment.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    try:
        lock = open(folder / name, "a+b", opener=private)  # noqa: SIM115
    except OSError as problem:
        raise unwritable(folder, problem) from None
    with lock:
        for left in reversed(range(tries)):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if not left:
                    raise UsageError(f"{folder}: {busy}") from None
                time.sleep(_MOMENT)
        yield


def is_locked(folder: Path) -> bool:
    """Whether another process holds the folder's lock."""
    try:
        with locked(folder, "", tries=1):
            return False
    except UsageError:
        return True
    except InputError:
        return False
