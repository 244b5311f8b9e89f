"""Parquet: rows.parquet, every score with its status and reason."""

from __future__ import annotations

import io
from itertools import chain

from karat.report import frame
from karat.report._output import Output
from karat.results.evaluation import Evaluation


def render(evaluation: Evaluation) -> bytes:
    """The file's bytes, the same for the same evaluation: a group of rows for each system, made one after another."""
    from polars.io.plugins import register_io_source

    groups, out = frame.row_groups(evaluation), io.BytesIO()
    first = next(groups)
    table = register_io_source(lambda *_: chain([first], groups), schema=first.schema)
    table.sink_parquet(out, compression="zstd", statistics=False, row_group_size=max(1, len(first)))
    return out.getvalue()


OUTPUT = Output(".parquet", render, {"rows.parquet": render})
