"""Calls of chat models, kept by content in one SQLite file: what was answered once is not paid for again."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from karat.core.errors import InputError
from karat.core.models import ChatReply
from karat.io.checksum import crc32
from karat.io.writing import private, private_folder, unwritable

_KIND = 0x6B617261
"""What marks the file as one of calls (SQLite's application id)."""
_VERSION = 1
_NO_SECONDS = -1.0
"""Stands for seconds that nobody knows: the column takes no NULL in files of earlier versions."""
_PATIENCE_SECONDS = 60.0
_TABLES = (
    """CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, purpose TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL,
    text TEXT NOT NULL, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL, seconds REAL NOT NULL,
    finish TEXT, created TEXT NOT NULL, crc32 TEXT)""",
    """CREATE TABLE IF NOT EXISTS failures (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL, request TEXT NOT NULL,
    reason TEXT NOT NULL, attempts INTEGER NOT NULL, created TEXT NOT NULL)""",
)
_HAS_CHECKSUMS = "SELECT count(*) FROM pragma_table_info('calls') WHERE name = 'crc32'"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call that was answered. `request` and `reply` are the bodies as they were sent and received, as JSON.

    `seconds` is None where the reply came in a batch.
    """

    key: str
    model: str
    purpose: str
    request: str
    reply: str
    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    finish: str | None
    created: str

    @property
    def cut(self) -> bool:
        """Whether the reply ended for want of tokens."""
        return self.finish == "length"


@dataclass(frozen=True, kw_only=True)
class FailedCall:
    """A call that failed after its retries. It is on record, and asked again the next time."""

    key: str
    model: str
    purpose: str
    request: str
    reason: str
    attempts: int
    created: str


_CALL = [field.name for field in fields(Call)]
_FAILED = [field.name for field in fields(FailedCall)]


class Calls:
    """The calls of a run, in one SQLite file. What that does not hold is looked for in `shared`, and copied from there.

    Each reply is in the file when `add` returns. Several processes may use the same files, above all the shared one:
    the lock is for the threads of this process, SQLite itself keeps processes apart.
    """

    def __init__(self, path: str | PathLike[str], shared: str | PathLike[str] | None = None) -> None:
        self.path, self._lock = Path(path), threading.Lock()
        self._shared = Calls(shared) if shared is not None and Path(shared) != self.path else None
        try:
            private_folder(self.path.parent)
            if not self.path.is_dir():
                open(self.path, "ab", opener=private).close()
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._open()
        except BaseException as problem:
            self.close()
            if isinstance(problem, (OSError, sqlite3.Error)):
                raise _unusable(self.path, problem) from None
            raise

    def _open(self) -> None:
        tables = self._number("SELECT count(*) FROM sqlite_master")  # first: another process may be making them
        kind, version = self._number("PRAGMA application_id"), self._number("PRAGMA user_version")
        if tables and kind != _KIND:
            raise InputError("is a database of something else", place=str(self.path), remedy="Choose another file.")
        if version > _VERSION:
            raise InputError(
                "was written by a newer karat", place=str(self.path), remedy="Update karat, or choose another file."
            )
        self._write_ahead()
        self.rows("PRAGMA synchronous = NORMAL")
        if tables and version == _VERSION and self._number(_HAS_CHECKSUMS):
            return
        self.rows("BEGIN IMMEDIATE")  # another process may do the same
        for statement in _TABLES:
            self.rows(statement)
        if not self._number(_HAS_CHECKSUMS):  # an earlier karat made the file
            self.rows("ALTER TABLE calls ADD COLUMN crc32 TEXT")
        self.rows(f"PRAGMA application_id = {_KIND}")
        self.rows(f"PRAGMA user_version = {_VERSION}")
        self.rows("COMMIT")

    def _write_ahead(self) -> None:
        """Readers beside a writer, and quick commits. SQLite does not wait here, so that karat has to."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def get(self, key: str) -> Call | None:
        """The call that was answered under a key, or None."""
        call = next(self._calls("WHERE key = ?", key), None)
        if call is not None and call.key != key:
            raise self._damaged(key)
        if call is None and self._shared is not None and (call := self._shared.get(key)):
            self._add(call)
        return call

    @property
    def outermost(self) -> Calls:
        """The file that the most runs have in common: the shared one, where there is one."""
        return self if self._shared is None else self._shared.outermost

    def add(self, call: Call) -> bool:
        """Keep a call that was answered; whether it is new. One that stands there already stays as it is."""
        is_new = self._add(call)
        return is_new if self._shared is None else self._shared.add(call)

    def _add(self, call: Call) -> bool:
        columns = [*_CALL, "crc32"]
        stored = replace(call, seconds=_NO_SECONDS) if call.seconds is None else call
        return self._insert("calls", columns, *astuple(stored), _checksum(stored))

    def add_failure(self, failed: FailedCall) -> None:
        """Put a call that failed on record."""
        self._insert("failures", _FAILED, *astuple(failed))

    def _insert(self, table: str, columns: list[str], *values: Any) -> bool:
        marks = ", ".join("?" for _ in columns)
        statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        with self._lock, self._problems_told(), closing(self._connection.execute(statement, values)) as cursor:
            return cursor.rowcount > 0

    def __iter__(self) -> Iterator[Call]:
        """Every call of the run that was answered, in the order in which they were."""
        return self._calls("ORDER BY created, key")

    def __len__(self) -> int:
        return self._number("SELECT count(*) FROM calls")

    def failures(self) -> list[FailedCall]:
        """Every call of the run that failed, in the order in which they did."""
        rows = self.rows(f"SELECT {', '.join(_FAILED)} FROM failures ORDER BY id")
        return [FailedCall(**dict(zip(_FAILED, row, strict=True))) for row in rows]

    def _calls(self, which: str, *values: Any) -> Iterator[Call]:
        """Calls, each as it was written; one that is not goes, so that it can be asked again."""
        for *row, checksum in self.rows(f"SELECT {', '.join(_CALL)}, crc32 FROM calls {which}", *values):
            call = Call(**dict(zip(_CALL, row, strict=True)))
            if checksum is not None and checksum != _checksum(call):
                raise self._damaged(*(values or (call.key,)))
            yield replace(call, seconds=None) if call.seconds == _NO_SECONDS else call

    def _damaged(self, key: str) -> InputError:
        self.rows("DELETE FROM calls WHERE key = ?", key)
        return InputError(
            "a reply in it was damaged (its checksum differs) and is taken out",
            place=str(self.path),
            remedy="Run the same command again: that one is repeated, the others are kept.",
        )

    def _number(self, query: str) -> int:
        return int(self.rows(query)[0][0])

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        with self._lock, self._problems_told(), closing(self._connection.execute(statement, values)) as cursor:
            return cursor.fetchall()

    @contextmanager
    def durably(self) -> Iterator[sqlite3.Connection]:
        """Several statements as one; they are on the disk, and outlast a power cut, when the block ends."""
        with self._lock, self._problems_told():
            self._connection.execute("PRAGMA synchronous = FULL")
            try:
                with closing(self._connection.execute("BEGIN IMMEDIATE")):
                    yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._connection.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _problems_told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise _unusable(self.path, problem) from None

    def close(self) -> None:
        """Let go of the files."""
        if self._shared is not None:
            self._shared.close()
        with self._lock, suppress(sqlite3.Error, AttributeError):  # it may not have been opened
            self._connection.close()

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def reply_of(call: Call) -> ChatReply:
    """The reply of a call that is kept."""
    return ChatReply(
        call.text,
        model=call.model,
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        cost_usd=call.cost_usd,
        seconds=call.seconds,
        cut=call.cut,
        cached=True,
    )


def now() -> str:
    """This moment, as calls are dated."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _checksum(call: Call) -> str:
    return crc32(repr(astuple(call)).encode("utf-8", "surrogatepass"))


def _unusable(path: Path, problem: Exception) -> InputError:
    """What is wrong with a file of calls, and what to do."""
    place, words = str(path), str(problem)
    if isinstance(problem, OSError):
        return unwritable(path, problem)
    if "locked" in words or "busy" in words:
        remedy = "Wait until the other process is done."
        return InputError("is held by another process", place=place, remedy=remedy)
    if isinstance(problem, sqlite3.ProgrammingError):
        return InputError("was closed already", place=place, remedy="Open it again.")
    if isinstance(problem, sqlite3.OperationalError):
        return InputError(f"cannot be used: {words}", place=place, remedy="See to its folder, room and permissions.")
    return InputError(
        f"is damaged, or no file of calls: {words}",
        place=place,
        remedy="Put it back from a copy, or delete it with its -wal and -shm files and pay for the calls again.",
    )
