"""Writing files so that a reader sees the old one or the new one, never half of it; and some for their user alone.

A file is written beside its target and takes its place in one step. What a writer that was killed left there goes with
the next one of the same target: a writer holds a lock on what it writes, and the system lets go of it when it ends.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from karat.core.errors import InputError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
"""What a system says where nothing more can be written."""
PART = r"\.[0-9a-f]{8}\.part"
"""How the name of a file ends that is to take the place of another; it begins with a dot and the other's name."""

Content = str | bytes | Iterable[str]
"""What a file holds: text, bytes, or parts of a text one after another."""


@contextmanager
def replaced(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place when the block ends well."""
    target = Path(path)
    if not target.name:  # such as "." and "/"
        raise unwritable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        with _held(part, 0o600 if private else 0o666):
            yield part
            os.replace(part, target)
    except OSError as problem:
        raise unwritable(path, problem) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: Content, *, private: bool = False) -> None:
    """A file with this content (text as UTF-8, in parts where it is long), complete or not at all."""
    with replaced(path, private=private) as part, part.open("wb") as file:
        for piece in (content,) if isinstance(content, str | bytes) else content:
            file.write(piece.encode() if isinstance(piece, str) else piece)


def private(path: str, flags: int) -> int:
    """The `opener` of a file that nobody but its user may read, where it is made anew.

    A link is not followed: in a folder from a stranger it would lead to another file of the user's.
    """
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def private_folder(path: Path) -> None:
    """Make a folder that nobody but its user may look into; one that stands there stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)


def unwritable(
    path: str | os.PathLike[str], problem: OSError, what: str = "cannot be written", *, remedy: str | None = None
) -> InputError:
    """What to say of a place that cannot be written; `remedy` where nobody gives a command or chooses the place."""
    full = problem.errno in NO_ROOM
    usual = "Make room, then run the same command again." if full else "Choose another place."
    return InputError(f"{what}: {problem.strerror or problem}", place=str(path), remedy=remedy or usual)


@contextmanager
def _held(part: Path, mode: int) -> Iterator[None]:
    """A new file, locked for the block."""
    file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    try:
        if not _lock(file):  # no such locks here, and open files cannot be replaced
            os.close(file)
            file = -1
        yield
    finally:
        if file >= 0:
            os.close(file)


def _sweep(target: Path) -> None:
    """Remove what writers of the target left that are no more."""
    left = re.compile(rf"\.{re.escape(target.name)}{PART}")
    parts: list[str] = []
    with suppress(OSError), os.scandir(target.parent) as entries:
        parts = [entry.path for entry in entries if left.fullmatch(entry.name)]
    for part in parts:
        with suppress(OSError):
            file = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _lock(file):
                    os.unlink(part)
            finally:
                os.close(file)


def _lock(file: int) -> bool:
    """Whether an open file could be locked: no other process is at it."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
