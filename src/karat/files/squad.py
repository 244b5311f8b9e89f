"""squad: paragraphs with their questions, and predictions as `{question id: answer}`."""

from __future__ import annotations

from karat.core.run import Run
from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._questions import read_questions
from karat.files._results import read_systems
from karat.io import cells
from karat.io.cells import CellError, Record
from karat.io.fields import looks_keyed
from karat.io.input import Input
from karat.io.squad import squad_paragraphs


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
    rows: list[tuple[int, Record]] = []
    docs: set[str] = set()
    for _, doc, paragraph in squad_paragraphs(input.document["data"]):
        if not isinstance(paragraph, dict):
            raise input.error(
                f'"paragraphs" of {doc.rpartition("/")[0]} is not a list of objects',
                remedy="Give data[].paragraphs[].qas[], as SQuAD does.",
            )
        entries = paragraph.get("qas")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise input.error(
                f'"qas" of {doc} is not a list of objects', remedy="Give data[].paragraphs[].qas[], as SQuAD does."
            )
        docs.add(doc)
        for row, entry in enumerate(entries, len(rows) + 1):
            with input.reading(row):
                rows.append((row, _record(entry, doc)))
    testset, notes = read_questions(input.with_rows(rows))
    about = (
        f"each of {len(docs)} paragraphs is a document, named by its title and number (Title/1)",
        *notes,
        "answers are normalised as the SQuAD v1.1 script does (norm=squad) unless a measure or dialect names another",
    )
    return TestSet(testset.questions, name=testset.name, norm="squad"), list(about)


def _record(entry: Record, doc: str) -> Record:
    """A question as karat writes it; one without an answer has no gold either."""
    record = {"id": entry.get("id"), "question": entry.get("question", "")}
    if not cells.is_missing(entry.get("is_impossible")) and cells.truth_value(entry["is_impossible"]):
        return {**record, "answerable": False}
    answers = entry.get("answers") or []
    if not isinstance(answers, list):
        raise CellError('"answers" is not a list', 'Give [{"text": ...}].')
    texts = [cells.plain_text(answer.get("text") if isinstance(answer, dict) else answer) for answer in answers]
    if not texts:
        raise CellError("no answers", 'Give "answers", or mark the question "is_impossible": true.')
    return {**record, "answers": list(dict.fromkeys(texts)), "gold": [{"doc": doc}]}


def _read_results(input: Input) -> tuple[list[Run], list[str]]:
    predictions = enumerate(input.document.items(), 1)
    return read_systems(input.with_rows((row, {"id": qid, "answer": text}) for row, (qid, text) in predictions))


FORMAT = Format(
    name="squad",
    about="SQuAD JSON; predictions {id: answer}",
    sniff=_sniff,
    read_testset=_read_testset,
    read_results=_read_results,
)
