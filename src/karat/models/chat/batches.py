"""Batches on record: what was sent to a server's batch endpoints, in the file of calls, until its replies are there.

A batch is on record with a random token before anything of it is sent, so that one whose submission was cut off can be
found again at the server, and none is sent twice. The record outlasts the process, a kill and a power cut. Requests of
a batch are kept for as long as it is under way.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from karat.models.chat.cache import Calls, now

REGISTERED, CREATING, SUBMITTED = "registered", "creating", "submitted"
"""States: nothing that costs was sent; its creation was asked for, and may have been done; the server has it."""
_TABLES = (
    """CREATE TABLE IF NOT EXISTS batches (
    token TEXT PRIMARY KEY, server TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, created TEXT NOT NULL,
    state TEXT NOT NULL, file_id TEXT, batch_id TEXT)""",
    """CREATE TABLE IF NOT EXISTS batch_requests (
    token TEXT NOT NULL, custom_id TEXT NOT NULL, key TEXT NOT NULL, purpose TEXT NOT NULL, request TEXT NOT NULL,
    PRIMARY KEY (token, custom_id))""",
)
_EXISTS = "SELECT count(*) FROM sqlite_master WHERE name = 'batch_requests'"


@dataclass(frozen=True, kw_only=True)
class BatchRecord:
    """A batch as it is on record. `state` is one of this module's while it is under way, the server's at its end."""

    token: str
    server: str
    model: str
    requests: int
    created: str
    state: str = REGISTERED
    file_id: str | None = None
    batch_id: str | None = None


@dataclass(frozen=True)
class BatchRequest:
    """A request of a batch: the id that its reply will bear, the key of its call, and its body as JSON."""

    custom_id: str
    key: str
    purpose: str
    request: str


_RECORD = [field.name for field in fields(BatchRecord)]


class Batches:
    """The batches of a file of calls; of the shared one where there is one, since other runs may ask the same."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls.outermost

    def tokens(self) -> dict[str, str]:
        """The token of the batch that holds a request, by the key of its call, for batches that are under way."""
        return dict(self._rows("SELECT key, token FROM batch_requests"))

    def sent(self, keys: Collection[str]) -> set[str]:
        """Those of these calls that are in a batch which was sent, as far as is known, and not read."""
        sent = "SELECT key FROM batch_requests JOIN batches USING (token) WHERE state IN (?, ?)"
        return {key for (key,) in self._rows(sent, CREATING, SUBMITTED) if key in keys}

    def record(self, token: str) -> BatchRecord:
        """A batch by its token."""
        (row,) = self._rows(f"SELECT {', '.join(_RECORD)} FROM batches WHERE token = ?", token)
        return BatchRecord(**dict(zip(_RECORD, row, strict=True)))

    def requests(self, token: str) -> list[BatchRequest]:
        """The requests of a batch that is under way, in their order."""
        wanted = "SELECT custom_id, key, purpose, request FROM batch_requests WHERE token = ? ORDER BY rowid"
        return [BatchRequest(*row) for row in self._rows(wanted, token)]

    def register(self, server: str, model: str, requests: Sequence[tuple[str, str, str]]) -> BatchRecord:
        """Put a batch on record before it is sent: the key, the purpose and the body of each request."""
        token = secrets.token_hex(16)
        record = BatchRecord(token=token, server=server, model=model, requests=len(requests), created=now())
        rows = [(token, f"{token[:12]}-{number}", *request) for number, request in enumerate(requests, 1)]
        with self.calls.durably() as connection:
            for table in _TABLES:
                connection.execute(table)
            marks = ", ".join("?" for _ in _RECORD)
            connection.execute(f"INSERT INTO batches ({', '.join(_RECORD)}) VALUES ({marks})", astuple(record))
            connection.executemany("INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?)", rows)
        return record

    def update(self, record: BatchRecord, **values: str) -> BatchRecord:
        """Put on record how far a batch is."""
        with self.calls.durably() as connection:
            for name, value in values.items():
                connection.execute(f"UPDATE batches SET {name} = ? WHERE token = ?", (value, record.token))
        return self.record(record.token)

    def close(self, record: BatchRecord, state: str) -> None:
        """A batch is over, and what it brought is kept. Its requests go."""
        with self.calls.durably() as connection:
            connection.execute("UPDATE batches SET state = ? WHERE token = ?", (state, record.token))
            connection.execute("DELETE FROM batch_requests WHERE token = ?", (record.token,))

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.calls.rows(query, *values) if self.calls.rows(_EXISTS)[0][0] else []
