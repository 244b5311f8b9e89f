"""Files that are sent to a server or received from one, beside JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

PIECE, _SECONDS_A_PIECE = 1 << 20, 10.0
"""Bytes that give a file more time, and how much."""


@dataclass(frozen=True)
class FileUpload:
    """A file that is sent as a form, with the fields beside it."""

    name: str
    stream: BinaryIO
    fields: Mapping[str, str]

    @property
    def seconds(self) -> float:
        """How much longer than other requests it may take."""
        return self.stream.seek(0, os.SEEK_END) / PIECE * _SECONDS_A_PIECE

    def form(self) -> dict[str, Any]:
        """What httpx makes a form of, the file from its beginning."""
        self.stream.seek(0)
        return {"data": dict(self.fields), "files": {"file": (self.name, self.stream, "application/jsonl")}}


@dataclass(frozen=True)
class BodyUpload:
    """Bytes that are sent as they are."""

    content: bytes

    @property
    def seconds(self) -> float:
        """How much longer than other requests it may take."""
        return len(self.content) / PIECE * _SECONDS_A_PIECE

    def form(self) -> dict[str, Any]:
        """What httpx sends."""
        return {"content": self.content}


@dataclass(frozen=True)
class FileDownload:
    """Where the body of a reply is written, and how many bytes it may have."""

    stream: BinaryIO
    largest: int
