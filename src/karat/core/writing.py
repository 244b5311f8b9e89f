"""Writing files so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from karat.core.errors import InputError


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place when the block ends well."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, target)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(f"cannot be written: {reason}", place=str(path), remedy="Choose another place.") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """A file with this content (text as UTF-8), complete or not at all."""
    with replaced(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
