"""hybrid_rag: questions with gold URLs under `questions` or `test_cases`, and a rows CSV with several methods."""

from __future__ import annotations

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files import _results, _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import fits, has_records
from karat.results.evaluation import Taken

_GOLD = frozenset({"source_url", "ground_truth_url", "ground_truth_urls"})


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if not has_records(look):
        return None
    fields = set(look.fields)
    if "retrieved_top1_url" in fields and ("expected_url" in fields or kind == "results"):
        return Fit(0.95, "retrieved_top1_url beside expected_url")
    if kind == "testset" and fields & _GOLD and fits(look, kind):
        return Fit(0.95 if look.wrapper in ("questions", "test_cases") else 0.85, "gold URLs in " + min(fields & _GOLD))
    return None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return _testset.read_records(look, FORMAT.name)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    notes = []
    if "retrieved_top1_url" in look.fields and "retrieved_urls" not in look.fields:
        notes.append("only the first hit of each question is in the file: measures beyond rank 1 see nothing")
    return _results.read_records(look, FORMAT.name, notes=notes)


FORMAT = Format("hybrid_rag", "questions with gold URLs; rows CSV by method", _sniff, _read_testset, _read_results)
