"""Input: something to read, from a path or from Python, and what its first records are like; sniffed once for all."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.core.text.wellformed import well_formed_values
from karat.io import records as _records
from karat.io.arrow import read_arrow
from karat.io.cells import CellError, Record
from karat.io.dataset_folder import Selection, is_dataset_id, selected_split, split_named
from karat.io.field_reader import MOST_SHAPES
from karat.io.fields import ASIDE, PRINTED, SPAN, UNSCORED, Columns, checked_map, field_name, looks_keyed
from karat.io.formulas import unguarded_cell
from karat.io.frames import is_frame, polars_frame, read_workbook
from karat.io.opening import HEAD, refusing
from karat.io.parquet import parquet_pieces, read_parquet
from karat.io.sniff import Container, is_document, text_shape
from karat.io.source import Source

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 50
FRAMES = frozenset({"parquet", "arrow", "workbook", "frame"})
TABLES = FRAMES | {"csv", "tsv", "dataset"}
RECORDS = TABLES | {"jsonl", "json list", "json object", "records"}
_MOST_NAMED = 12  # columns that a note names
_BLOCK = 256  # records that are read together


class Input:
    """A file, a folder, a list of dicts or a frame; its records are read in the same way whatever holds them.

    `columns` is the user's column -> field (`--map`).
    """

    def __init__(self, name: str, columns: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.columns = checked_map(columns)
        self.span, self.reads_spans = (columns or {}).get(SPAN), False  # of traces: what spans are called that retrieve
        self.original: dict[str, str] = {}  # normalised name -> name in the file
        self.sheet_notes: tuple[str, ...] = ()  # which sheets of a workbook were left out
        self.sheet_rows: list[int] = []  # the number of each row of a workbook, once read
        self.folder: Path | None = None
        self.split: str | None = None  # of a folder, named after its path
        self.selection: Selection | None = None  # of a dataset
        self.source: Source | None = None
        self._names: dict[str, str] = {}
        self._rows: list[tuple[int, Record]] | None = None
        self._unit: str | None = None
        self._frame: pl.DataFrame | None = None

    @classmethod
    def from_any(cls, data: Any, what: str, columns: Mapping[str, str] | None = None) -> Input:
        """An input of whatever a caller has at hand; `what` says what is meant to be in it."""
        if isinstance(data, str | os.PathLike):
            return cls.open(data, columns)
        if is_frame(data):
            return cls.of_frame(f"{what} (frame)", data, columns)
        if isinstance(data, Sequence):
            return cls.of_records(f"{what} (list)", data, columns)
        raise UsageError(f"{what} cannot be made of {type(data).__name__}. Give a path, a list of dicts or a frame.")

    @classmethod
    def open(cls, path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> Input:
        """An input of a file, a folder, a split of a dataset (`FOLDER#SPLIT`) or an id of ir_datasets."""
        input = cls(str(path), columns)
        if is_dataset_id(path):
            input._rows = []
            return input
        folder, split = split_named(path)
        if "\0" in input.name or not os.path.isdir(folder):
            input.source = Source(path)
        else:
            with refusing(folder):
                input.selection = selected_split(folder, split)
            if input.selection is None:
                input.folder, input.split = folder, split
        return input

    @classmethod
    def of_records(cls, name: str, rows: Iterable[Any], columns: Mapping[str, str] | None = None) -> Input:
        """An input of a list of dicts."""
        input = cls(name, columns)
        input._rows = []
        for row, record in enumerate(rows, 1):
            if not isinstance(record, Mapping):
                raise input.error(
                    f"a dict with named fields was expected, and {type(record).__name__} stands there", row=row
                )
            input._rows.append((row, well_formed_values(record)))
        if not input._rows:
            raise input.error("no records", remedy="Give at least one.")
        return input

    def with_rows(self, rows: Iterable[tuple[int, Record]]) -> Input:
        """The same input read as these records, each with the number that it has here; none of its columns mapped."""
        input = Input(self.name)
        input.source, input._unit, input._rows = self.source, self.unit, list(rows)
        return input

    @classmethod
    def of_frame(cls, name: str, frame: Any, columns: Mapping[str, str] | None = None) -> Input:
        """An input of a polars or pandas frame."""
        input = cls(name, columns)
        input._frame = polars_frame(frame)
        if not input._frame.height:
            raise input.error("the frame has no rows", remedy="Give at least one.")
        return input

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
        if self._unit is not None:
            return self._unit
        if self.shape in ("jsonl", "csv", "tsv", "columns", "text"):
            return "line"
        return "row" if self.shape in TABLES else "record"

    def error(
        self, problem: str, *, row: int | None = None, field: str | None = None, remedy: str | None = None
    ) -> InputError:
        """An InputError that names the input."""
        unit = self.unit if row is not None else "line"
        shown = self.original.get(field, field) if field is not None else None
        return InputError(problem, place=self.name, row=row, unit=unit, field=shown, remedy=remedy)

    def _refuse(self, row: int | None, problem: str, remedy: str) -> None:
        raise self.error(problem, row=row, remedy=remedy)

    def refuse_repeat(self, seen: dict[Any, int], key: Any, row: int, what: str, remedy: str) -> None:
        """Remembers the row of a key; a second row with it is an error that names both."""
        first = seen.setdefault(key, row)
        if first != row:
            raise self.error(f"{what} stands twice (first in {self.unit} {first})", row=row, remedy=remedy)

    def reading(self, row: int | None = None, columns: Columns | None = None) -> _Reading:
        """A CellError raised in the block becomes an InputError that names the row and the column being read."""
        if columns is not None:
            columns.at = None
        return _Reading(self, row, columns)

    @cached_property
    def shape(self) -> Container:
        """The container, told by content."""
        source = self.source
        if self._rows is not None:
            return "records"
        if source is None:
            return "folder" if self.folder is not None else "frame" if self.selection is None else "dataset"
        if source.is_parquet or source.is_arrow:
            return "parquet" if source.is_parquet else "arrow"
        if source.is_workbook:
            return "workbook"
        start = source.head.lstrip()[:1]
        if start == b"[" and isinstance(self._try_document(source), list):
            return "json list"
        return self._object_shape(source) if start == b"{" else text_shape(source)

    def _object_shape(self, source: Source) -> Container:
        filled = (line for _, line in source.lines() if line.strip())
        first, second = next(filled, ""), next(filled, None)
        if not first.rstrip().endswith("}"):
            return "json object"
        if second is None:
            return "json object" if not isinstance(self.document, dict) or is_document(self.document) else "jsonl"
        return "jsonl" if second.lstrip().startswith("{") or _records.is_object(first) else "json object"

    def _try_document(self, source: Source) -> Any:
        try:
            return self.document
        except InputError:
            # a line of text may start with a bracket; a list of objects that does not parse is an error
            if source.head.lstrip()[1:].lstrip()[:1] in (b"{", b"[", b"]", b""):
                raise
            return None

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value."""
        source = self.need_source()
        try:
            return _records.parse_json(source.text())
        except _records.JSONError as error:
            raise source.error(error.problem, row=error.row, remedy=error.remedy) from None

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A Parquet or Arrow file, the first sheet of a workbook, or a frame, as a frame."""
        if self._frame is not None:
            return self._frame
        source = self.need_source()
        if self.shape == "workbook":
            frame, self.sheet_rows, (sheet, *others) = read_workbook(source)
            if others:
                self.sheet_notes = (f'sheet "{sheet}" read; not read: {", ".join(others)}',)
            return frame
        read = read_arrow if self.shape == "arrow" else read_parquet
        return read(source.data() if source.is_gzip else source.path, source.name)

    def frames(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The same in pieces where that is a Parquet file, of which none is kept; and of some columns alone."""
        if self.shape == "parquet" and "frame" not in self.__dict__:
            source = self.need_source()
            return parquet_pieces(source.data() if source.is_gzip else source.path, source.name, columns)
        return iter([self.frame if columns is None else self.frame.select(columns)])

    @cached_property
    def wrapper(self) -> str | None:
        """The key under which a JSON object keeps its records."""
        named_list = _records.wrapped(self.document) if self.shape == "json object" else None
        return named_list[0] if named_list else None

    def raw_rows(self) -> _records.NumberedRecords:
        """Rows with their numbers, as the input spells them."""
        if self._rows is not None:
            return iter(self._rows)
        if self.selection is not None:
            files = (Input.open(path).raw_rows() for path in self.selection.files)
            return enumerate((record for rows in files for _, record in rows), 1)
        if self.shape in FRAMES:
            rows = chain.from_iterable(frame.iter_rows(named=True) for frame in self.frames())
            return zip(self.sheet_rows, rows, strict=True) if self.shape == "workbook" else enumerate(rows, 1)
        if self.shape == "jsonl":
            return _records.json_lines(self.need_source().lines(), self._refuse)
        if self.shape in ("csv", "tsv"):
            return self._table_rows()
        items: list[Any] | None = self.document if self.shape == "json list" else None
        if self.shape == "json object":
            items = self.document[self.wrapper] if self.wrapper else _records.from_columns(self.document)
            if items is None and not looks_keyed(self.document):
                items = [self.document]
        return _records.json_items(items or [], self._refuse)

    def _table_rows(self) -> _records.NumberedRecords:
        lines = (f"{line}\n" for _, line in self.need_source().lines())
        rows = _records.cell_rows(lines, self.delimiter, self._refuse)
        _, header = next(rows, (1, []))
        doubled = next((name for name, count in Counter(map(str.strip, header)).items() if name and count > 1), None)
        if doubled is not None:
            raise self.error(f"the header names the column {doubled!r} twice", row=1, remedy="Rename one of the two.")
        cells = ((row, [unguarded_cell(cell) for cell in cells]) for row, cells in rows)
        return _records.named_rows([unguarded_cell(name) for name in header], cells, self._refuse)

    @cached_property
    def delimiter(self) -> str:
        """The separator of a CSV or TSV file, by its header."""
        return "\t" if self.shape == "tsv" else max(",;|", key=self.need_source().first_line.count)

    def records(self) -> _records.NumberedRecords:
        """Rows with their numbers; names normalised and mapped, NaN as None."""
        keys_of = lru_cache(maxsize=MOST_SHAPES)(self._keys_of)
        for row, raw in self.raw_rows():
            record: Record = {}
            for name, key in keys_of(tuple(raw)):
                value = raw[key]
                record[name] = None if isinstance(value, float) and value != value else value
            yield row, record

    def record_blocks(self) -> Iterator[list[tuple[int, Record]]]:
        """The same in blocks; what stands before a row that cannot be read comes before its error."""
        block: list[tuple[int, Record]] = []
        try:
            for numbered in self.records():
                block.append(numbered)
                if len(block) == _BLOCK:
                    yield block
                    block = []
        except InputError:
            yield block
            raise
        yield block

    def _keys_of(self, keys: tuple[Any, ...]) -> tuple[tuple[str, Any], ...]:
        """The name of each field of a record with these keys, and its key: the mapped one of several, or the first."""
        key_of: dict[str, Any] = {}
        for key in keys:
            name = self._names.get(key) if isinstance(key, str) else None
            if name is None:
                name = self._name(str(key))
            if name not in key_of or str(key) in self.columns:
                key_of[name] = key
        return tuple(key_of.items())

    def _name(self, key: str) -> str:
        column = next((c for c in self.columns if c == key or field_name(c) == field_name(key)), None)
        name = self.columns[column] if column is not None else field_name(key)
        if name == ASIDE:
            name = ASIDE + field_name(key)  # which is no field
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
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.sample)))

    def learn_fields(self) -> bool:
        """Take in the names that only later records have, once these were read; whether there are any."""
        late = [name for name in self.original if name not in self.fields]
        if late:
            self.fields = (*self.fields, *late)
        return bool(late)

    def learn_names(self, other: Input) -> None:
        """Take in the columns of another input, which is part of this one."""
        self._names |= other._names

    @property
    def has_records(self) -> bool:
        """Whether it is made of rows with named fields."""
        return self.shape in RECORDS and bool(self.fields)

    @property
    def map_notes(self) -> tuple[str, ...]:
        """A note for each `--map column=field` whose column is not in this input (it may be in another)."""
        seen = {field_name(original) for original in self._names} | ({SPAN} if self.reads_spans else set())
        notes = tuple(
            f"--map {column}={field}: there is no column {column!r} here.{did_you_mean(column, self._names)}"
            for column, field in self.columns.items()
            if field_name(column) not in seen
        )
        lacks_spans = self.span is not None and SPAN not in self.columns and not self.reads_spans
        return (*notes, f"--map {SPAN}={self.span}: there are no traces here.") if lacks_spans else notes

    def column_notes(self, used: Iterable[str], others: Iterable[str] = ()) -> list[str]:
        """Which columns were read and which were not; of records that are no table, only where some were not.

        What a rows file prints of measures is left out, since that is checked apart, and so are `others`: columns that
        another reader of the same file reads.
        """
        named = set(used)
        read = [name for name in self.original if name in named]
        known = [name for name in self.original if name in UNSCORED and name not in named]
        left = {*read, *known, *others}
        ignored = [name for name in self.original if name not in left and not PRINTED.match(name)]
        if not ignored and not known and self.shape not in TABLES:
            return []
        parts = {"used": read, "not scored": known, "ignored": ignored}
        return [*self.sheet_notes, "; ".join(f"{what} {self.named(names)}" for what, names in parts.items() if names)]

    def named(self, names: Sequence[str]) -> str:
        """Some columns as the input spells them, the first dozen of them."""
        few = ", ".join(self.original.get(name, name) for name in names[:_MOST_NAMED])
        return few + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")

    def head_lines(self, count: int = 20) -> list[str]:
        """The first filled lines that lie whole in the head."""
        head = self.need_source().head
        lines = head.split(b"\n")
        if len(lines) > 1 and len(head) >= HEAD:
            lines.pop()
        return [line.decode("utf-8", "replace").removesuffix("\r") for line in lines if line.strip()][:count]


class _Reading:
    """The block of `Input.reading`; entered once a row, so it is no generator."""

    __slots__ = ("columns", "input", "row")

    def __init__(self, input: Input, row: int | None, columns: Columns | None) -> None:
        self.input, self.row, self.columns = input, row, columns

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, CellError):
            field = None if self.columns is None else self.columns.at
            raise self.input.error(error.problem, row=self.row, field=field, remedy=error.remedy) from None
