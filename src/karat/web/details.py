"""Details: one question, from the study of its run, or from its rows alone where no study is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError, did_you_mean
from karat.io.cells import known_number
from karat.io.parquet import parquet_columns
from karat.report.question_detail import failure_words, hit_entry, question_detail
from karat.web.rows import ROWS, QuestionTable

if TYPE_CHECKING:
    from karat.experiment.store import RunFolder
    from karat.web.runs import OpenedStudy, View

MOST_SYSTEMS = 60  # of one question at once
WITHOUT_STUDY = (
    "Texts of hits, gold and reference answers stand in study.json.gz, which is not there or too large to open here: "
    "`karat show {run} {question}` shows them."
)


def detail_of(view: View, run: RunFolder, question: str, systems: Sequence[str] = ()) -> dict[str, Any]:
    """A question of a run with what each system found, answered and scored. Waits until the study is read."""
    if len(systems) > MOST_SYSTEMS:
        raise UsageError(f"{len(systems)} systems are asked for, and {MOST_SYSTEMS} is the most.")
    opened = view.study(run)
    if opened is None:
        table = view.table(run)
        number = table.number_of(question)
        for name in systems:
            if name not in table.systems:
                raise UsageError(f"this run has no system {name!r:.100}.{did_you_mean(name, table.systems)}")
        note = WITHOUT_STUDY.format(run=run.id, question=question)
        return {**thin_detail(table, number, systems or table.systems[:MOST_SYSTEMS]), "note": note}
    known = opened.question(id_in_study(view, run, opened, question))
    return {**question_detail(known, systems or opened.view.ranking[:MOST_SYSTEMS]), "note": None}


def id_in_study(view: View, run: RunFolder, opened: OpenedStudy, question: str) -> str:
    """The id of a question as its study has it: rows and pages have no halves of characters, which it may hold."""
    ids = opened.study.evaluation.testset.ids
    if question in opened.view.number_of or view.file(run, ROWS) is None:
        return question
    table = view.table(run)
    number = table.number_of(question)
    return ids[number] if len(ids) == table.n else question


def thin_detail(table: QuestionTable, number: int, systems: Sequence[str]) -> dict[str, Any]:
    """What the rows alone say of a question, in the shape of `question_detail`."""
    row = _row(table, table.systems[0], number)
    return {
        "id": table.ids[number],
        "n": number,
        "text": row.get("question") or "",
        "kind": row.get("kind"),
        "tags": {tag: row[f"tag.{tag}"] for tag in table.tags if row[f"tag.{tag}"] is not None},
        "answerable": None,
        "answers": None,
        "gold": None,
        "history": [],
        "conversation": None,
        "turn": None,
        "k": None,
        "measures": list(table.measures),
        "systems": [_system(table, system, number) for system in systems],
    }


def _row(table: QuestionTable, system: str, number: int) -> dict[str, Any]:
    begin = table.begin_of(system) + number
    frame = parquet_columns(table.path, str(table.path), list(table.kinds_of), begin, 1)
    return frame.row(0, named=True) if frame.height else {}


def _system(table: QuestionTable, system: str, number: int) -> dict[str, Any]:
    row = _row(table, system, number)
    ranked, scores = row.get("ranked"), row.get("ranked_scores")
    hits = None
    if isinstance(ranked, list):
        marks = scores if isinstance(scores, list) and len(scores) == len(ranked) else [None] * len(ranked)
        hits = [
            hit_entry(rank, str(id_), known_number(mark))
            for rank, (id_, mark) in enumerate(zip(ranked, marks, strict=True), 1)
        ]
    failure, answer = row.get("failure"), row.get("answer")
    return {
        "system": system,
        "scores": {
            m: {"value": known_number(row[m]), "status": row[f"{m}.status"], "reason": row.get(f"{m}.reason")}
            for m in table.measures
        },
        "failure": failure_words(failure) if isinstance(failure, str) else None,
        "knows_gold": False,
        "first_gold": None,
        "hits": hits,
        "answer": None if not isinstance(answer, str) else {
            "text": answer, "error": None, "declined": None, "about": "", "contexts": [], "citations": [],
            "sentences": [], "verdicts": [], "missing": [],
        },
        "steps": None,
    }  # fmt: skip
