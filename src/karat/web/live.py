"""Live: the rows that the journal of a running run holds already.

The journal is read on from where it was left, and only its lines of whole rows are looked into.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat.core.errors import InputError
from karat.experiment.store import JOURNAL
from karat.io.checksum import DamagedError, unsealed_line
from karat.io.limits import LINE_LIMIT
from karat.io.opening import range_pieces

MOST_READ = 8 << 20  # bytes of a journal that are read at once
_ROWS = (b'"system"', b'"answerer"')


@dataclass
class JournalTail:
    """The rows that a journal holds, read on from where it was left."""

    folder: Path
    read: int = 0
    rest: bytes = b""
    rows: dict[str, dict[str, str]] = field(default_factory=dict)  # question -> system -> status
    records: int = 0

    def read_on(self) -> None:
        """Take in what was appended since."""
        path = self.folder / JOURNAL
        with suppress(InputError, OSError):
            size = path.stat().st_size
            if path.is_symlink():
                return
            if size < self.read:  # it was begun anew
                self.read, self.rest, self.records = 0, b"", 0
                self.rows.clear()
            end = min(size, self.read + MOST_READ)
            for piece in range_pieces(path, self.read, end):
                self.read += len(piece)
                *lines, self.rest = (self.rest + piece).split(b"\n")
                self.rest = self.rest if len(self.rest) <= LINE_LIMIT else b""
                for line in lines:
                    self._take(line)

    def _take(self, line: bytes) -> None:
        self.records += 1
        if not any(sign in part for sign in _ROWS for part in (line[:2_000], line[-2_000:])):
            return
        with suppress(DamagedError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            record = unsealed_line(line)
            row = record["answer"] if "answerer" in record else record["row"]
            status = "failed" if row.get("status") == "failed" or row.get("error") else "ok"
            for system, id_ in record["for"] if "answerer" in record else [(record["system"], row["id"])]:
                self.rows.setdefault(str(id_), {})[str(system)] = status

    def page(self, offset: int, limit: int) -> dict[str, Any]:
        """Some rows as the API gives them: without scores, which are computed when all is there."""
        ids = list(self.rows)
        systems = list(dict.fromkeys(system for own in self.rows.values() for system in own))
        rows = [
            {"n": n, "id": id_, "text": "", "kind": None, "tags": {}, "scores": {},
             "status": dict(self.rows[id_]), "failure": {}, "labels": 0}
            for n, id_ in enumerate(ids[offset : offset + limit], offset)
        ]  # fmt: skip
        return {
            "total": len(ids), "offset": offset, "of": len(ids), "rows": rows, "measures": [], "systems": systems,
        }  # fmt: skip
