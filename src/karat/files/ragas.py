"""ragas: `user_input` with references, and what a system retrieved and responded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files import _results, _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import fits
from karat.files._write import hits_of, lost_of, lost_of_answers, written
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    return Fit(0.95, "user_input") if "user_input" in look.fields and fits(look, kind) else None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return _testset.read_records(look, FORMAT.name)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    return _results.read_records(look, FORMAT.name)


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    with written(path) as file:
        for question in testset:
            row: dict[str, Any] = {"id": question.id} if question.id != question.text else {}
            row["user_input"] = question.text
            if question.answers:
                row["reference"] = question.answers[0]
            relevant = [gold for gold in question.gold if gold.grade > 0]
            quotes = [gold.quote or "" for gold in relevant]
            named = ["" if gold.label == gold.quote else gold.label for gold in relevant]
            if any(quotes) or not any(named):
                row["reference_contexts"] = quotes
            if any(named):
                row["reference_context_ids"] = named
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return lost_of(testset, keeps=("texts", "answers", "gold"))


def _write_results(runs: Sequence[Run], path: Path) -> list[str]:
    with written(path) as file:
        for run in runs:
            for qid, hits in hits_of(run):
                text = run.texts.get(qid, "")
                row: dict[str, Any] = {"id": qid} if qid != text else {}
                row["user_input"] = text
                if len(runs) > 1:
                    row["system"] = run.name
                row |= _result(run, qid, hits)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    lost = []
    if any(run.scores is not None for run in runs):
        lost.append("scores (the order of the hits is kept)")
    if any(set(run.fields) - {"text"} for run in runs):
        lost.append("pages, URLs and further fields of the hits")
    if any(a.seconds or a.tokens or a.cost_usd for run in runs for a in run.answers.values()):
        lost.append("seconds, tokens and cost")
    return [*lost, *lost_of_answers(runs)]


def _result(run: Run, qid: str, hits: list[dict[str, Any]]) -> dict[str, Any]:
    if qid in run.failed:
        return {"status": "failed", "error": run.failed[qid]}
    row: dict[str, Any] = {}
    answer = run.answers.get(qid)
    texts = [hit["text"] for hit in hits if "text" in hit]
    if answer is not None and answer.contexts is not None:
        texts = list(answer.contexts)
    if texts:
        row["retrieved_contexts"] = texts
    if qid in run.listed:
        row["retrieved_context_ids"] = [hit["id"] for hit in hits]
    if answer is not None and answer.text is not None:
        row["response"] = answer.text
    if answer is not None and answer.error is not None:
        row["answer_error"] = answer.error
    return row


FORMAT = Format(
    "ragas",
    "ragas JSONL",
    _sniff,
    _read_testset,
    _read_results,
    _write_testset,
    _write_results,
    endings=(".ragas.jsonl",),
)
