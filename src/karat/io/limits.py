"""Limits for hostile input: how much of the machine one file may take before it is refused, each with its reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from karat.core.errors import UsageError, did_you_mean

LINE_LIMIT = 64 << 20
"""The longest line that is read, in bytes: a record of a whole book fits."""

TEXT_LIMIT = 2 << 30
"""The most that is read of one file at once, in bytes after decompression: more does not fit a common machine twice."""

UNPACK_RATIO = 100
"""How many times its own size a packed file may unpack to: text packs 3 to 20 times, deflate reaches 1,000."""

UNPACK_FREE = 32 << 20
"""What any packed file may unpack to, whatever the ratio, in bytes: parsed as JSON it takes less than 1 GB."""

REPEATED_FREE = 256 << 20
"""The texts that a small table may hold, in bytes, those counted again that it stores once and names in many rows."""

GROWTH = 20
"""How much of memory and text is granted for each byte of a file, on top of what any file may take."""


def unpacked_most(size: int) -> int:
    """The most that a packed file of this size may unpack to, in bytes."""
    return max(UNPACK_FREE, size * UNPACK_RATIO)


@dataclass(frozen=True, kw_only=True)
class ReadLimits:
    """What reading one document may take; the file that takes more is not read, and the rest goes on.

    Memory and text grow with the file, by GROWTH times its size: a large corpus in one file is no attack.
    """

    memory_mb: int = 1024
    """A PDF of thousands of pages takes 100 to 300 MB; a machine of 4 GB survives this much."""
    seconds: float = 120.0
    """Common PDFs are read at hundreds of pages a second."""
    pages: int = 20_000
    """The largest printed works have some thousands; a folder scanned into one file may have more."""
    text_mb: int = 64
    """The text of a printed page is 3 KB: 20,000 pages fit."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or value <= 0 or (field.name != "seconds" and value != int(value)):
                raise UsageError(f"the limit {field.name} is {value!r}. Write a number above 0.")

    @classmethod
    def of(cls, limits: ReadLimits | Mapping[str, Any] | None) -> ReadLimits:
        """Limits as given, the default for those that are None or not named."""
        if isinstance(limits, ReadLimits):
            return limits
        known = [field.name for field in fields(cls)]
        for name in limits or ():
            if name not in known:
                raise UsageError(
                    f"there is no limit {name!r}.{did_you_mean(str(name), known)} Limits: {', '.join(known)}."
                )
        return cls(**{name: value for name, value in (limits or {}).items() if value is not None})

    def memory(self, size: int) -> int:
        """The memory that reading a file of this size may take, in bytes."""
        return (self.memory_mb << 20) + GROWTH * size

    def text(self, size: int) -> int:
        """The text that a file of this size may give, in bytes."""
        return max(self.text_mb << 20, GROWTH * size)


def raise_limit(option: str, key: str) -> str:
    """How a user grants more to a file."""
    return f"If you trust it, raise the limit: `karat index --{option}`, or `reading: {{{key}: ...}}` in karat.yaml."
