"""records: any JSON, JSONL, CSV, TSV or Parquet whose field names are known, one record a question."""

from __future__ import annotations

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files import _results, _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import fits
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    return Fit(0.5, f"{look.shape} with known fields") if fits(look, kind) else None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return _testset.read_records(look, FORMAT.name)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    return _results.read_records(look, FORMAT.name)


FORMAT = Format("records", "records with known field names", _sniff, _read_testset, _read_results)
