"""CSV: rows.csv and summary.csv, for spreadsheets and scripts.

Numbers are written in full, a missing one as an empty cell. Text that a spreadsheet would run as a formula gets an
apostrophe in front (see `io/formulas`), which Parquet and JSON do without.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.io.formulas import guarded_cell
from karat.report import frame
from karat.report._output import Output

if TYPE_CHECKING:
    import polars as pl

    from karat.results.evaluation import Evaluation


def render(evaluation: Evaluation) -> str:
    """rows.csv: one row per system x question, every measure, and a status."""
    return "".join(parts(evaluation))


def parts(evaluation: Evaluation) -> Iterator[str]:
    """The same, system by system."""
    for number, rows in enumerate(frame.row_groups(evaluation, flat=True)):
        yield written(rows, header=not number)


def summary(evaluation: Evaluation) -> str:
    """summary.csv: one row per system x measure x slice."""
    return written(frame.summary(evaluation))


def written(table: pl.DataFrame, *, header: bool = True) -> str:
    """A table as CSV text, safe for spreadsheets."""
    import polars as pl

    text = [name for name, kind in table.schema.items() if kind == pl.String]
    table = table.with_columns(
        pl.Series(name, [None if v is None else guarded_cell(v) for v in table[name]], pl.String) for name in text
    ).rename({name: guarded_cell(name) for name in table.columns if guarded_cell(name) != name})
    return table.write_csv(include_header=header)


OUTPUT = Output(".csv", summary, {"rows.csv": parts, "summary.csv": summary})
