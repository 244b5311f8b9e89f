"""rag_benchmark: questions generated from chunks, with `relevant_chunk_ids` as gold."""

from __future__ import annotations

from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    told = "relevant_chunk_ids" in input.fields and fits(input, kind)
    return Fit(0.95, "gold chunks in relevant_chunk_ids") if told else None


FORMAT = Format(name="rag_benchmark", about="questions with gold chunk ids", sniff=_sniff, read_testset=read_questions)
