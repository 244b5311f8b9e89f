"""records: any JSON, JSONL, CSV, TSV or Parquet whose field names are known, one record a question."""

from __future__ import annotations

from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    return Fit(0.5, f"{input.shape} with known fields") if fits(input, kind) else None


FORMAT = Format(
    name="records",
    about="records with known field names",
    sniff=_sniff,
    read_testset=read_questions,
    read_results=read_systems,
)
