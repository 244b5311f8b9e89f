"""hybrid_rag: questions with gold URLs under `questions` or `test_cases`, and a rows CSV with several methods."""

from __future__ import annotations

from karat.core.run import Run
from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.io.input import Input

_GOLD = frozenset({"source_url", "ground_truth_url", "ground_truth_urls"})


def _sniff(input: Input, kind: Kind) -> Fit | None:
    fields = set(input.fields) if input.has_records else set()
    if "retrieved_top1_url" in fields and ("expected_url" in fields or kind == "results"):
        return Fit(0.95, "retrieved_top1_url beside expected_url")
    if kind == "testset" and fields & _GOLD and fits(input, kind):
        wrapped = input.wrapper in ("questions", "test_cases")
        return Fit(0.95 if wrapped else 0.85, "gold URLs in " + min(fields & _GOLD))
    return None


def _read_results(input: Input) -> tuple[list[Run], list[str]]:
    runs, notes = read_systems(input)
    if "retrieved_top1_url" in input.fields and "retrieved_urls" not in input.fields:
        notes.insert(0, "only the first hit of each question is in the file: measures beyond rank 1 see nothing")
    return runs, notes


FORMAT = Format(
    name="hybrid_rag",
    about="questions with gold URLs; rows CSV by method",
    sniff=_sniff,
    read_testset=read_questions,
    read_results=_read_results,
)
