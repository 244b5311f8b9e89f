"""A lock on a folder: one process at a time. It goes with the process that holds it, however that ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from karat.core.errors import InputError, UsageError
from karat.io.writing import private, unwritable

LOCK = ".lock"


@contextmanager
def locked(folder: Path, busy: str, name: str = LOCK) -> Iterator[None]:
    """Hold the folder's lock for the block, or one of another name in it; `busy` says what to do where it is held."""
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
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{folder}: {busy}") from None
        yield


def is_locked(folder: Path) -> bool:
    """Whether another process holds the folder's lock."""
    try:
        with locked(folder, ""):
            return False
    except UsageError:
        return True
    except InputError:
        return False
