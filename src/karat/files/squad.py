"""squad: paragraphs with their questions, and predictions as `{question id: answer}`."""

from __future__ import annotations

from typing import Any

from karat.core.run import Run
from karat.core.types import Answer, Gold, Question, TestSet
from karat.files import _cells
from karat.files._aliases import record_names
from karat.files._cells import CellError
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._runs import described
from karat.files._testset import refuse_double, testset_of
from karat.io.fields import field_name
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if look.shape != "json object" or not isinstance(look.document, dict):
        return None
    document = look.document
    if kind == "testset":
        articles = document.get("data")
        if isinstance(articles, list) and articles and isinstance(articles[0], dict) and "paragraphs" in articles[0]:
            return Fit(0.98, "data, paragraphs, qas")
        return None
    if document and all(isinstance(answer, str) for answer in document.values()):
        known = set(record_names())
        if not any(field_name(key) in known for key in document):
            return Fit(0.9, "an object of question ids and answers")
    return None


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    rows: dict[str, int] = {}
    questions: list[Question] = []
    per_title: dict[str, int] = {}
    number = 0
    for article in _objects(look, look.document.get("data"), "data"):
        title = str(article.get("title") or "document")
        for paragraph in _objects(look, article.get("paragraphs"), "paragraphs"):
            per_title[title] = per_title.get(title, 0) + 1
            doc = f"{title}/{per_title[title]}"
            for entry in _objects(look, paragraph.get("qas"), "qas"):
                number += 1
                question = _question(look, entry, doc, number)
                refuse_double(look, question.id, number, rows, True)
                questions.append(question)
    if not questions:
        raise look.error("no questions in data, paragraphs, qas", remedy="Give at least one.")
    notes = [f"each of {sum(per_title.values())} paragraphs is a document, named by its title and number (Title/1)"]
    closed = sum(not q.answerable for q in questions)
    if closed:
        notes.append(f"{closed} of {len(questions)} questions are unanswerable")
    notes.append(
        "answers are normalised as the SQuAD v1.1 script does (norm=squad) unless a measure or dialect names another"
    )
    testset, taken = testset_of(look, questions, FORMAT.name, notes)
    testset.norm = "squad"
    return testset, taken


def _objects(look: Look, value: Any, field: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise look.error(f'"{field}" is not a list of objects', remedy="Give data[].paragraphs[].qas[], as SQuAD does.")
    return value


def _question(look: Look, entry: dict[str, Any], doc: str, number: int) -> Question:
    try:
        qid = _cells.id_text(entry.get("id"))
        text = _cells.plain_text(entry.get("question", ""))
        closed = not _cells.is_missing(entry.get("is_impossible")) and _cells.truth(entry["is_impossible"])
        given = entry.get("answers") or []
        if not isinstance(given, list):
            raise CellError('"answers" is not a list', 'Give [{"text": ...}].')
        listed = [a.get("text") if isinstance(a, dict) else a for a in given]
        answers = tuple(dict.fromkeys(_cells.plain_text(a) for a in listed))
        if not closed and not answers:
            raise CellError("no answers", 'Give "answers", or mark the question "is_impossible": true.')
    except CellError as error:
        raise look.error(error.problem, row=number, remedy=error.remedy) from None
    if closed:
        return Question(qid, text, answerable=False)
    return Question(qid, text, answers, (Gold(doc=doc),))


def _read_results(look: Look) -> tuple[list[Run], Taken]:
    answers: dict[str, Answer] = {}
    for key, text in look.document.items():
        qid = key.strip()
        if not qid or qid in answers:
            raise look.error(f"question id {_cells.shown(key)} is empty or stands twice", remedy="Correct the ids.")
        answers[qid] = Answer(qid, text)
    run = Run(look.stem, answers=answers, source=look.name)
    return [run], Taken(look.name, FORMAT.name, described([run]))


FORMAT = Format("squad", "SQuAD JSON; predictions {id: answer}", _sniff, _read_testset, _read_results)
