"""rag_benchmark: questions generated from chunks, with `relevant_chunk_ids` as gold."""

from __future__ import annotations

from karat.core.types import TestSet
from karat.files import _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import fits
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if kind == "testset" and fits(look, kind) and "relevant_chunk_ids" in look.fields:
        return Fit(0.95, "gold chunks in relevant_chunk_ids")
    return None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return _testset.read_records(look, FORMAT.name)


FORMAT = Format("rag_benchmark", "questions with gold chunk ids", _sniff, _read_testset)
