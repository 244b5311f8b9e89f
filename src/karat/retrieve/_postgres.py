"""PostgreSQL for the stores in it: one connection that only reads, opened again when it was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from karat.core.docs import Chunk
from karat.core.errors import KaratError, UsageError
from karat.retrieve._store_target import SECONDS, StoreTarget, driver, is_secret, reason_of
from karat.retrieve._stored import StoreError, chunk_of

_LONGEST = 1_000_000  # letters of a text that are read
_NAMED = """
SELECT c.oid, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
AND ((c.relname = %s AND pg_table_is_visible(c.oid)) OR (n.nspname = %s AND c.relname = %s))
ORDER BY pg_table_is_visible(c.oid) DESC LIMIT 1
"""
_OFFERED = """
SELECT DISTINCT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_type t ON t.oid = a.atttypid
WHERE t.typname IN ('vector', 'halfvec', 'tsvector') AND c.relkind IN ('r', 'v', 'm', 'p') ORDER BY 1 LIMIT 10
"""
_COLUMNS = """
SELECT a.attname, t.typname, a.atttypmod, i.indisprimary
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary AND i.indnatts = 1 AND i.indkey[0] = a.attnum
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


class PostgresTable:
    """A table or a view. Its columns are found by their names; the primary key is the id where none is called so."""

    def __init__(self, target: StoreTarget) -> None:
        self.target = target
        self._psycopg = driver("psycopg", target.shown, "pgvector")
        self.sql: Any = driver("psycopg.sql", target.shown, "pgvector")
        self._parameters = self._read_parameters()
        self.place = f"{target.kind}:{host_of_parameters(self._parameters)}#{target.name}"
        self._connection: Any = None
        if not target.name:
            raise UsageError(f"{target.kind}: name the table after #: {target.kind}:{target.place}#TABLE.")
        schema, _, rest = target.name.partition(".")
        named = self.rows(_NAMED, [target.name, schema, rest])
        if not named:
            raise UsageError(f"{self.place}: there is no table {target.name!r} that this user sees.{self._offered()}")
        self.oid: int = named[0][0]
        self.table: Any = self.identifier(*named[0][1:])
        described = self.rows(_COLUMNS, [self.oid])
        self.types = {str(name): (str(kind), int(size)) for name, kind, size, _ in described}
        self.columns = target.columns(list(self.types))
        keys = [str(name) for name, *_, primary in described if primary]
        if "id" not in self.columns:
            if not keys:
                raise UsageError(
                    f"{self.place} has neither a column that is called id nor a primary key of one column. "
                    f"Name the one that tells its rows apart: #{target.name}?id=COLUMN."
                )
            self.columns = {"id": keys[0], **self.columns}

    def _read_parameters(self) -> dict[str, Any]:
        conninfo: Any = driver("psycopg.conninfo", self.target.shown, "pgvector")
        try:
            parameters: dict[str, Any] = conninfo.conninfo_to_dict(self.target.place)
        except self._psycopg.Error:
            raise UsageError(  # what libpq says repeats parts of the address
                f"{self.target.kind}: the address of the database cannot be read. Write "
                "postgresql://user@host:5432/database, service=NAME or host=... dbname=... user=..."
            ) from None
        if any(map(is_secret, parameters)):
            raise UsageError(
                "the address of the database holds a password: leave it out. Put it into PGPASSWORD, ~/.pgpass or a "
                "service of ~/.pg_service.conf."
            )
        return parameters

    def _offered(self) -> str:
        names = self.rows(_OFFERED)
        return f" There are {', '.join(name for (name,) in names)}." if names else ""

    def identifier(self, *names: str) -> Any:
        """A name in a statement. psycopg leaves a % in it, which would be where a value goes."""
        return self.sql.Identifier(*(name.replace("%", "%%") for name in names))

    def selected(self) -> Any:
        """Columns to select, as text where they are no JSON and no number."""
        parts = []
        for column in self.columns.values():
            kind = self.types[column][0]
            name = self.identifier(column)
            plain = kind in ("json", "jsonb", "int2", "int4", "int8", "float4", "float8")
            parts.append(name if plain else self.sql.SQL("left({}::text, {})").format(name, _LONGEST))
        return self.sql.SQL(", ").join(parts)

    def record(self, row: Sequence[Any]) -> dict[str, Any]:
        """A row of `selected` by the names of columns."""
        return dict(zip(self.columns.values(), row, strict=False))

    def chunk(self, row: Sequence[Any]) -> Chunk:
        """A row of `selected` as a chunk."""
        record = self.record(row)
        id_ = self.target.id_text(record[self.columns["id"]])
        return chunk_of(id_, self.target.record(record), reader=self.target.reader)

    def count(self) -> int:
        """How many rows there are."""
        ((total,),) = self.rows(self.sql.SQL("SELECT count(*) FROM {}").format(self.table))
        return int(total)

    def rows(self, statement: Any, values: Sequence[Any] = (), settings: Mapping[str, str] | None = None) -> list[Any]:
        """What a statement returns, in a transaction of its own that can only read, with settings for it alone."""
        try:
            connection = self._connected()
            with connection.transaction(), connection.cursor() as cursor:
                for name, value in (settings or {}).items():
                    cursor.execute("SELECT set_config(%s, %s, true)", [name, value])
                return list(cursor.execute(statement, values).fetchall())
        except self._psycopg.Error as error:
            self._drop()
            raise self._problem(error) from None

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            given = {"connect_timeout": int(SECONDS / 3), "application_name": "karat", **self._parameters}
            connection = self._psycopg.connect(**given)
            connection.read_only = True
            connection.execute("SELECT set_config('statement_timeout', %s, false)", [f"{SECONDS:.0f}s"])
            connection.commit()
            self._connection = connection
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(self._psycopg.Error):
                self._connection.close()
        self._connection = None

    def _problem(self, error: Any) -> KaratError:
        """What went wrong, without what libpq repeats of the address; a refusal is no failure that passes."""
        code = getattr(error, "sqlstate", None) or ""
        text = reason_of(error)
        if code.startswith("28") or (not code and "password" in text.lower()):
            return KaratError(
                f"{self.place}: PostgreSQL refuses the user {self._parameters.get('user', 'of this account')}: the "
                "password is wrong or missing, or this user may not connect. Set PGPASSWORD or ~/.pgpass."
            )
        if code == "57014":
            text = f"a query took longer than {SECONDS:g} seconds. Index the column that is searched"
        elif not code or code.startswith(("08", "57P")):
            text = f"PostgreSQL cannot be reached: {text}. See that the server runs, and where"
        else:
            text = f"PostgreSQL failed: {text} (SQLSTATE {code})"
        return StoreError(f"{self.place}: {text}.")


