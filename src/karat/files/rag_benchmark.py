"""rag_benchmark: questions generated from chunks, with `relevant_chunk_ids` as gold."""

from __future__ import annotations

from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if "relevant_chunk_ids" not in input.fields or not fits(input, kind):
        return None
    return Fit(0.95, "gold chunks in relevant_chunk_ids")


FORMAT = Format(name="rag_benchmark", about="questions with gold chunk ids", sniff=_sniff, read_testset=read_questions)
