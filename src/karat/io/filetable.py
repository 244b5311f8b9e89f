"""The files of a folder that karat wrote, by size and checksums: a table that tells later whether they are still so."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.io.checksum import file_crc32, file_sha256

FileTable = Mapping[str, Mapping[str, Any]]
"""By the name of a file below the folder: `bytes`, `crc32` and `sha256` (0.1 wrote no `crc32`)."""

SMALL = 8 << 20
"""Files up to this size are checksummed whenever their folder is opened; larger ones when they are needed."""
CHANGED = "{} is not what was written: its checksum differs"
_BLOCK = 1 << 20
_LINK = -1


def file_table(folder: Path) -> dict[str, dict[str, Any]]:
    """The table of all files below a folder, in the order of their names."""
    sizes = {name: size for name, size in sorted(_sizes(folder).items()) if size != _LINK}
    return {name: {"bytes": size, **_checksums(folder / name)} for name, size in sizes.items()}


def is_file_table(table: Any) -> bool:
    """Whether this is a table as `file_table` makes it of a folder that holds something."""
    return (
        isinstance(table, dict)
        and bool(table)
        and all(
            isinstance(one, dict) and isinstance(one.get("bytes"), int) and isinstance(one.get("sha256"), str)
            for one in table.values()
        )
    )


def fault(
    folder: Path, table: FileTable, *, small: bool = True, large: bool = False, fully: bool = False
) -> str | None:
    """What is wrong with the files of a folder, if anything is. None of them may lead out of it.

    Sizes are compared always, checksums of `small` and `large` files unless not asked for; `fully` all, by sha256.
    """
    if folder.is_symlink():
        return f"{folder.name} is a link"
    sizes = _sizes(folder) if folder.is_dir() else {}
    for name, size in sizes.items():
        if size == _LINK:
            return f"{name} is a link"
    for name, expected in table.items():
        if name not in sizes:
            return f"{name} is missing"
        if sizes[name] != expected["bytes"]:
            return f"{name} has {sizes[name]:,} bytes instead of {expected['bytes']:,}"
        is_meant = small if sizes[name] <= SMALL else large
        if (fully or is_meant) and not _is_sound(folder / name, expected, fully=fully):
            return CHANGED.format(name)
    return None


def part_fault(
    folder: Path, table: FileTable, beginning: str = "", *, small: bool = False, but: tuple[str, ...] = ()
) -> str | None:
    """What is wrong with the files of a folder whose names begin so, by the checksums of the large or of all.

    Those whose names begin as one of `but` are left out.
    """
    for name, expected in table.items():
        is_meant = name.startswith(beginning) and (small or expected["bytes"] > SMALL)
        if is_meant and not name.startswith(but) and not _is_sound(folder / name, expected):
            return CHANGED.format(name)
    return None


def _is_sound(file: Path, expected: Mapping[str, Any], *, fully: bool = False) -> bool:
    """Whether a file is what was written, by the faster of its checksums where it has one, or `fully`."""
    if fully or "crc32" not in expected:
        return bool(file_sha256(file) == expected["sha256"])
    return bool(file_crc32(file) == expected["crc32"])


def _checksums(file: Path) -> dict[str, str]:
    """Both checksums of a file, which is read once."""
    crc32, sha256 = 0, hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            crc32 = zlib.crc32(block, crc32)
            sha256.update(block)
    return {"crc32": f"{crc32:08x}", "sha256": sha256.hexdigest()}


def _sizes(folder: Path) -> dict[str, int]:
    """The size of each file below a folder, by its name; `_LINK` for what is a link, which is not followed."""
    sizes: dict[str, int] = {}
    below = [""]
    for parent in below:
        with os.scandir(folder / parent) as entries:
            for entry in entries:
                name = parent + entry.name
                if entry.is_symlink():
                    sizes[name] = _LINK
                elif entry.is_dir():
                    below.append(f"{name}/")
                elif entry.is_file():
                    sizes[name] = entry.stat().st_size
    return sizes
