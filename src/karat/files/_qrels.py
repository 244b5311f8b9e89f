"""Judgements in tables with a header: one row a (question, document) pair."""

from __future__ import annotations

from karat.files import _cells
from karat.files._aliases import TABLE, Names
from karat.files._cells import CellError, shown
from karat.files._look import Look
from karat.files._testset import has_float_ids

Judgements = dict[str, dict[str, int]]


def read_judgements(look: Look) -> Judgements:
    """{question: {doc: grade}} of a table; without a grade column every row is a relevant document."""
    names = Names(TABLE, look.fields)
    for field, example in (("question", "query_id"), ("doc", "doc_id")):
        if not names.of[field]:
            near = names.nearest((field,))
            raise look.error(f"no column with the {field}", remedy=near or f'Name it "{example}", or use --map.')
    question, doc = names.of["question"][0], names.of["doc"][0]
    grade = next((name for name in names.of["grade"] if name not in (question, doc)), None)
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
