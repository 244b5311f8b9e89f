"""canonical: karat's own JSONL, one question or one result a line; holds all that karat knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from karat.core.run import HIT_FIELDS, Run
from karat.core.types import Answer, Gold, Question, TestSet
from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.files._write import rows_of, write_lines
from karat.io.input import Input

_GOLD = ("id", "doc", "page", "url", "chunk", "quote", "span")


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.shape not in ("jsonl", "json list", "records", "frame") or not fits(input, kind):
        return None
    fields = set(input.fields)
    if kind == "testset":
        if "gold" in fields:
            return Fit(0.92, "gold")
        what = next((name for name in ("answers", "nuggets") if {"id", "question", name} <= fields), None)
        return None if what is None else Fit(0.8, f"id, question and {what}")
    if "retrieved" in fields:
        return Fit(0.92, "retrieved")
    if {"id", "steps"} <= fields:
        return Fit(0.92, "id and steps")
    return Fit(0.6, "id and answer") if {"id", "answer"} <= fields else None


def gold_row(gold: Gold) -> dict[str, Any]:
    """A gold entry as canonical test sets hold it."""
    fields: dict[str, Any] = {name: value for name in _GOLD if (value := getattr(gold, name)) is not None}
    return fields | ({"grade": gold.grade} if gold.grade != 1 else {})


def _question(question: Question) -> dict[str, Any]:
    fields = {
        "id": question.id,
        "question": question.text or None,
        "answers": list(question.answers) or None,
        "gold": [gold_row(gold) for gold in question.gold],
        "kind": question.kind,
        "tags": dict(question.tags) or None,
        "answerable": None if question.answerable else False,
        "nuggets": [{"text": n.text, "importance": "vital" if n.vital else "okay"} for n in question.nuggets] or None,
        "excluded": list(question.excluded) or None,
        "conversation": question.conversation,
        "turn": question.turn,
        "history": _history(question),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _history(question: Question) -> list[dict[str, str]] | None:
    """The earlier turns; an empty list says that a turn of a conversation has none, so that none are derived."""
    is_turn = question.conversation is not None and question.turn is not None
    turns = [
        {"question": turn.question, **({} if turn.answer is None else {"answer": turn.answer})}
        for turn in question.history
    ]
    return turns if turns or is_turn else None


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    write_lines(path, map(_question, testset))
    return []


def _write_results(runs: Sequence[Run], path: Path) -> list[str]:
    write_lines(path, result_rows(runs))
    return []


def result_rows(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """Each question of each system as a row of canonical results."""
    for run, qid, hits, common in rows_of(runs):
        row: dict[str, Any] = {"id": qid, **common}
        if qid in run.texts:
            row["question"] = run.texts[qid]
        if qid not in run.failed and qid in run.listed:
            row["retrieved"] = [{k: h[k] for k in ("id", "score", *HIT_FIELDS) if h.get(k) is not None} for h in hits]
        if qid not in run.failed and qid in run.answers:
            row |= answer_row(run.answers[qid])
        if qid in run.steps:
            row["steps"] = list(run.steps[qid])
        yield row


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
    name="canonical",
    about="karat's own JSONL",
    sniff=_sniff,
    read_testset=read_questions,
    read_results=read_systems,
    write_testset=_write_testset,
    write_results=_write_results,
    endings=(".jsonl", ".ndjson"),
)
