"""liverag: LiveRAG and DataMorgana question sets, results TSV, and the live JSONL with passages."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.core.run import Run
from karat.core.types import Gold, TestSet
from karat.files import _results, _testset
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._signs import fits
from karat.files._write import hits_of, lost_of, lost_of_answers, written
from karat.io.formulas import cell
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if not fits(look, kind):
        return None
    fields = set(look.fields)
    if kind == "testset":
        if "document_ids" in fields:
            return Fit(0.95, "gold documents in document_ids")
        return Fit(0.7, "id and question, nothing else") if fields == {"id", "question"} else None
    if "passages" in fields:
        return Fit(0.95, "passages")
    if "doc_ids" in fields and fields & {"qid", "system_name", "total_time_ms"}:
        return Fit(0.95, "doc_ids of a LiveRAG system")
    return None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    return _testset.read_records(look, FORMAT.name)


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    return _results.read_records(look, FORMAT.name)


def _is_live(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def _doc(gold: Gold) -> str:
    return gold.doc if gold.doc is not None else gold.label


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    """TSV with documents and categories; a name that ends with .jsonl gets the live form, ids and questions."""
    if _is_live(path):
        with written(path) as file:
            for question in testset:
                file.write(json.dumps({"id": question.id, "question": question.text}, ensure_ascii=False) + "\n")
        return lost_of(testset, keeps=("texts",))
    tags = list(dict.fromkeys(tag for question in testset for tag in question.tags))
    kept = [tag for tag in tags if tag.startswith(("question_", "user_"))]
    with written(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(["qid", "question", "answer", "context", "document_ids", *map(cell, kept)])
        for question in testset:
            docs = list(dict.fromkeys(_doc(gold) for gold in question.gold if gold.grade > 0))
            quotes = [gold.quote for gold in question.gold if gold.quote is not None]
            answer = question.answers[0] if question.answers else ""
            cells = [question.id, question.text, answer, _listed(quotes), _listed(docs)]
            table.writerow(map(cell, [*cells, *(question.tags.get(tag, "") for tag in kept)]))
    return lost_of(testset, keeps=("texts", "answers", "gold", *(("tags",) if kept == tags else ())))


def _listed(items: Sequence[str]) -> str:
    return json.dumps(list(items), ensure_ascii=False)


def _write_results(runs: Sequence[Run], path: Path) -> list[str]:
    """TSV, a row for each question and system; a name that ends with .jsonl gets the live form with passages."""
    return _write_live(runs, path) if _is_live(path) else _write_rows(runs, path)


def _write_rows(runs: Sequence[Run], path: Path) -> list[str]:
    with written(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        broken = any(answer.error is not None for run in runs for answer in run.answers.values())
        columns = ["qid", "question", "answer", "context", "doc_ids", "total_time_ms", "system_name", "status", "error"]
        table.writerow([*columns, *(["answer_error"] if broken else [])])
        for run in runs:
            for qid, hits in hits_of(run):
                answer = run.answers.get(qid)
                seconds = answer.seconds if answer is not None else {}
                total = seconds.get("total", sum(seconds.values())) if seconds else None
                failed = run.failed.get(qid)
                cells = [
                    qid,
                    run.texts.get(qid, ""),
                    (answer.text or "") if answer is not None else "",
                    _listed(_contexts(run, qid, hits)),
                    _listed([hit["id"] for hit in hits]),
                    "" if total is None else repr(round(total * 1000, 6)),
                    run.name,
                    "ok" if failed is None else "failed",
                    failed or "",
                    *([(answer.error or "") if answer is not None else ""] if broken else []),
                ]
                table.writerow(map(cell, cells))
    split = any(len(answer.seconds) > 1 for run in runs for answer in run.answers.values())
    return [*_lost(runs), *(["seconds of each step (their total is kept)"] if split else [])]


def _contexts(run: Run, qid: str, hits: list[dict[str, Any]]) -> list[str]:
    answer = run.answers.get(qid)
    if answer is not None and answer.contexts is not None:
        return list(answer.contexts)
    return [hit["text"] for hit in hits if "text" in hit]


def _write_live(runs: Sequence[Run], path: Path) -> list[str]:
    with written(path) as file:
        for run in runs:
            for qid, hits in hits_of(run):
                answer = run.answers.get(qid)
                row: dict[str, Any] = {
                    "id": qid,
                    "question": run.texts.get(qid, ""),
                    "passages": [{"passage": hit.get("text", ""), "doc_IDs": [hit["id"]]} for hit in hits],
                    "final_prompt": "",
                    "answer": (answer.text or "") if answer is not None else "",
                }
                if len(runs) > 1:
                    row["system"] = run.name
                if answer is not None and answer.error is not None:
                    row["answer_error"] = answer.error
                if qid in run.failed:
                    row |= {"status": "failed", "error": run.failed[qid]}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    timed = any(answer.seconds for run in runs for answer in run.answers.values())
    return [*_lost(runs), *(["seconds"] if timed else []), "final_prompt, which is not known"]


def _lost(runs: Sequence[Run]) -> list[str]:
    lost = []
    if any(run.scores is not None for run in runs):
        lost.append("scores (the order of the hits is kept)")
    if any(set(run.fields) - {"text"} for run in runs):
        lost.append("pages, URLs and further fields of the hits")
    answers = [answer for run in runs for answer in run.answers.values()]
    if any(a.tokens is not None or a.cost_usd is not None for a in answers):
        lost.append("tokens and cost")
    return [*lost, *lost_of_answers(runs)]


FORMAT = Format(
    "liverag",
    "LiveRAG / DataMorgana TSV, and the live JSONL",
    _sniff,
    _read_testset,
    _read_results,
    _write_testset,
    _write_results,
    endings=(".tsv", ".live.jsonl"),
)
