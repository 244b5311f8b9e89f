"""Parquet: rows.parquet, every score with its status and reason."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from karat.report import frame
from karat.report._output import Output

if TYPE_CHECKING:
    from karat.results.evaluation import Evaluation


def render(evaluation: Evaluation) -> bytes:
    """The file's bytes, the same for the same evaluation."""
    out = io.BytesIO()
    frame.rows(evaluation).write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()


OUTPUT = Output(".parquet", render, {"rows.parquet": render})
