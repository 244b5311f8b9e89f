"""Look: a first look at an input, made once and shared by all formats."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from karat.core.errors import InputError, did_you_mean
from karat.core.text.wellformed import well_formed_values
from karat.files import _records
from karat.files._aliases import PRINTED, UNSCORED, checked_map
from karat.files._cells import Record, is_number
from karat.files._source import Source
from karat.io.fields import field_name

if TYPE_CHECKING:
    import polars as pl

Shape = Literal[
    "jsonl", "json list", "json object", "csv", "tsv", "parquet", "workbook", "columns", "text", "folder", "frame",
    "records",
]  # fmt: skip
SAMPLE = 50
TABLES = frozenset({"csv", "tsv", "parquet", "workbook", "frame"})
MOST_NAMED = 12  # columns that a note names


class Look:
    """An input and what its first records are like.

    Made of a path, or by `of_records` and `of_frame` of what a notebook holds, so that one reader serves all.
    """

    def __init__(self, path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> None:
        self.name = str(path)
        self.columns = checked_map(columns)
        self.original: dict[str, str] = {}  # normalised name -> name in the file
        self._names: dict[str, str] = {}
        self._rows: list[Record] | None = None
        self._frame: pl.DataFrame | None = None
        self.sheet_notes: tuple[str, ...] = ()  # which sheets of a workbook were left out
        self.folder: Path | None = None
        self.source: Source | None = None
        if _is_folder(path):
            self.folder = Path(path)
        else:
            self.source = Source(path)

    @classmethod
    def of_records(cls, name: str, rows: Iterable[Any], columns: Mapping[str, str] | None = None) -> Look:
        """A look at a list of dicts."""
        look = cls._bare(name, columns)
        look._rows = []
        for row, record in enumerate(rows, 1):
            if not isinstance(record, Mapping):
                raise look.error(
                    f"a dict with named fields was expected, and {type(record).__name__} stands there", row=row
                )
            look._rows.append(well_formed_values(record))
        if not look._rows:
            raise look.error("no records", remedy="Give at least one.")
        return look

    @classmethod
    def of_frame(cls, name: str, frame: pl.DataFrame, columns: Mapping[str, str] | None = None) -> Look:
        """A look at a polars frame."""
        look = cls._bare(name, columns)
        look._frame = frame
        if not frame.height:
            raise look.error("the frame has no rows", remedy="Give at least one.")
        return look

    @classmethod
    def _bare(cls, name: str, columns: Mapping[str, str] | None) -> Look:
        look = cls.__new__(cls)
        look.name, look.columns, look.original, look._names = name, checked_map(columns), {}, {}
        look.sheet_notes = ()
        look._rows = look._frame = look.folder = look.source = None
        return look

    def need_source(self) -> Source:
        """The opened file; anything else is refused."""
        if self.source is None:
            raise self.error("is a folder where a file is meant", remedy="Name a file in it.")
        return self.source

    @property
    def stem(self) -> str:
        """What a system is called when the input does not say."""
        return self.source.stem if self.source is not None else Path(self.name).name or self.name

    @property
    def unit(self) -> str:
        """What a row of the input is called in messages."""
        if self.shape in ("jsonl", "csv", "tsv", "columns", "text"):
            return "line"
        return "row" if self.shape in ("parquet", "workbook", "frame") else "record"

    def error(
        self, problem: str, *, row: int | None = None, field: str | None = None, remedy: str | None = None
    ) -> InputError:
        """An InputError that names the input."""
        unit = self.unit if row is not None else "line"
        shown = self.original.get(field, field) if field is not None else None
        return InputError(problem, place=self.name, row=row, unit=unit, field=shown, remedy=remedy)

    @cached_property
    def shape(self) -> Shape:
        """The container, told by content."""
        if self.source is None:
            if self.folder is not None:
                return "folder"
            return "frame" if self._frame is not None else "records"
        source = self.source
        if source.is_parquet:
            return "parquet"
        if source.is_workbook:
            return "workbook"
        start = source.head.lstrip()[:1]
        if start == b"[" and isinstance(self._try_document(), list):
            return "json list"
        if start == b"{":
            return self._object_shape()
        return _text_shape(source)

    def _object_shape(self) -> Shape:
        filled = (line for _, line in self.need_source().lines() if line.strip())
        first, second = next(filled, ""), next(filled, None)
        complete = first.rstrip().endswith("}")
        if second is not None and complete and (second.lstrip().startswith("{") or _closed(first)):
            return "jsonl"
        if second is None and complete:
            document = self.document
            if isinstance(document, dict) and not _is_document(document):
                return "jsonl"
        return "json object"

    def _try_document(self) -> Any:
        try:
            return self.document
        except InputError:
            # a line of text may start with a bracket; a list of objects that does not parse is an error
            if self.need_source().head.lstrip()[1:].lstrip()[:1] in (b"{", b"[", b"]", b""):
                raise
            return None

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value."""
        return _records.parse_json(self.need_source().text(), self.need_source())

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A Parquet file, the first sheet of a workbook, or a frame, as a frame."""
        if self._frame is not None:
            return self._frame
        if self.shape == "workbook":
            frame, sheet, others = _records.read_workbook(self.need_source())
            if others:
                self.sheet_notes = (f'sheet "{sheet}" read; not read: {", ".join(others)}',)
            return frame
        return _records.read_parquet(self.need_source())

    @cached_property
    def wrapper(self) -> str | None:
        """The key under which a JSON object keeps its records."""
        if self.shape != "json object" or not isinstance(self.document, dict):
            return None
        found = _records.wrapped(self.document)
        return found[0] if found else None

    def raw(self) -> _records.Rows:
        """Rows with their numbers, as the input spells them."""
        shape = self.shape
        if self._rows is not None:
            return enumerate(self._rows, 1)
        if shape in ("parquet", "workbook", "frame"):
            return _records.from_frame(self.frame)
        if shape == "folder":
            return iter(())
        source = self.need_source()
        if shape == "jsonl":
            return _records.from_jsonl(source)
        if shape in ("csv", "tsv"):
            return _records.from_table(source, "\t" if shape == "tsv" else self.delimiter)
        if shape == "json list":
            return _records.from_items(self.document, source)
        if shape == "json object" and isinstance(self.document, dict):
            found = _records.wrapped(self.document)
            listed = found[1] if found else _records.from_columns(self.document)
            if listed is None and not _looks_keyed(self.document):
                listed = [self.document]
            if listed is not None:
                return _records.from_items(listed, source)
        return iter(())

    @cached_property
    def delimiter(self) -> str:
        """The separator of a CSV file, by its header."""
        line = self.need_source().first_line
        return max(",;|", key=line.count)

    def records(self) -> _records.Rows:
        """Rows with their numbers; names normalised and mapped, NaN as None."""
        names = self._names
        for row, raw in self.raw():
            record: Record = {}
            for key, value in raw.items():
                name = names.get(key) if isinstance(key, str) else None
                if name is None:
                    name = self._name(str(key))
                if name not in record or str(key) in self.columns:
                    record[name] = _records.without_nan(value)
            yield row, record

    def _name(self, key: str) -> str:
        column = next((c for c in self.columns if c == key or field_name(c) == field_name(key)), None)
        name = self.columns[column] if column is not None else field_name(key)
        self._names[key] = name
        self.original.setdefault(name, key)
        return name

    @cached_property
    def sample(self) -> list[Record]:
        """The first records."""
        return [record for _, record in itertools.islice(self.records(), SAMPLE)]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Field names of the first records, normalised and mapped."""
        names: dict[str, None] = {}
        for record in self.sample:
            names.update(dict.fromkeys(record))
        return tuple(names)

    @property
    def map_notes(self) -> tuple[str, ...]:
        """A note for each `--map column=field` whose column is not in this input (it may be in another)."""
        seen = {field_name(original) for original in self._names}
        return tuple(
            f"--map {column}={field}: there is no column {column!r} here.{did_you_mean(column, self._names)}"
            for column, field in self.columns.items()
            if field_name(column) not in seen
        )

    def column_notes(self, used: Iterable[str], others: Iterable[str] = ()) -> list[str]:
        """Which columns were read and which were not; of records that are no table, only where some were not.

        What a rows file prints of measures is left out, since that is checked apart, and so are `others`: columns that
        another reader of the same file reads.
        """
        named = set(used)
        read = [name for name in self.original if name in named]
        known = [name for name in self.original if name in UNSCORED and name not in read]
        left = {*read, *known, *others}
        ignored = [name for name in self.original if name not in left and not PRINTED.match(name)]
        if not ignored and not known and self.shape not in TABLES:
            return []
        parts = {"used": read, "not scored": known, "ignored": ignored}
        return [*self.sheet_notes, "; ".join(f"{what} {self._few(names)}" for what, names in parts.items() if names)]

    def _few(self, names: Sequence[str]) -> str:
        named = ", ".join(self.original.get(name, name) for name in names[:MOST_NAMED])
        return named + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")

    def head_lines(self, count: int = 20) -> Iterator[str]:
        """The first filled lines that lie whole in the head."""
        head = self.need_source().head
        lines = head.split(b"\n")
        if len(lines) > 1 and len(head) >= 64 << 10:
            lines.pop()
        filled = (line.decode("utf-8", "replace").removesuffix("\r") for line in lines if line.strip())
        return itertools.islice(filled, count)


