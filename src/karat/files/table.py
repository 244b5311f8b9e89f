"""table: one row a hit (query, doc, score[, system]) or, as a test set, one row a judgement; CSV, TSV or Parquet.

Kept in columns from end to end, so that millions of rows cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.run import Run
from karat.core.text.words import plural
from karat.core.types import TestSet
from karat.files import _cells, _records
from karat.files._aliases import GOLD_FIELDS, RESULTS, RETRIEVED_FIELDS, TABLE, TESTSET, Names
from karat.files._cells import CellError, shown
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._qrels import judgement_notes, read_gold_rows, read_judgements
from karat.files._runs import described
from karat.files._signs import has_records
from karat.io.fields import field_name
from karat.io.formulas import MARKED
from karat.io.pages import PageReader
from karat.results.evaluation import Taken

if TYPE_CHECKING:
    import polars as pl

_HIT_COLUMNS = ("page", "page_label", "url", "text", "tokens")
_PAGES = ("page_number", "page", "page_label")
_REST = ("score", "system", "url", "text", "tokens")
_PLACES = (*_PAGES, "url", "quote", "span")  # that a judgement may name beside a document


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if not has_records(look):
        return None
    names = Names(TABLE, look.fields)
    if not (names.has("question") and names.has("doc")):
        return None
    if Names(TESTSET, look.fields).has(*GOLD_FIELDS) or Names(RESULTS, look.fields).has(*RETRIEVED_FIELDS, "answer"):
        return None
    if kind == "results":
        if names.has("score"):
            return Fit(0.9, "a question, a document and a score in every row")
        if names.has("rank"):
            return Fit(0.85, "a question, a document and a rank in every row")
        return None if names.has("grade") else Fit(0.4, "a question and a document in every row")
    explicit = [name for name in names.of["grade"] if name != "score"]
    if explicit:
        return Fit(0.9, "a question, a document and a grade in every row")
    if names.has("grade") and all(_is_grade(record.get("score")) for record in look.sample):
        return Fit(0.6, "a question, a document and a whole number in every row")
    return None


def _is_grade(value: Any) -> bool:
    try:
        _cells.whole(value)
    except CellError:
        return False
    return True


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    if any(name in look.fields for name in _PLACES):
        return read_gold_rows(look, FORMAT.name)
    table = read_judgements(look)
    judgements = sum(len(docs) for docs in table.values())
    what = f"{plural(len(table), 'question')}, {plural(judgements, 'judgement')}"
    return TestSet(qrels=table, name=look.stem), Taken(look.name, FORMAT.name, what, tuple(judgement_notes(look)))


def _frame(look: Look) -> tuple[pl.DataFrame, Sequence[int]]:
    """The table with normalised column names, and the number of each row; of a text file every cell is text."""
    import polars as pl

    frame = look.frame if look.shape in ("parquet", "workbook", "frame") else _plain_text_table(look)
    if frame is None:
        numbered = list(look.records())
        columns = {name: [record.get(name) for _, record in numbered] for name in look.fields}
        return pl.DataFrame({n: _series(v) for n, v in columns.items()}), [row for row, _ in numbered]
    names: dict[str, str] = {}
    for column in frame.columns:
        name = next((field for c, field in look.columns.items() if field_name(c) == field_name(column)), None)
        name = name or field_name(column)
        if name not in names.values():
            names[column] = name
    first = 2 if look.shape in ("csv", "tsv") else 1
    return frame.select(list(names)).rename(names), range(first, first + frame.height)


def _plain_text_table(look: Look) -> pl.DataFrame | None:
    """A CSV or TSV file read at once; None where quotation marks or blank lines ask for a closer look."""
    import polars as pl

    if look.shape not in ("csv", "tsv"):
        return None
    source = look.need_source()
    data = source.whole_lines().lstrip(b"\r\n").replace(b"\r\n", b"\n")
    if b'"' in data or b"\n\n" in data or source.head[:1] in b"\r\n" or any(mark in data for mark in MARKED):
        return None
    separator = "\t" if look.shape == "tsv" else look.delimiter

    def read() -> pl.DataFrame:
        return pl.read_csv(data, separator=separator, infer_schema=False, quote_char=None)

    return _records.guarded(read, source, "cannot be read as a table")


def _series(values: list[Any]) -> pl.Series:
    """A column of Python values: numbers if all are, else text."""
    import polars as pl

    if all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values):
        try:
            return pl.Series(values, strict=False)
        except (OverflowError, pl.exceptions.PolarsError):
            pass
    return pl.Series([None if v is None else (_cells.id_text(v) if not isinstance(v, str) else v) for v in values])


def id_column(column: pl.Series) -> pl.Series:
    """Ids as text: whole floats without their .0, blanks around text dropped, empty text as null."""
    import polars as pl

    if column.dtype == pl.Object:
        values = [None if _cells.is_missing(value) else _cells.id_text(value) for value in column.to_list()]
        return pl.Series(column.name, values, dtype=pl.String)
    if column.dtype.is_float():
        finite = column.is_finite()
        whole = (column == column.floor()) & finite & (column.abs() < 2.0**62)
        text = column.cast(pl.String)
        as_whole = column.set(~whole.fill_null(False), None).cast(pl.Int64).cast(pl.String)
        made = pl.select(pl.when(whole).then(as_whole).otherwise(text)).to_series()
        return pl.select(pl.when(finite).then(made).otherwise(None)).to_series()
    if column.dtype.is_integer():
        return column.cast(pl.String)
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise CellError(f"the column {column.name!r} holds {column.dtype} where ids are meant", "Give one id a row.")
    text = column.cast(pl.String).str.strip_chars()
    if text.str.contains(r"^\d+\.0$").any() and text.drop_nulls().str.contains(r"^\d+(\.0)?$").all():
        text = text.str.strip_suffix(".0")  # a column of floats before it was written
    return text.set(text == "", None)


def _first(mask: pl.Series) -> int:
    """Index of the first row where the mask holds."""
    return int(mask.arg_max() or 0)


def _numbers(look: Look, column: pl.Series, name: str, rows: Sequence[int]) -> pl.Series:
    import polars as pl

    if column.dtype == pl.Object:
        column = pl.Series(column.name, [None if v is None else str(v) for v in column.to_list()], dtype=pl.String)
    if column.dtype.is_nested() or not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Null)):
        raise look.error(f"{column.dtype} stands where numbers are meant", field=name, remedy="Give numbers.")
    numbers = column.str.strip_chars() if column.dtype == pl.String else column
    numbers = numbers.cast(pl.Float64, strict=False)
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    if bad.any():
        index = _first(bad)
        value = column[index]
        problem = (
            f"no {name}"
            if _cells.is_missing(value) and value is None
            else f"{name} {shown(value)} is not a finite number"
        )
        raise look.error(problem, row=rows[index], field=name, remedy="Give every hit a number.")
    return numbers


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    try:
        return _read_columns(look)
    except CellError as error:
        raise look.error(error.problem, remedy=error.remedy) from None


def _read_columns(look: Look) -> tuple[list[Run], Taken]:
    import polars as pl

    frame, rows = _frame(look)
    names = Names(TABLE, frame.columns)
    columns: dict[str, pl.Series] = {}
    notes: list[str] = []
    for field in ("question", "doc", *(("system",) if names.of["system"] else ())):
        name = names.of[field][0]
        ids = id_column(frame[name])
        if ids.null_count():
            row = rows[_first(ids.is_null())]
            raise look.error(f"no {field}", row=row, field=name, remedy="Fill in the cell, or remove the row.")
        columns[field] = ids
    if look.shape in ("csv", "tsv") and columns["question"].str.contains(r"^\d+\.0$").all():
        columns["question"] = columns["question"].str.strip_suffix(".0")
    if names.of["score"]:
        columns["score"] = _numbers(look, frame[names.of["score"][0]], names.of["score"][0], rows)
    elif names.of["rank"]:
        columns["score"] = -_numbers(look, frame[names.of["rank"][0]], names.of["rank"][0], rows)
        notes.append("no scores: hits are ordered by their rank")
    else:
        notes.append("neither scores nor ranks: hits are taken in the order of the rows")
    paged, page_notes = _pages(frame, names)
    columns |= paged
    for field in ("url", "text", "tokens"):
        if names.of[field]:
            columns[field] = id_column(frame[names.of[field][0]]) if field != "text" else frame[names.of[field][0]]
    used = [names.of[field][0] for field in ("question", "doc", *_REST) if names.of[field] and field in columns]
    if "score" in columns and not names.of["score"]:
        used.append(names.of["rank"][0])
    notes += page_notes + look.column_notes([*used, *(n for n in _PAGES if names.of.get(n))])
    table = pl.DataFrame(columns)
    if not table.height:
        raise look.error("no hits", remedy="Give at least one row.")
    _refuse_repeats(look, table, rows)
    systems = table.partition_by("system", maintain_order=True) if "system" in columns else [table]
    runs = [_run(part, look) for part in systems]
    return runs, Taken(look.name, FORMAT.name, described(runs), tuple(notes))


def _pages(frame: pl.DataFrame, names: Names) -> tuple[dict[str, pl.Series], list[str]]:
    """The columns page and page_label, by the one rule for pages, and what to say of them."""
    import polars as pl

    given = {field: id_column(frame[names.of[field][0]]) for field in _PAGES if names.of[field]}
    if not given:
        return {}, []
    reader = PageReader()
    nothing = [None] * frame.height
    cells = zip(*(given[field].to_list() if field in given else nothing for field in _PAGES), strict=True)
    pages, labels = zip(*(reader.read(*row) for row in cells), strict=True)
    columns = {"page": pl.Series(pages, dtype=pl.String)}
    if "page_label" in given:
        columns["page_label"] = pl.Series(labels, dtype=pl.String)
    return columns, reader.notes()


def _refuse_repeats(look: Look, table: pl.DataFrame, rows: Sequence[int]) -> None:
    import polars as pl

    keys = [name for name in ("system", "question", "doc") if name in table.columns]
    if table.select(keys).n_unique() == table.height:
        return
    first = table.select(pl.struct(keys).is_first_distinct()).to_series()
    index = _first(~first)
    raise look.error(
        f"document {shown(table['doc'][index])} stands twice for question {shown(table['question'][index])}",
        row=rows[index],
        remedy="Keep one row for each question and document.",
    )


def _run(table: pl.DataFrame, look: Look) -> Run:
    """One system's rows, grouped by question in order of first appearance."""
    import polars as pl

    name = table["system"][0] if "system" in table.columns else look.stem
    rest = [pl.col(column) for column in table.columns if column not in ("system", "question")]
    grouped = table.group_by("question", maintain_order=True).agg(*rest)
    sizes = grouped["doc"].list.len().to_numpy().astype(np.int64)
    fields: dict[str, list[Any]] = {}
    for column in _HIT_COLUMNS:
        if column in table.columns:
            values = grouped[column].explode().to_list()
            fields[column] = (
                [None if v is None else _cells.whole(v, "tokens") for v in values] if column == "tokens" else values
            )
    scores = grouped["score"].explode().to_numpy() if "score" in table.columns else None
    return Run(
        name,
        grouped["question"].to_list(),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
        grouped["doc"].explode(),
        scores,
        order="given" if scores is None else "score",
        fields=fields,
        source=look.name,
        unique=True,
    )


FORMAT = Format("table", "one row a hit (query, doc, score), or a judgement", _sniff, _read_testset, _read_results)
