"""canonical: karat's own JSONL, one question or one result a line; holds all that karat knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.core.run import HIT_FIELDS, Run
from karat.core.types import Answer, Gold, Question, TestSet
from karat.files import _results, _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import fits
from karat.files._write import hits_of, written
from karat.results.evaluation import Taken

_GOLD = ("id", "doc", "page", "url", "chunk", "quote", "span")


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if look.shape not in ("jsonl", "json list", "records", "frame") or not fits(look, kind):
        return None
    fields = set(look.fields)
    if kind == "testset":
        if "gold" in fields:
            return Fit(0.92, "gold")
        return Fit(0.8, "id, question and answers") if {"id", "question", "answers"} <= fields else None
    if "retrieved" in fields:
        return Fit(0.92, "retrieved")
    return Fit(0.6, "id and answer") if {"id", "answer"} <= fields else None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return _testset.read_records(look, FORMAT.name)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    return _results.read_records(look, FORMAT.name)


def _gold(gold: Gold) -> dict[str, Any]:
    made: dict[str, Any] = {name: value for name in _GOLD if (value := getattr(gold, name)) is not None}
    if gold.grade != 1:
        made["grade"] = gold.grade
    return made


def _question(question: Question) -> dict[str, Any]:
    made: dict[str, Any] = {"id": question.id}
    if question.text:
        made["question"] = question.text
    if question.answers:
        made["answers"] = list(question.answers)
    made["gold"] = [_gold(gold) for gold in question.gold]
    if question.kind is not None:
        made["kind"] = question.kind
    if question.tags:
        made["tags"] = dict(question.tags)
    if not question.answerable:
        made["answerable"] = False
    return made


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    with written(path) as file:
        for question in testset:
            file.write(json.dumps(_question(question), ensure_ascii=False) + "\n")
    return []


def _write_results(runs: Sequence[Run], path: Path) -> list[str]:
    with written(path) as file:
        for run in runs:
            for qid, hits in hits_of(run):
                row: dict[str, Any] = {"id": qid}
                if len(runs) > 1:
                    row["system"] = run.name
                if qid in run.texts:
                    row["question"] = run.texts[qid]
                if qid in run.failed:
                    row |= {"status": "failed", "error": run.failed[qid]}
                else:
                    row |= _result(run, qid, hits)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return []


def _result(run: Run, qid: str, hits: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if qid in run.listed:
        row["retrieved"] = [{k: h[k] for k in ("id", "score", *HIT_FIELDS) if h.get(k) is not None} for h in hits]
    return row | (answer_row(run.answers[qid]) if qid in run.answers else {})


def answer_row(answer: Answer) -> dict[str, Any]:
    """The fields of an answer in a row of canonical results."""
    known = {
        "answer_error": answer.error,
        "confidence": answer.confidence,
        "contexts": None if answer.contexts is None else list(answer.contexts),
        "context_ids": None if answer.used is None else list(answer.used),
        "model": answer.model,
        "seconds": dict(answer.seconds) or None,
        "tokens": answer.tokens,
        "cost_usd": answer.cost_usd,
    }
    return {"answer": answer.text, **{name: value for name, value in known.items() if value is not None}}


FORMAT = Format(
    "canonical",
    "karat's own JSONL",
    _sniff,
    _read_testset,
    _read_results,
    _write_testset,
    _write_results,
    endings=(".jsonl", ".ndjson"),
)