def host_of_parameters(parameters: Mapping[str, Any]) -> str:
    """The server and the database, as they are shown and allowed: without user and password."""
    if "service" in parameters:
        return f"service {parameters['service']}"
    host = str(parameters.get("host") or parameters.get("hostaddr") or "localhost")
    database = parameters.get("dbname") or parameters.get("user") or ""
    return f"{host}:{parameters.get('port', 5432)}/{database}" if not host.startswith("/") else f"{host}/{database}"


def host_named(target: StoreTarget) -> str:
    """The host that a target asks, told without a driver, which may not be installed."""
    if target.is_address:
        try:
            parts = urlsplit(target.place)
            port = parts.port or 5432
        except ValueError:
            raise UsageError(f"{target.kind}: the address of the database cannot be read.") from None
        if parts.scheme not in ("postgresql", "postgres"):
            raise UsageError(f"{target.kind}: write the address like postgresql://user@host:5432/database#table.")
        return f"{parts.hostname or 'localhost'}:{port}"
    words = dict(part.partition("=")[::2] for part in target.place.split())
    return (
        f"service {words['service']}"
        if "service" in words
        else words.get("host", "localhost") + ":" + words.get("port", "5432")
    )


def missing_extension(table: PostgresTable) -> KaratError:
    """What to say where no vectors can be."""
    return KaratError(
        f"{table.place}: the extension pgvector is not installed in this database. "
        "A superuser installs it with: CREATE EXTENSION vector."
    )
