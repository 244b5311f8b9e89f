"""Comparisons: every pair of systems by a measure, as a table for spreadsheets and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.outputs.csv import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.results.comparison import Pair


def render(pairs: Sequence[Pair]) -> str:
    """comparisons.csv: b - a over the questions both have, its interval, p and p after Holm, wins, ties, losses."""
    import polars as pl

    columns = {
        "measure": pl.String, "a": pl.String, "b": pl.String, "n": pl.Int64, "difference": pl.Float64,
        "low": pl.Float64, "high": pl.Float64, "p": pl.Float64, "adjusted": pl.Float64, "wins": pl.Int64,
        "ties": pl.Int64, "losses": pl.Int64,
    }  # fmt: skip
    table = {name: [getattr(pair, name) for pair in pairs] for name in columns}
    return written(pl.DataFrame(table, schema=columns).with_columns(pl.col("difference").fill_nan(None)))
