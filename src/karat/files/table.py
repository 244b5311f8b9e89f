"""table: one row a hit (query, doc, score[, system]) or, as a test set, one row a judgement; CSV, TSV or Parquet.

Kept in columns from end to end, so that millions of rows cost little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from karat.core.errors import InputError
from karat.core.run import Run
from karat.files._columns import id_column, table_frame
from karat.files._format import Fit, Format, Kind, names_gold
from karat.files._judgements import read_judgement_rows
from karat.files._runs import run_of_frames, small_run
from karat.io import cells
from karat.io.cells import quoted
from karat.io.fields import RESULTS, RETRIEVED_FIELDS, TABLE, Columns
from karat.io.input import Input
from karat.io.pages import PageReader

if TYPE_CHECKING:
    import polars as pl

_HIT_COLUMNS = ("page", "page_label", "url", "text", "tokens")
_PAGES = ("page_number", "page", "page_label")


def _sniff(input: Input, kind: Kind) -> Fit | None:
    columns = Columns(TABLE, input.fields if input.has_records else ())
    if not (columns.has("question") and columns.has("doc")):
        return None
    if names_gold(input) or Columns(RESULTS, input.fields).has(*RETRIEVED_FIELDS, "answer"):
        return None
    if kind == "results":
        if columns.has("score", "rank"):
            named = "score" if columns.has("score") else "rank"
            return Fit(0.9 if named == "score" else 0.85, f"a question, a document and a {named} in every row")
        return None if columns.has("grade") else Fit(0.4, "a question and a document in every row")
    if any(name != "score" for name in columns.of["grade"]):
        return Fit(0.9, "a question, a document and a grade in every row")
    if columns.has("grade") and all(cells.can_be(cells.whole_number, record.get("score")) for record in input.sample):
        return Fit(0.6, "a question, a document and a whole number in every row")
    return None


def _first(mask: pl.Series) -> int:
    """Index of the first row where the mask holds."""
    return int(mask.arg_max() or 0)


def _numbers(input: Input, column: pl.Series, rows: Sequence[int]) -> pl.Series:
    import polars as pl

    if column.dtype == pl.Object:
        column = pl.Series(column.name, [None if v is None else str(v) for v in column.to_list()], dtype=pl.String)
    if column.dtype.is_nested() or not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Null)):
        raise input.error(f"{column.dtype} stands where numbers are meant", field=column.name, remedy="Give numbers.")
    numbers = (column.str.strip_chars() if column.dtype == pl.String else column).cast(pl.Float64, strict=False)
    bad = ~numbers.is_finite().fill_null(False)
    if bad.any():
        value, row = column[_first(bad)], rows[_first(bad)]
        problem = f"no {column.name}" if value is None else f"{column.name} {quoted(value)} is not a finite number"
        raise input.error(
            problem, row=row, field=column.name, remedy=cells.with_point(value) or "Give every hit a number."
        )
    return numbers


def _read_results(input: Input) -> tuple[list[Run], list[str]]:
    with input.reading():
        with suppress(InputError):  # which the columns say in their words
            if (small := _read_small(input)) is not None:
                return small
        with suppress(_OddRowError):
            if (streamed := _read_frames(input)) is not None:
                return streamed
        return _read_columns(input)


class _OddRowError(Exception):
    """A row of a table that is not as plain as the others, for `_read_columns` to say or to read."""


def _read_frames(input: Input) -> tuple[list[Run], list[str]] | None:
    """A Parquet file whose columns are questions, documents and scores, piece by piece; None for any other input."""
    import polars as pl

    of = {field: names[0] for field, names in Columns(TABLE, input.fields).of.items() if names}
    wanted = ("question", "doc", "score")
    if input.shape != "parquet" or not of.keys() >= set(wanted) or of.keys() - {*wanted, "rank", "grade"}:
        return None
    columns = [input.original[of[field]] for field in wanted]

    def frames() -> Iterator[pl.DataFrame]:
        for frame in input.frames(columns):
            question, doc, score = (frame[name] for name in columns)
            if not score.dtype.is_numeric():
                raise _OddRowError
            ids = {"question": id_column(question), "doc": id_column(doc)}
            part = pl.DataFrame({**ids, "score": score.cast(pl.Float64)})
            if any(column.null_count() for column in part) or not part["score"].is_finite().all():
                raise _OddRowError
            yield part

    def refuse(question: str, doc: str) -> NoReturn:
        raise _OddRowError

    return [run_of_frames(input.stem, frames(), input.name, refuse)], input.column_notes([of[f] for f in wanted])


def _read_small(input: Input) -> tuple[list[Run], list[str]] | None:
    """A small text table of nothing but questions, documents and scores; None where it needs a closer look."""
    if input.shape not in ("csv", "tsv") or not input.need_source().is_small:
        return None
    of = {field: names[0] for field, names in Columns(TABLE, input.fields).of.items() if names}
    columns = [of.get(field, "") for field in ("question", "doc", "score")]
    if not all(columns) or of.keys() - {"question", "doc", "score", "grade"}:
        return None
    records = [record for _, record in input.records()]
    values = [[(record.get(name) or "").strip(" ") for record in records] for name in columns]
    if any(map(cells.were_floats, values[:2])):
        return None
    run = small_run(input.stem, zip(*values, strict=True), input.name)
    return None if run is None else ([run], input.column_notes(columns))


def _read_columns(input: Input) -> tuple[list[Run], list[str]]:
    import polars as pl

    frame, rows = table_frame(input)
    of = {field: names[0] for field, names in Columns(TABLE, frame.columns).of.items() if names}
    columns: dict[str, pl.Series] = {}
    notes: list[str] = []
    is_text = input.shape in ("csv", "tsv")
    for field in ("question", "doc", "system"):
        if field in of:
            columns[field] = id_column(frame[of[field]], from_floats=is_text)
            if columns[field].null_count():
                row = rows[_first(columns[field].is_null())]
                remedy = "Fill in the cell, or remove the row."
                raise input.error(f"no {field}", row=row, field=of[field], remedy=remedy)
    if "score" in of:
        of.pop("rank", None)
        columns["score"] = _numbers(input, frame[of["score"]], rows)
    elif "rank" in of:
        columns["score"] = -_numbers(input, frame[of["rank"]], rows)
        notes.append("no scores: hits are ordered by their rank")
    else:
        notes.append("neither scores nor ranks: hits are taken in the order of the rows")
    paged, page_notes = _pages(
        {field: id_column(frame[of[field]], from_floats=is_text) for field in _PAGES if field in of}
    )
    columns |= paged
    for field in ("url", "text", "tokens"):
        if field in of:
            columns[field] = frame[of[field]] if field == "text" else id_column(frame[of[field]])
    table = pl.DataFrame(columns)
    if not table.height:
        raise input.error("no hits", remedy="Give at least one row.")
    _refuse_repeats(input, table, rows)
    systems = table.partition_by("system", maintain_order=True) if "system" in columns else [table]
    used = [name for field, name in of.items() if field != "grade"]
    return [_run(part, input) for part in systems], notes + page_notes + input.column_notes(used)


def _pages(named: dict[str, pl.Series]) -> tuple[dict[str, pl.Series], list[str]]:
    """The columns page and page_label, by the one rule for pages, and what to say of them."""
    import polars as pl

    if not named:
        return {}, []
    reader = PageReader()
    nothing = [None] * len(next(iter(named.values())))
    values = zip(*(named[field].to_list() if field in named else nothing for field in _PAGES), strict=True)
    pages, labels = zip(*(reader.read(*row) for row in values), strict=True)
    columns = {"page": pl.Series(pages, dtype=pl.String)}
    if "page_label" in named:
        columns["page_label"] = pl.Series(labels, dtype=pl.String)
    return columns, reader.notes()


def _refuse_repeats(input: Input, table: pl.DataFrame, rows: Sequence[int]) -> None:
    import polars as pl

    keys = [name for name in ("system", "question", "doc") if name in table.columns]
    if table.select(keys).n_unique() == table.height:
        return
    first = table.select(pl.struct(keys).is_first_distinct()).to_series()
    index = _first(~first)
    raise input.error(
        f"document {quoted(table['doc'][index])} stands twice for question {quoted(table['question'][index])}",
        row=rows[index],
        remedy="Keep one row for each question and document.",
    )


def _run(table: pl.DataFrame, input: Input) -> Run:
    """One system's rows, grouped by question in order of first appearance."""
    import polars as pl

    name = table["system"][0] if "system" in table.columns else input.stem
    rest = [pl.col(column) for column in table.columns if column not in ("system", "question")]
    grouped = table.group_by("question", maintain_order=True).agg(*rest)
    sizes = grouped["doc"].list.len().to_numpy().astype(np.int64)
    fields: dict[str, list[Any]] = {}
    for column in _HIT_COLUMNS:
        if column in table.columns:
            values = grouped[column].explode().to_list()
            fields[column] = (
                [None if v is None else cells.whole_number(v, "tokens") for v in values]
                if column == "tokens"
                else values
            )
    scores = grouped["score"].explode().to_numpy() if "score" in table.columns else None
    return Run(
        name,
        question_ids=grouped["question"].to_list(),
        offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
        _docs=grouped["doc"].explode(),
        _scores=scores,
        order="given" if scores is None else "score",
        fields=fields,
        source=input.name,
        unique=True,
    )


FORMAT = Format(
    name="table",
    about="one row a hit (query, doc, score), or a judgement",
    sniff=_sniff,
    read_testset=read_judgement_rows,
    read_results=_read_results,
)
