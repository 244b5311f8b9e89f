"""Store target: what follows the colon of `--engine qdrant:PLACE#NAME?id=COLUMN`, and what opening it has in common."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from karat.core.docs import Chunk
from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.core.loading import package
from karat.core.text.words import plural
from karat.io.cells import is_missing
from karat.io.field_reader import FieldReader
from karat.io.fields import NESTED, STORED, field_name, with_metadata
from karat.models.hosts import check_key_env, check_url, host_of
from karat.retrieve._stored import StoreError, chunk_of, pages_notes

COLUMNS = (*STORED, "metadata")
"""What may be named of a store by its columns; the others are found by their names."""
METRICS = ("cosine", "ip", "l2")
SECONDS = 60.0
"""For one query; a third of it for a connection."""
LONGEST = 4_096
"""Characters of an address: it may come from a received file."""
_SECRET = r"(password|passwd|pwd|secret)\s*"
_PASSWORD = re.compile(rf"//[^/@#?]*:(?!\d+[/,?#])[^@]+@|{_SECRET}=", re.IGNORECASE)
"""In an address; a password may hold what ends the name of a host, which a port does not."""


@dataclass(frozen=True)
class StoreTarget:
    """Where a store is, what is searched in it, and what the user says of it: `PLACE#NAME?option=value&...`."""

    kind: str
    place: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, kind: str, text: str, more: Collection[str] = ()) -> StoreTarget:
        """Refuses options that the kind does not know, and passwords, which would reach files and logs."""
        place, _, rest = text.partition("#")
        name, _, query = rest.partition("?")
        if len(text) > LONGEST:
            raise UsageError(
                f"the address of the {kind} store has {len(text):,} characters: at most {LONGEST:,} are read."
            )
        if _PASSWORD.search(text):
            raise UsageError(f"the address of the {kind} store holds a password: leave it out. {_REMEDIES[kind]}")
        options = dict(parse_qsl(query, keep_blank_values=True))
        known = [*COLUMNS, "vector", *more]
        for option, value in options.items():
            if option not in known:
                raise UsageError(
                    f"{kind}: there is no option {option!r}.{did_you_mean(option, known)} There are {', '.join(known)}."
                )
            if not value:
                raise UsageError(f"{kind}: the option {option} is empty. Write {option}=VALUE, or leave it out.")
        if "key_env" in options:
            check_key_env(options["key_env"])
        if not place:
            raise UsageError(f"{kind}: needs a place, for example {_EXAMPLES[kind]}.")
        metric = options.get("metric")
        if metric is not None and metric not in METRICS:
            raise UsageError(f"{kind}: metric={metric} is none of {', '.join(METRICS)}.")
        return cls(kind, place, name, options)

    @property
    def is_address(self) -> bool:
        """Whether a server is asked, and not a file or a folder opened."""
        return "://" in self.place

    @property
    def host(self) -> str | None:
        """The host of the server that is asked."""
        if not self.is_address:
            return None
        try:
            check_url(self.place)
        except UsageError:
            raise UsageError(f"{self.kind}: write the address of the server like {_EXAMPLES[self.kind]}.") from None
        if urlsplit(self.place).path not in ("", "/"):
            raise UsageError(f"{self.kind}: write the address of the server without a path: {_EXAMPLES[self.kind]}.")
        return host_of(self.place)

    @property
    def shown(self) -> str:
        """The place and the name, as messages have them."""
        return f"{self.place}#{self.name}" if self.name else self.place

    @cached_property
    def reader(self) -> FieldReader:
        """Reads records by the names of fields that the user gave, then by the usual ones."""
        given = {self.options[name]: name for name in STORED if name in self.options}
        return FieldReader(STORED, given)

    def record(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A record whose metadata stand where they are looked for."""
        named = self.options.get("metadata")
        if named is None or named not in values:
            return values
        return {NESTED[0]: values[named], **{name: value for name, value in values.items() if name != named}}

    def chunk(self, own: Any, values: Mapping[str, Any]) -> Chunk:
        """A record without fixed columns as a chunk; its id is the store's own, or the field that the user names."""
        record = self.record(values)
        id_ = self.id_text(self.reader.read(record).get("id")) if "id" in self.options else str(own)
        return chunk_of(id_, record, reader=self.reader)

    def id_text(self, value: Any, own: Any = None) -> str:
        """The id of a record; the store's `own`, where there is one, if that is empty and the user named none."""
        if is_missing(value) and (own is None or "id" in self.options):
            raise KaratError(
                f"the {self.kind} store #{self.name} returned a record without an id: fill it, or name a column that "
                "is filled everywhere, #NAME?id=COLUMN."
            )
        return str(own if is_missing(value) else value)

    def notes(self, records: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """What to say of some records: names that the user gave and none of them has, and their pages."""
        some = list(records)
        names = {field_name(str(name)) for one in some for name in (*one, *with_metadata(self.record(one)))}
        unseen = [
            f"{option}={name}: none of the first {plural(len(some), 'record')} has it."
            for option, name in self.options.items()
            if some and option in COLUMNS and field_name(name) not in names
        ]
        return (*unseen, *pages_notes(map(self.record, some), reader=self.reader))

    def column(self, wanted: str, present: Sequence[str]) -> str | None:
        """The column of a field among those present: the named one, or the first that is called so."""
        named = self.options.get(wanted)
        if named is not None:
            if named not in present:
                noun = "column of vectors" if wanted == "vector" else "column"
                raise UsageError(
                    f"{self.shown} has no {noun} {named!r}.{did_you_mean(named, present)} "
                    f"There are {', '.join(present)}."
                )
            return named
        aliases = NESTED if wanted == "metadata" else STORED.get(wanted, (wanted,))
        by_name = {field_name(column): column for column in reversed(present)}
        return next((by_name[alias] for alias in aliases if alias in by_name), None)

    def columns(self, present: Sequence[str]) -> dict[str, str]:
        """The columns of all fields that there are, but the vector's."""
        columns = {wanted: self.column(wanted, present) for wanted in COLUMNS}
        return {wanted: column for wanted, column in columns.items() if column is not None}


_EXAMPLES = {
    "pgvector": "pgvector:postgresql://user@host/database#table",
    "pgtext": "pgtext:postgresql://user@host/database#table",
    "lancedb": "lancedb:FOLDER#table",
    "milvus": "milvus:http://localhost:19530#collection",
    "qdrant": "qdrant:http://localhost:6333#collection",
    "sqlite": "sqlite:FILE#table",
    "elasticsearch": "elasticsearch:http://localhost:9200#index",
    "opensearch": "opensearch:https://localhost:9200#index",
    "estext": "estext:http://localhost:9200#index",
}
_KEPT_IN = "Its key is read from an environment variable: #NAME?key_env=VARIABLE."
_REMEDIES = dict.fromkeys(_EXAMPLES, _KEPT_IN) | dict.fromkeys(
    ("pgvector", "pgtext"), "Put it into PGPASSWORD, ~/.pgpass or a service of ~/.pg_service.conf."
)


def chosen(target: StoreTarget, names: Collection[str], noun: str) -> str:
    """The collection or table that is meant: the named one, or the only one."""
    offered = f"There are {', '.join(sorted(names))}." if names else "It holds none."
    if not target.name and len(names) != 1:
        raise UsageError(
            f"{target.place} holds {len(names)} {noun}s. {offered} Name one after #: {target.kind}:{target.place}#NAME."
        )
    if target.name and target.name not in names:
        raise UsageError(f"{target.place} holds no {noun} {target.name!r}.{did_you_mean(target.name, names)} {offered}")
    return target.name or next(iter(names))


def driver(module: str, place: str, extra: str) -> Any:
    """The package that a store needs, imported when the store is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return package(module, f"searching {place}", extra)


def is_secret(name: str) -> bool:
    """Whether a part of an address that is called so is secret.

    >>> [is_secret(name) for name in ("sslpassword", "oauth_client_secret", "passfile")]
    [True, True, False]
    """
    return re.search(f"{_SECRET}$", name, re.IGNORECASE) is not None


@contextmanager
def store_errors(what: str, place: str, errors: tuple[type[Exception], ...], remedy: str) -> Iterator[None]:
    """The failures of a driver as karat's, its warnings unheard."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except KaratError:
        raise
    except errors as error:
        raise StoreError(f"{what} failed at {place}: {reason_of(error)}. {remedy}") from None


def reason_of(error: Exception) -> str:
    """What an exception says, on one line, without its last stop.

    >>> reason_of(OSError("Refused.\\n Is the server running?")), reason_of(OSError())
    ('Refused. Is the server running', 'OSError')
    """
    return " ".join(str(error).split())[:200].rstrip(".?") or type(error).__name__
