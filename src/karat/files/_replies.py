"""Replies: what a system that is asked returned for one question, read as a record of results."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from karat.core.errors import InputError
from karat.files._entries import are_hits, hit_sources
from karat.files._results import ResultReader, ResultRow
from karat.io import cells
from karat.io.cells import CellError
from karat.io.field_reader import metadata_of
from karat.io.fields import RESULTS, RETRIEVED_FIELDS, field_name
from karat.io.input import Input
from karat.io.shapes import hit_of

_HIT_LISTS = ("retrieved", "retrieved_text")  # fields that may hold hits as objects
_READ = {
    "id": "ids", "chunk": "chunk ids", "doc": "documents", "page": "pages", "page_number": "pages",
    "page_label": "page labels", "url": "addresses", "text": "texts", "score": "scores", "answer": "answers",
    "retrieved": "hits",
}  # fmt: skip
"""What the fields of a reply hold, in words."""


class ReplyReader:
    """Reads the replies of one system, each as a record of a results file, from several threads at once."""

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        every = dict.fromkeys(alias for aliases in RESULTS.values() for alias in aliases)
        self._reader, self._lock = ResultReader(Input.of_records("reply", [every])), threading.Lock()
        self._columns = {field_name(name): field for name, field in (columns or {}).items()}
        self._unmet = {
            field_name(name): f"--map {name}={field}: no reply has it" for name, field in (columns or {}).items()
        }
        self._sources: dict[str, dict[str, None]] = {}  # field -> places it was read from
        self._left: dict[str, dict[str, None]] = {}  # field -> places that say something else

    def read(self, record: Mapping[str, Any], question: str) -> ResultRow:
        """What a record says of a question, whatever it calls its fields; InputError for what cannot be read."""
        fields = {field_name(str(name)): value for name, value in record.items()}
        if self._columns:
            fields = self._mapped(fields)
        with self._lock:
            self._take_unnamed(fields)
            try:
                row = self._reader.read(fields, question)
            except CellError as error:
                raise InputError(error.problem, remedy=error.remedy) from None
            self._remember(fields)
        return row

    def notes(self) -> list[str]:
        """What to say of all replies so far, a sentence each."""
        with self._lock:
            return self._reader.notes()

    def places(self) -> list[str]:
        """Where what was read stood in the replies, and what else names a hit and was left aside, a sentence each."""
        with self._lock:
            read = [f"{_READ.get(field, field)} from {', '.join(names)}" for field, names in self._sources.items()]
            sentences = [f"read {'; '.join(read)}"] if read else []
            for field, names in self._left.items():
                name = next(iter(names)).rpartition(".")[2]
                sentences.append(
                    f"{', '.join(names)} names other {_READ.get(field, field)} and was left aside: map {name} to "
                    f"{field} to read it instead"
                )
            return [*sentences, *self._unmet.values()]

    def _mapped(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record with the user's own names in it and in its hits made karat's."""

        def renamed(fields: Mapping[str, Any]) -> dict[str, Any]:
            named = {field_name(str(name)): value for name, value in fields.items()}
            metadata = metadata_of(named)
            for column, field in self._columns.items():
                for part in (named, metadata):
                    if column in part:
                        named[field] = part[column]
                        self._unmet.pop(column, None)
                        break
            return named

        def mapped(hit: Any) -> Any:
            if isinstance(hit, list) and len(hit) == 2:
                return [mapped(hit[0]), hit[1]]
            return renamed(hit_of(hit) or hit) if isinstance(hit, Mapping) else hit

        record = renamed(record)
        for name in (alias for field in _HIT_LISTS for alias in RESULTS[field]):
            hits = record.get(name)
            if isinstance(hits, list):
                record[name] = [mapped(hit) for hit in hits]
        for name in RESULTS["steps"]:
            if isinstance(steps := record.get(name), list):
                record[name] = [self._mapped(step) if isinstance(step, Mapping) else step for step in steps]
        return record

    def _take_unnamed(self, record: dict[str, Any]) -> None:
        """Where no known name holds what was retrieved and one other holds a list of hits, that is it."""
        if any(not cells.is_missing(record.get(name)) for field in RETRIEVED_FIELDS for name in RESULTS[field]):
            return
        lists = [name for name, value in record.items() if name not in RESULTS["steps"] and are_hits(value, named=True)]
        if len(lists) == 1:
            record["retrieved"] = record[lists[0]]
            self._sources.setdefault("hits", {})[lists[0]] = None
        elif lists:
            self._left.setdefault("retrieved", {}).update(dict.fromkeys(lists))

    def _remember(self, record: Mapping[str, Any]) -> None:
        """Where the parts of a reply stood."""
        for name in (alias for field in _HIT_LISTS for alias in RESULTS[field]):
            hits = record.get(name)
            if isinstance(hits, list) and hits and not isinstance(hits[0], str):
                for field, places in hit_sources(hits[0]).items():
                    self._sources.setdefault(field, {})[places[0]] = None
                    for other in places[1:] if field in ("id", "chunk", "doc") else ():
                        self._left.setdefault(field, {})[other] = None
                break
        for field in ("answer", "contexts", "citations", "tokens"):
            for name in RESULTS.get(field, (field,)):
                if not cells.is_missing(record.get(name)):
                    self._sources.setdefault(field, {})[name] = None
                    break
