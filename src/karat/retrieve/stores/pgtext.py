"""`pgtext:DSN#table`: PostgreSQL's full text search, as a sparse leg: rows that hold any word of a query.

Scores are ts_rank, or ts_rank_cd where `#table?rank=ts_rank_cd` says so. A column of type tsvector is searched where
there is one, otherwise the text itself. The words of a query are read by `?language=`, or as the server does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from karat.core.docs import Chunk
from karat.core.errors import UsageError
from karat.retrieve._postgres import PostgresTable, host_named
from karat.retrieve._store_target import StoreTarget
from karat.retrieve._stored import TextStore

if TYPE_CHECKING:
    from karat.models import Embedder

_RANKS = ("ts_rank", "ts_rank_cd")
_OPTIONS = ("language", "rank", "tsvector")
_QUERY = r"""(SELECT string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
FROM unnest(to_tsvector(%s::regconfig, %s)))"""


class PgtextStore(TextStore):
    """Texts of a table or a view of PostgreSQL."""

    name: ClassVar[str] = "pgtext"

    def __init__(self, target: StoreTarget, table: PostgresTable) -> None:
        self._table, sql = table, table.sql
        rank = target.options.get("rank", _RANKS[0])
        if rank not in _RANKS:
            raise UsageError(f"pgtext: rank={rank} is none of {', '.join(_RANKS)}.")
        ((self._language,),) = table.rows(
            "SELECT coalesce(%s, current_setting('default_text_search_config'))::regconfig::text",
            [target.options.get("language")],
        )
        column = self._indexed(target)
        if column is None and "text" not in table.columns:
            raise UsageError(
                f"{table.place} has no column that is called text: name it with #{target.name}?text=COLUMN."
            )
        searched = (
            table.identifier(column)
            if column is not None
            else sql.SQL("to_tsvector({}::regconfig, coalesce({}::text, ''))").format(
                self._language, table.identifier(table.columns["text"])
            )
        )
        super().__init__(table.place, table.count())
        self._statement = sql.SQL(
            "SELECT {}, {}({}, karat_query) AS karat_rank FROM {}, " + _QUERY + " AS karat(karat_query) "
            "WHERE {} @@ karat_query ORDER BY karat_rank DESC, {} DESC LIMIT %s"
        ).format(
            table.selected(), sql.SQL(rank), searched, table.table, searched, table.identifier(table.columns["id"])
        )  # fmt: skip
        over = f"the column {column}" if column is not None else "the text, which no index helps"
        self.notes += (f"scores are {rank} of any word of the query over {over}, words read by {self._language}.",)
        records = table.rows(sql.SQL("SELECT {} FROM {} LIMIT 16").format(table.selected(), table.table))
        self.notes += target.notes(map(table.record, records))

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, _OPTIONS)
        return cls(parsed, PostgresTable(parsed))

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of the database."""
        return host_named(StoreTarget.parse(cls.name, target, _OPTIONS))

    def _indexed(self, target: StoreTarget) -> str | None:
        """The column of type tsvector: the named one, or the only one."""
        able = [name for name, (kind, _) in self._table.types.items() if kind == "tsvector"]
        named = target.column("tsvector", list(self._table.types)) if "tsvector" in target.options else None
        if named is not None and named not in able:
            raise UsageError(f"{self._table.place}: the column {named!r} is no tsvector.")
        return named or (able[0] if len(able) == 1 else None)

    def matching(self, query: str, depth: int) -> tuple[list[Chunk], list[float]]:
        rows = self._table.rows(self._statement, [self._language, query.replace("\0", " "), depth])
        return [self._table.chunk(row) for row in rows], [float(row[-1]) for row in rows]


store = PgtextStore
