"""squad: paragraphs with their questions, and predictions as `{question id: answer}`."""

from __future__ import annotations

from typing import Any

from karat.core.run import Run
from karat.core.types import Answer, Gold, Question, TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._runs import answers_only
from karat.io import cells
from karat.io.cells import CellError
from karat.io.fields import looks_keyed
from karat.io.input import Input
from karat.io.squad import paragraphs


def _sniff(input: Input, kind: Kind) -> Fit | None:
    document = input.document if input.shape == "json object" else {}
    if kind == "testset":
        articles = document.get("data")
        if isinstance(articles, list) and articles and isinstance(articles[0], dict) and "paragraphs" in articles[0]:
            return Fit(0.98, "data, paragraphs, qas")
    elif document and all(isinstance(answer, str) for answer in document.values()) and looks_keyed(document):
        return Fit(0.9, "an object of question ids and answers")
    return None


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    questions: list[Question] = []
    rows: dict[str, int] = {}
    docs: set[str] = set()
    for _, doc, paragraph in paragraphs(input.document["data"]):
        entries = paragraph.get("qas") if isinstance(paragraph, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise input.error(
                f'"qas" of {doc} is not a list of objects', remedy="Give data[].paragraphs[].qas[], as SQuAD does."
            )
        docs.add(doc)
        for entry in entries:
            with input.reading(len(questions) + 1):
                question = _question(entry, doc)
            what = f"question id {cells.shown(question.id)}"
            input.once(rows, question.id, len(questions) + 1, what, "Give every question its own id.")
            questions.append(question)
    if not questions:
        raise input.error("no questions in data, paragraphs, qas", remedy="Give at least one.")
    notes = [f"each of {len(docs)} paragraphs is a document, named by its title and number (Title/1)"]
    closed = sum(not question.answerable for question in questions)
    if closed:
        notes.append(f"{closed} of {len(questions)} questions are unanswerable")
    notes.append(
        "answers are normalised as the SQuAD v1.1 script does (norm=squad) unless a measure or dialect names another"
    )
    return TestSet(questions, name=input.stem, norm="squad"), notes


def _question(entry: dict[str, Any], doc: str) -> Question:
    qid, text = cells.id_text(entry.get("id")), cells.plain_text(entry.get("question", ""))
    if not cells.is_missing(entry.get("is_impossible")) and cells.truth(entry["is_impossible"]):
        return Question(qid, text, answerable=False)
    answers = entry.get("answers") or []
    if not isinstance(answers, list):
        raise CellError('"answers" is not a list', 'Give [{"text": ...}].')
    texts = [cells.plain_text(answer.get("text") if isinstance(answer, dict) else answer) for answer in answers]
    if not texts:
        raise CellError("no answers", 'Give "answers", or mark the question "is_impossible": true.')
    return Question(qid, text, tuple(dict.fromkeys(texts)), (Gold(doc=doc),))


def _read_results(input: Input) -> tuple[list[Run], list[str]]:
    answers: dict[str, Answer] = {}
    for key, text in input.document.items():
        qid = key.strip()
        if not qid or qid in answers:
            raise input.error(f"question id {cells.shown(key)} is empty or stands twice", remedy="Correct the ids.")
        answers[qid] = Answer(qid, text)
    return [answers_only(input.stem, answers, input.name)], []


FORMAT = Format(
    name="squad",
    about="SQuAD JSON; predictions {id: answer}",
    sniff=_sniff,
    read_testset=_read_testset,
    read_results=_read_results,
)
