"""`pgvector:DSN#table`: vectors in PostgreSQL, searched as they are, by the index of their column where there is one.

DSN is `postgresql://user@host:5432/database`, `service=NAME` or `host=... dbname=...`; the password stands in
PGPASSWORD, ~/.pgpass or a service file. Distances are those of the index (its operator class), cosine without one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.docs import Chunk
from karat.core.errors import UsageError
from karat.retrieve._postgres import PostgresTable, host_named, missing_extension
from karat.retrieve._store_target import StoreTarget
from karat.retrieve._stored import Found, VectorStore, from_l2

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from karat.models import Embedder

_OPERATORS = {"cosine": "<=>", "ip": "<#>", "l2": "<->"}
_TYPES = ("vector", "halfvec")
_SAMPLE = 33
_INDEXES = """
SELECT am.amname, opc.opcname FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam
JOIN pg_opclass opc ON opc.oid = i.indclass[0]
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %s AND a.attname = %s AND i.indisvalid AND am.amname IN ('hnsw', 'ivfflat')
ORDER BY c.relname
"""
_SCHEMA = """
SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""
_EFFORT = {"hnsw": "hnsw.ef_search", "ivfflat": "ivfflat.probes"}


class PgvectorStore(VectorStore):
    """A column of vectors in a table or a view."""

    name: ClassVar[str] = "pgvector"

    def __init__(self, target: StoreTarget, table: PostgresTable, embedder: Embedder | None) -> None:
        self._table = table
        schema = table.rows(_SCHEMA)
        if not schema:
            raise missing_extension(table)
        self._schema = table.identifier(schema[0][0])
        self._column, (self._type, dimension) = self._vector(target)
        indexes = table.rows(_INDEXES, [table.oid, self._column])
        by_index = {_metric(opclass): method for method, opclass in reversed(indexes)}
        self._metric = target.options.get("metric") or next(iter(reversed(by_index)), "cosine")
        method = by_index.get(self._metric)
        vectors = self._sample()
        size = dimension if dimension > 0 else vectors.shape[1] if len(vectors) else None
        super().__init__(table.place, table.count(), size, embedder)
        self.describe_scores(self._metric, vectors)
        records = table.rows(table.sql.SQL("SELECT {} FROM {} LIMIT 16").format(table.selected(), table.table))
        self.notes += target.notes(map(table.record, records))
        if method is not None:
            self._describe_index(method, vectors)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, ("metric",))
        return cls(parsed, PostgresTable(parsed), embedder)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of the database."""
        return host_named(StoreTarget.parse(cls.name, target, ("metric",)))

    def _vector(self, target: StoreTarget) -> tuple[str, tuple[str, int]]:
        """The column of vectors, its type and how many numbers each has, -1 where that differs."""
        table = self._table
        named = target.column("vector", list(table.types)) if "vector" in target.options else None
        able = [name for name, (kind, _) in table.types.items() if kind in _TYPES]
        if named is not None and named not in able:
            raise UsageError(f"{table.place}: the column {named!r} holds no vectors, but {table.types[named][0]}.")
        if named is None and len(able) != 1:
            which = f"several columns of vectors ({', '.join(able)})" if able else "no column of vectors"
            raise UsageError(f"{table.place} has {which}. Name one: #{target.name}?vector=COLUMN.")
        column = named or able[0]
        return column, table.types[column]

    def _sample(self) -> NDArray[np.float64]:
        """Some vectors of the table."""
        table, column = self._table, self._table.identifier(self._column)
        rows = table.rows(
            table.sql.SQL("SELECT {}::text FROM {} WHERE {} IS NOT NULL LIMIT {}").format(
                column, table.table, column, _SAMPLE
            )
        )
        vectors = [json.loads(text) for (text,) in rows]
        if len({len(vector) for vector in vectors}) > 1:
            raise UsageError(f"{table.place}: vectors of the column {self._column!r} differ in their dimension.")
        return np.array(vectors, np.float64) if vectors else np.zeros((0, 0))

    def _describe_index(self, method: str, vectors: NDArray[np.float64]) -> None:
        ((effort,),) = self._table.rows("SELECT coalesce(current_setting(%s, true), '')", [_EFFORT[method]])
        self.describe_recall(method, vectors, self._found(exact=True))
        most = " A query returns so many rows at most." if method == "hnsw" else ""
        self.notes += (
            f"{_EFFORT[method]} is {effort or 'the default'}, as the server has it.{most} "
            f"ALTER ROLE or ALTER DATABASE ... SET {_EFFORT[method]} changes it.",
        )

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        return self._found()(queries, depth)

    def _found(self, *, exact: bool = False) -> Callable[[NDArray[np.float32], int], Found]:
        """A search, by the index or by going through all rows."""
        sql, table = self._table.sql, self._table
        statement = sql.SQL(
            "SELECT {}, {} OPERATOR({}.{}) %s::{}.{} AS karat_distance FROM {} ORDER BY karat_distance LIMIT %s"
        ).format(
            table.selected(), table.identifier(self._column), self._schema, sql.SQL(_OPERATORS[self._metric]),
            self._schema, sql.SQL(self._type), table.table,
        )  # fmt: skip
        settings = {"enable_indexscan": "off", "enable_indexonlyscan": "off"} if exact else {}

        def search(queries: NDArray[np.float32], depth: int) -> Found:
            numbers: list[int] = []
            chunks: list[Chunk] = []
            distances: list[float] = []
            for number, query in enumerate(queries):
                rows = table.rows(statement, [f"[{','.join(map(repr, query.tolist()))}]", depth], settings)
                with_distance = [row for row in rows if row[-1] is not None]
                numbers += [number] * len(with_distance)
                chunks += map(table.chunk, with_distance)
                distances += [row[-1] for row in with_distance]
            return numbers, chunks, self._scores(np.array(distances, np.float64)).tolist()

        return search

    def _scores(self, distances: NDArray[np.float64]) -> NDArray[Any]:
        if self._metric == "l2":
            return from_l2(distances**2)
        return -distances if self._metric == "ip" else 1.0 - distances


store = PgvectorStore


def _metric(opclass: str) -> str:
    """cosine, ip or l2, by the operator class of an index."""
    return next((metric for metric in _OPERATORS if f"_{metric}_" in opclass), "cosine")
