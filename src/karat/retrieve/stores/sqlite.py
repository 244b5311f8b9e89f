"""`sqlite:FILE#table`: a full-text table (FTS5) of SQLite, searched as it is by the words of a query.

A row that holds any of the words is a hit. SQLite's bm25() is below 0 and lower is better: the score is -bm25(). The
file is opened read-only.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Self

from karat.core.docs import Chunk
from karat.core.errors import InputError, UsageError
from karat.retrieve._store_target import SECONDS, StoreTarget, chosen, store_errors
from karat.retrieve._stored import TextStore, chunk_of

if TYPE_CHECKING:
    from karat.models import Embedder

_FTS5 = re.compile(r"\s*create\s+virtual\s+table\b.*?\busing\s+fts5\b", re.IGNORECASE | re.DOTALL)
_LONGEST = 64_000_000  # bytes of a value
_STEPS = 10_000  # of SQLite's machine between two looks at the clock
_SAMPLE = 16


class SqliteStore(TextStore):
    """A table of FTS5."""

    name: ClassVar[str] = "sqlite"

    def __init__(self, target: StoreTarget, connection: sqlite3.Connection) -> None:
        self._target, self._connection, self._until = target, connection, 0.0
        connection.set_progress_handler(lambda: monotonic() > self._until, _STEPS)
        self._table = _quoted(target.name)
        present = [row[1] for row in self._rows(f"PRAGMA table_info({self._table})")]
        self._columns = target.columns(present)
        ((total,),) = self._rows(f"SELECT count(*) FROM {self._table}")
        super().__init__(target.shown, total)
        named = [column for name, column in self._columns.items() if name != "id"]
        if "text" not in self._columns:
            raise UsageError(
                f"{self.place} has no column that is called text. Its columns are {', '.join(present)}: name one with "
                f"#{target.name}?text=COLUMN."
            )
        self._named = ["rowid", *([self._columns["id"]] if "id" in self._columns else []), *named]
        self._selected = ", ".join(["rowid", *map(_quoted, self._named[1:])])
        self.notes += ("scores are -bm25() of SQLite, whose bm25() is lower for the better.",)
        sample = self._rows(f"SELECT {self._selected} FROM {self._table} LIMIT {_SAMPLE}")
        self.notes += target.notes(dict(zip(self._named, row, strict=True)) for row in sample)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target)
        file = Path(parsed.place).expanduser()
        if not file.is_file():
            raise InputError("there is no such file", place=parsed.place, remedy="Name a database of SQLite.")
        with _sqlite_errors(parsed.place):
            connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            connection.execute("PRAGMA trusted_schema = OFF")  # functions that the file's own views name are not run
            connection.execute("PRAGMA query_only = ON")
            listed = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        names = [name for name, statement in listed if _FTS5.match(statement or "")]
        name = chosen(parsed, names, "FTS5 table")
        return cls(StoreTarget(cls.name, parsed.place, name, parsed.options), connection)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """No host: it is a file."""
        StoreTarget.parse(cls.name, target)
        return None

    def matching(self, query: str, depth: int) -> tuple[list[Chunk], list[float]]:
        words = dict.fromkeys(query.replace("\0", " ").split())
        if not words:
            return [], []
        wanted = " OR ".join(map(_quoted, words))
        rows = self._rows(
            f"SELECT {self._selected}, bm25({self._table}) FROM {self._table} WHERE {self._table} MATCH ? "
            f"ORDER BY bm25({self._table}), rowid LIMIT ?",
            (wanted, depth),
        )
        return [self._chunk(row[:-1]) for row in rows], [-float(row[-1]) for row in rows]

    def _chunk(self, row: tuple[Any, ...]) -> Chunk:
        record = dict(zip(self._named, row, strict=True))
        rowid = record.pop("rowid")
        id_ = self._target.id_text(record.get(self._columns.get("id", "")), rowid)
        return chunk_of(id_, self._target.record(record), reader=self._target.reader)

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        self._until = monotonic() + SECONDS
        with _sqlite_errors(self._target.shown):
            return self._connection.execute(statement, values).fetchall()


store = SqliteStore


def _quoted(name: str) -> str:
    """A name in SQL, or a word of a query: both are quoted alike."""
    return '"' + name.replace('"', '""') + '"'


def _sqlite_errors(place: str) -> AbstractContextManager[None]:
    remedy = (
        f"See that the file is a database that SQLite {sqlite3.sqlite_version} reads, and no query takes {SECONDS:g} s."
    )
    return store_errors("SQLite", place, (sqlite3.Error, OverflowError, UnicodeError), remedy)