def _is_folder(path: str | os.PathLike[str]) -> bool:
    try:
        return os.path.isdir(path)
    except (ValueError, OSError):
        return False


def _closed(line: str) -> bool:
    import json

    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_document(document: Record) -> bool:
    """Whether an object on one line is a whole document rather than one record."""
    if _records.wrapped(document) is not None and not {"id", "qid", "question", "query", "retrieved"} & set(document):
        return True
    if _records.from_columns(document) is not None:
        return True
    return "id" not in document and all(isinstance(v, str) for v in document.values()) and _looks_keyed(document)


def _looks_keyed(document: Record) -> bool:
    """Whether keys look like ids rather than field names: none of them is a known field."""
    from karat.files._aliases import record_names

    known = set(record_names())
    return not any(field_name(key) in known for key in document)


def _text_shape(source: Source) -> Shape:
    line = source.first_line
    cells, tabbed = line.split(), line.split("\t")
    if _is_trec(cells) and (len(tabbed) in (1, len(cells)) or cells[1].upper() in ("0", "Q0")):
        return "columns"
    for other in source.head.decode("utf-8", "replace").split("\n")[:10]:  # the first line may be the damaged one
        cells = other.split()
        if _is_trec(cells) and cells[1].upper() in ("0", "Q0"):
            return "columns"
    if "\t" in line:
        return "tsv"
    return "csv" if any(mark in line for mark in ",;|") else "text"


def _is_trec(cells: list[str]) -> bool:
    """Whether a line may be of qrels (four values, a number last) or of a run (six, a number fifth)."""
    if len(cells) == 4:
        return is_number(cells[3])
    if len(cells) > 6:  # text after the tag
        return cells[1].upper() == "Q0" and is_number(cells[3]) and is_number(cells[4])
    return len(cells) == 6 and is_number(cells[4]) and (cells[1].upper() == "Q0" or is_number(cells[3]))
