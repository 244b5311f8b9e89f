"""`lancedb:FOLDER#table`: a table of LanceDB in a folder, searched as it is, by the index of its vectors or without.

Distances are those of the index; without one cosine, unless `#table?metric=l2` or `ip` says otherwise.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.docs import Chunk
from karat.core.errors import InputError, UsageError
from karat.retrieve._store_target import StoreTarget, chosen, driver, store_errors
from karat.retrieve._stored import Found, VectorStore, chunk_of, from_l2

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from karat.models import Embedder

_METRICS = {"cosine": "cosine", "dot": "ip", "l2": "l2"}
_NAMES = {ours: theirs for theirs, ours in _METRICS.items()}
_SAMPLE = 33
_FAULTS = (RuntimeError, OSError, ValueError, KeyError, TypeError)


class LancedbStore(VectorStore):
    """A table of LanceDB."""

    name: ClassVar[str] = "lancedb"

    def __init__(self, target: StoreTarget, table: Any, embedder: Embedder | None) -> None:
        self._target, self._table = target, table
        with self._errors():
            schema, total = table.schema, int(table.count_rows())
            indexes = [
                index for index in table.list_indices() if "Ivf" in index.index_type or "IVF" in index.index_type
            ]
            self._column, dimension = self._vector(schema)
            index = next((one for one in indexes if list(one.columns) == [self._column]), None)
            measured = _METRICS.get(str(table.index_stats(index.name).distance_type)) if index is not None else None
            self._columns = target.columns([name for name in schema.names if name != self._column])
            sample = table.head(_SAMPLE).to_pylist()
        self._metric = target.options.get("metric") or measured or "cosine"
        super().__init__(target.shown, total, dimension, embedder)
        vectors = np.array([row[self._column] for row in sample if row[self._column] is not None], np.float64)
        self.describe_scores(self._metric, vectors)
        self.notes += target.notes(sample[:16])
        if "id" not in self._columns:
            raise UsageError(
                f"{self.place} has no column that is called id. Name the one that tells its rows apart: "
                f"#{target.name}?id=COLUMN."
            )
        if index is not None and measured == self._metric:
            self.describe_recall(str(index.index_type), vectors, self._found(exact=True))

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, ("metric",))
        folder = Path(parsed.place).expanduser()
        if not folder.is_dir():
            raise InputError("there is no such folder", place=parsed.place, remedy="Name a folder of LanceDB.")
        lancedb = driver("lancedb", parsed.place, cls.name)
        name = chosen(parsed, [path.stem for path in sorted(folder.glob("*.lance"))], "table")
        named = StoreTarget(cls.name, parsed.place, name, parsed.options)
        with _lancedb_errors(parsed.place):
            table = lancedb.connect(str(folder)).open_table(name)
        return cls(named, table, embedder)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """No host: it is a folder."""
        StoreTarget.parse(cls.name, target, ("metric",))
        return None

    def _errors(self) -> AbstractContextManager[None]:
        return _lancedb_errors(self._target.shown)

    def _vector(self, schema: Any) -> tuple[str, int]:
        """The column of vectors, and how many numbers each has."""
        able = {one.name: one.type.list_size for one in schema if str(one.type).startswith("fixed_size_list<")}
        named = self._target.column("vector", list(able)) if "vector" in self._target.options else None
        if named is None and len(able) != 1:
            which = f"several columns of vectors ({', '.join(able)})" if able else "no column of vectors"
            raise UsageError(f"{self._target.shown} has {which}. Name one: #{self._target.name}?vector=COLUMN.")
        column = named or next(iter(able))
        return column, int(able[column])

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        return self._found()(queries, depth)

    def _found(self, *, exact: bool = False) -> Callable[[NDArray[np.float32], int], Found]:
        """A search, by the index or by going through all rows."""
        selected = list(dict.fromkeys([*self._columns.values(), "_distance"]))

        def search(queries: NDArray[np.float32], depth: int) -> Found:
            numbers: list[int] = []
            chunks: list[Chunk] = []
            distances: list[float] = []
            for number, query in enumerate(queries):
                with self._errors():
                    asked = self._table.search(query, vector_column_name=self._column)
                    asked = asked.distance_type(_NAMES[self._metric]).select(selected).limit(depth)
                    rows = (asked.bypass_vector_index() if exact else asked).to_list()
                numbers += [number] * len(rows)
                chunks += map(self._chunk, rows)
                distances += [row["_distance"] for row in rows]
            values = np.array(distances, np.float64)  # of inner products 1 - product, of l2 the square
            return numbers, chunks, (from_l2(values) if self._metric == "l2" else 1.0 - values).tolist()

        return search

    def _chunk(self, row: dict[str, Any]) -> Chunk:
        record = {name: value for name, value in row.items() if name != "_distance"}
        id_ = self._target.id_text(record[self._columns["id"]])
        return chunk_of(id_, self._target.record(record), reader=self._target.reader)


store = LancedbStore


def _lancedb_errors(place: str) -> AbstractContextManager[None]:
    remedy = "See that the folder is whole, and that a lancedb no older than the one that wrote it is installed."
    return store_errors("LanceDB", place, _FAULTS, remedy)
