"""ragas: `user_input` with references, and what a system retrieved and responded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from karat.core.run import Run
from karat.core.types import Question, TestSet
from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.files._write import contexts_of, lost_of, lost_of_results, rows_of, write_lines
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    return Fit(0.95, "user_input") if "user_input" in input.fields and fits(input, kind) else None


def _asked(qid: str, text: str) -> dict[str, Any]:
    return {"user_input": text} if qid == text else {"id": qid, "user_input": text}


def _question(question: Question) -> dict[str, Any]:
    row = _asked(question.id, question.text)
    if question.answers:
        row["reference"] = question.answers[0]
    relevant = [gold for gold in question.gold if gold.grade > 0]
    quotes = [gold.quote or "" for gold in relevant]
    named = ["" if gold.label == gold.quote else gold.label for gold in relevant]
    if any(quotes) or not any(named):
        row["reference_contexts"] = quotes
    if any(named):
        row["reference_context_ids"] = named
    return row


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    write_lines(path, map(_question, testset))
    return lost_of(testset, keeps=("texts", "answers", "gold"))


def _results(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    for run, qid, hits, common in rows_of(runs):
        answer, texts = run.answers.get(qid), contexts_of(run, qid, hits)
        fields = {
            "retrieved_contexts": texts or None,
            "retrieved_context_ids": [hit["id"] for hit in hits] if qid in run.listed else None,
            "response": None if answer is None else answer.text,
            "answer_error": None if answer is None else answer.error,
        }
        known = {} if qid in run.failed else {name: value for name, value in fields.items() if value is not None}
        yield _asked(qid, run.texts.get(qid, "")) | common | known


def _write_results(runs: Sequence[Run], path: Path) -> list[str]:
    write_lines(path, _results(runs))
    return lost_of_results(runs)


FORMAT = Format(
    name="ragas",
    about="ragas JSONL",
    sniff=_sniff,
    read_testset=read_questions,
    read_results=read_systems,
    write_testset=_write_testset,
    write_results=_write_results,
    endings=(".ragas.jsonl",),
)
