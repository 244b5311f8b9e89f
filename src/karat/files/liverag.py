"""liverag: LiveRAG and DataMorgana question sets, results TSV, and the live JSONL with passages."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from karat.core.run import Run
from karat.core.types import Gold, TestSet
from karat.files._format import Fit, Format, Kind, fits
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.files._write import contexts_of, lost_of, lost_of_results, rows_of, write_lines, written
from karat.io.formulas import guarded_cell
from karat.io.input import Input

_COLUMNS = ("qid", "question", "answer", "context", "doc_ids", "total_time_ms", "system_name", "status", "error")


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if not fits(input, kind):
        return None
    fields = set(input.fields)
    if kind == "testset":
        if "document_ids" in fields:
            return Fit(0.95, "gold documents in document_ids")
        return Fit(0.7, "id and question, nothing else") if fields == {"id", "question"} else None
    if "passages" in fields:
        return Fit(0.95, "passages")
    if "doc_ids" in fields and fields & {"qid", "system_name", "total_time_ms"}:
        return Fit(0.95, "doc_ids of a LiveRAG system")
    return None


def _is_live(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def _doc(gold: Gold) -> str:
    return gold.doc if gold.doc is not None else gold.label


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    """TSV with documents and categories; a name that ends with .jsonl gets the live form, ids and questions."""
    if _is_live(path):
        write_lines(path, ({"id": question.id, "question": question.text} for question in testset))
        return lost_of(testset, keeps=("texts",))
    tags = list(dict.fromkeys(tag for question in testset for tag in question.tags))
    written_tags = [tag for tag in tags if tag.startswith(("question_", "user_"))]
    with written(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(["qid", "question", "answer", "context", "document_ids", *map(guarded_cell, written_tags)])
        for question in testset:
            docs = list(dict.fromkeys(_doc(gold) for gold in question.gold if gold.grade > 0))
            quotes = [gold.quote for gold in question.gold if gold.quote is not None]
            answer = question.answers[0] if question.answers else ""
            cells = [question.id, question.text, answer, _listed(quotes), _listed(docs)]
            table.writerow(map(guarded_cell, [*cells, *(question.tags.get(tag, "") for tag in written_tags)]))
    return lost_of(testset, keeps=("texts", "answers", "gold", *(("tags",) if written_tags == tags else ())))


def _listed(items: Sequence[str]) -> str:
    return json.dumps(list(items), ensure_ascii=False)


def _write_results(runs: Sequence[Run], path: Path) -> list[str]:
    """TSV, a row for each question and system; a name that ends with .jsonl gets the live form with passages."""
    if _is_live(path):
        write_lines(path, _live(runs))
        return [*lost_of_results(runs), "final_prompt, which is not known"]
    broken = any(answer.error is not None for run in runs for answer in run.answers.values())
    with written(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow([*_COLUMNS, *(["answer_error"] if broken else [])])
        for run, qid, hits, common in rows_of(runs):
            answer = run.answers.get(qid)
            seconds = answer.seconds if answer is not None else {}
            cells = [
                qid,
                run.texts.get(qid, ""),
                (answer.text or "") if answer is not None else "",
                _listed(contexts_of(run, qid, hits)),
                _listed([hit["id"] for hit in hits]),
                repr(round(seconds.get("total", sum(seconds.values())) * 1000, 6)) if seconds else "",
                run.name,
                common.get("status", "ok"),
                common.get("error", ""),
                *([(answer.error or "") if answer is not None else ""] if broken else []),
            ]
            table.writerow(map(guarded_cell, cells))
    split = any(len(answer.seconds) > 1 for run in runs for answer in run.answers.values())
    lost = lost_of_results(runs, keeps=("seconds",))
    return [*lost, *(["seconds of each step (their total is kept)"] if split else [])]


def _live(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    for run, qid, hits, common in rows_of(runs):
        answer = run.answers.get(qid)
        row: dict[str, Any] = {
            "id": qid,
            "question": run.texts.get(qid, ""),
            "passages": [{"passage": hit.get("text", ""), "doc_IDs": [hit["id"]]} for hit in hits],
            "final_prompt": "",
            "answer": (answer.text or "") if answer is not None else "",
        }
        if answer is not None and answer.error is not None:
            row["answer_error"] = answer.error
        yield row | common


FORMAT = Format(
    name="liverag",
    about="LiveRAG / DataMorgana TSV, and the live JSONL",
    sniff=_sniff,
    read_testset=read_questions,
    read_results=read_systems,
    write_testset=_write_testset,
    write_results=_write_results,
    endings=(".tsv", ".live.jsonl"),
)
