"""Steps of a record: the calls that a system made for a question, each checked, their hits read as a row's are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from karat.core.steps import HITS
from karat.core.text.words import names
from karat.files._hit_reader import HitReader
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.field_reader import MOST_SHAPES
from karat.io.fields import STEP, Columns, field_name
from karat.io.pages import PageReader

_STEP = 'Write {"query": ..., "retrieved": [...]} for a retrieval, {"tool": ..., "query": ...} for a tool.'
_TEXTS, _NUMBERS = ("query", "tool"), ("seconds", "tokens")


class StepReader:
    """Reads the steps of many records."""

    def __init__(self, pages: PageReader) -> None:
        self._pages = pages
        self._readers: dict[tuple[str, ...], HitReader] = {}
        self._unread: Counter[str] = Counter()

    def notes(self) -> list[str]:
        """What to say of all steps so far, a sentence each."""
        notes = [f"steps: {note}" for reader in self._readers.values() for note in reader.notes()]
        if self._unread:
            notes.append(f"of steps these fields are not read: {names(list(self._unread))}")
        return list(dict.fromkeys(notes))

    def read(self, value: Any) -> list[dict[str, Any]]:
        """The steps, in karat's fields alone; CellError names the faulty one by its number from 1, and the field."""
        items = cells.as_list(value)
        if items is None or isinstance(value, Mapping) or (items == [value] and not isinstance(value, list)):
            raise CellError(f"steps {quoted(value)} are no list", _STEP)
        return [self._step(number, item) for number, item in enumerate(items, 1)]

    def _step(self, number: int, item: Any) -> dict[str, Any]:
        if not isinstance(item, Mapping):
            raise CellError(f"step {number}: {quoted(item)} is no object", _STEP)
        record = {field_name(str(name)): value for name, value in item.items()}
        reader = self._reader(tuple(record))
        columns = reader.columns
        columns.at = None
        self._unread.update(columns.unknown)
        try:
            return self._fields(record, reader)
        except CellError as error:
            where = f', "{columns.at}"' if columns.at is not None else ""
            raise CellError(f"step {number}{where}: {error.problem}", error.remedy) from None

    def _reader(self, fields: tuple[str, ...]) -> HitReader:
        if fields not in self._readers and len(self._readers) >= MOST_SHAPES:
            return HitReader(Columns(STEP, fields), self._pages)
        return self._readers.setdefault(fields, HitReader(Columns(STEP, fields), self._pages))

    def _fields(self, record: Record, reader: HitReader) -> dict[str, Any]:
        step: dict[str, Any] = {}
        columns = reader.columns
        for field in _TEXTS:
            if (value := columns.value(record, field)) is not None:
                step[field] = cells.plain_text(value)
        for field in _NUMBERS:
            if (value := columns.value(record, field)) is not None:
                step[field] = cells.amount(value, field)
        columns.at = None
        hits, _ = reader.read(record)
        if hits is not None or reader.lists_nothing(record):
            rows = [] if hits is None else hits.rows()
            step[HITS] = [{name: _plain(value) for name, value in hit.items()} for hit in rows]
        elif "tool" not in step:
            columns.at = None
            unread = f" ({names(list(columns.unknown))}: not read)" if columns.unknown else ""
            raise CellError(f"it neither retrieved anything nor names a tool{unread}", _STEP)
        return {name: step[name] for name in ("query", HITS, "tool", "seconds", "tokens") if name in step}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
