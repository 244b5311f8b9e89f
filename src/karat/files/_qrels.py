"""Judgements in tables with a header: one row a (question, document) pair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from karat.core.text.words import plural
from karat.core.types import Gold, Question, TestSet
from karat.files import _cells
from karat.files._aliases import FLAT_GOLD, TABLE, TESTSET, Names
from karat.files._cells import CellError, Record, shown
from karat.files._gold import GoldReader, range_note
from karat.files._look import Look
from karat.files._testset import has_float_ids
from karat.results.evaluation import Taken

Judgements = dict[str, dict[str, int]]


def _columns(look: Look) -> tuple[str, str, str | None]:
    """The columns of the question, the document and, where there is one, the grade."""
    names = Names(TABLE, look.fields)
    for field, example in (("question", "query_id"), ("doc", "doc_id")):
        if not names.of[field]:
            near = names.nearest((field,))
            raise look.error(f"no column with the {field}", remedy=near or f'Name it "{example}", or use --map.')
    question, doc = names.of["question"][0], names.of["doc"][0]
    return question, doc, next((name for name in names.of["grade"] if name not in (question, doc)), None)


def judgement_notes(look: Look) -> list[str]:
    """Which columns of a table of judgements were read."""
    return look.column_notes([name for name in _columns(look) if name is not None])


def read_gold_rows(look: Look, format_name: str) -> tuple[TestSet, Taken]:
    """A test set from a table of judgements that name more than a document: its page, a quote, an address."""
    question, _, grade = _columns(look)
    names = Names(TESTSET, ())
    names.of |= {field: tuple(a for a in aliases if a in look.fields) for field, aliases in FLAT_GOLD.items()}
    used = {question: None}

    def value(record: Record, field: str) -> tuple[str, Any]:
        alias, cell = names.first(record, field)
        if alias:
            used[alias] = None
        return alias, cell

    reader = GoldReader(names, value)
    golds: dict[str, dict[Gold, Gold]] = {}  # what a row names -> the same with its grade
    for row, record in look.records():
        field = question
        try:
            qid = _cells.id_text(record.get(question))
            field = grade or question
            level = 1 if grade is None else _cells.whole(record.get(grade))
            entries = reader.read(record) or []
        except CellError as error:
            raise look.error(error.problem, row=row, field=field, remedy=error.remedy) from None
        if len(entries) != 1:
            raise look.error("a judgement names one unit", row=row, remedy="Give one document a row.")
        (entry,) = entries
        if entry in golds.setdefault(qid, {}):
            raise look.error(
                f"{shown(entry.label)} is judged twice for question {shown(qid)}",
                row=row,
                remedy="Keep one row for each question and unit.",
            )
        golds[qid][entry] = replace(entry, grade=level)
    questions = [Question(qid, gold=tuple(entries.values())) for qid, entries in golds.items()]
    ranges = range_note(gold for one in questions for gold in one.gold)
    notes = [*reader.pages.notes(), *([ranges] if ranges else [])]
    notes += look.column_notes([*used, *([grade] if grade else [])])
    what = f"{plural(len(questions), 'question')}, {plural(sum(map(len, golds.values())), 'judgement')}"
    return TestSet(questions, name=look.stem), Taken(look.name, format_name, what, tuple(notes))


def read_judgements(look: Look) -> Judgements:
    """{question: {doc: grade}} of a table; without a grade column every row is a relevant document."""
    question, doc, grade = _columns(look)
    floats = look.shape in ("csv", "tsv") and has_float_ids(look.sample, (question,))
    table: Judgements = {}
    for row, record in look.records():
        field = question
        try:
            qid = _cells.id_text(record.get(question))
            qid = qid[:-2] if floats and qid.endswith(".0") else qid
            field = doc
            name = _cells.id_text(record.get(doc))
            field = grade or doc
            value = 1 if grade is None else _cells.whole(record.get(grade))
        except CellError as error:
            raise look.error(error.problem, row=row, field=field, remedy=error.remedy) from None
        docs = table.setdefault(qid, {})
        if name in docs:
            raise look.error(
                f"document {shown(name)} is judged twice for question {shown(qid)}",
                row=row,
                remedy="Keep one row for each question and document.",
            )
        docs[name] = value
    if not table:
        raise look.error("no judgements", remedy="Give at least one.")
    return table
