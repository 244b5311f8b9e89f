"""Judgements: tables of one row a question and a unit, as test sets and as the gold of questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat.core.text.words import plural
from karat.core.types import Gold, Question, TestSet
from karat.files._gold import GoldReader, range_note
from karat.files._questions import QuestionReader, float_columns, has_float_ids, id_of, whole_ids
from karat.io import cells
from karat.io.cells import CellError, Record, can_be, quoted
from karat.io.fields import FLAT_GOLD, TABLE, TESTSET, Columns
from karat.io.input import Input
from karat.io.pages import PageReader

Judgements = dict[str, dict[str, int]]

_PLACES = ("page_number", "page", "page_label", "url", "quote", "span")  # that a judgement may name beside a document


def read_judgement_rows(input: Input) -> tuple[TestSet, list[str]]:
    """A test set from a table of judgements; they may name more than a document: its page, a quote, an address."""
    if not any(name in input.fields for name in _PLACES):
        qrels, columns = read_judgements(input)
        return TestSet(qrels=qrels, name=input.stem), input.column_notes(columns.used)
    columns, flat = _judgement_columns(input), Columns(TESTSET, ())
    flat.of |= Columns(FLAT_GOLD, input.fields).of
    reader = GoldReader(flat, PageReader(of_gold=True))
    golds: dict[str, list[Gold]] = {}
    rows: dict[Any, int] = {}
    for row, qid, grade, record in _judgements(input, columns):
        with input.reading(row, flat):
            entries = reader.read(record) or []
            if len(entries) != 1:
                raise CellError("a judgement names one unit", "Give one document a row.")
        _refuse_judged_twice(input, rows, qid, entries[0], row)
        golds.setdefault(qid, []).append(replace(entries[0], grade=grade))
    testset = TestSet([Question(qid, gold=tuple(entries)) for qid, entries in golds.items()], name=input.stem)
    notes = [*reader.pages.notes(), *range_note(testset.golds)]
    return testset, notes + input.column_notes([*columns.used, *flat.used])


def read_judgements(input: Input) -> tuple[Judgements, Columns]:
    """{question: {doc: grade}} of a table, and by which columns; without a grade every row is a relevant document."""
    columns = _judgement_columns(input)
    table: Judgements = {}
    rows: dict[Any, int] = {}
    for row, qid, grade, record in _judgements(input, columns):
        with input.reading(row, columns):
            name = cells.id_text(columns.cell(record, "doc"))
        _refuse_judged_twice(input, rows, qid, name, row)
        table.setdefault(qid, {})[name] = grade
    return table, columns


def judgement_lines(input: Input) -> Iterator[tuple[int, Record]]:
    """Judgements as TREC writes them, line by line: with runs of blanks, and 3.0 as a grade."""
    for row, line in input.need_source().lines():
        values = line.split()
        if len(values) == 4:
            yield row, {"question": values[0], "doc": values[2], "grade": values[3]}
        elif values:
            raise input.error(
                f"has {plural(len(values), 'field')} where a judgement has four (question 0 document grade)",
                row=row,
                remedy="Complete the row; ids may not hold blanks.",
            )


def _with_names(input: Input) -> Input:
    """A table of judgements under names: of its header, or in the order question, document, grade where it has none."""
    if input.shape == "columns":
        return input.with_rows(judgement_lines(input))
    first = input.need_source().first_line.split(input.delimiter) if input.shape in ("csv", "tsv") else []
    if len(first) != 3 or not can_be(float, first[2].strip()):
        return input
    lines = ((row, line.split(input.delimiter)) for row, line in input.need_source().lines() if line.strip())
    names = ("question", "doc", "grade")
    rows = []
    for row, values in lines:
        if len(values) != len(names):
            problem = f"has {plural(len(values), 'field')} where a judgement has three (question document grade)"
            raise input.error(problem, row=row, remedy="Complete the row.")
        rows.append((row, dict(zip(names, values, strict=True))))
    return input.with_rows(rows)


def joined_judgements(input: Input, queries: Input, qrels: Sequence[Input]) -> tuple[dict[str, Question], list[str]]:
    """The questions of one table of a folder by id, with the gold that others give; and the ids judged, in order."""
    reader = QuestionReader(queries)
    questions: dict[str, Question] = {}
    for row, record in queries.records():
        question = reader.read(record, row)
        reader.refuse_double(question.id, row)
        questions[question.id] = question
    judged: Judgements = {}
    for table in qrels:
        for qid, docs in read_judgements(_with_names(table))[0].items():
            if judged.setdefault(qid, {}).keys() & docs.keys():
                raise input.error(
                    f"documents of question {qid!r} are judged twice, in {Path(table.name).name} and before",
                    remedy="Keep one.",
                )
            judged[qid] |= docs
    if unknown := [qid for qid in judged if qid not in questions]:
        many = f" ({len(unknown):,} of {plural(len(judged), 'judged question')})" if len(unknown) > 1 else ""
        names = f"question {unknown[0]!r} of {Path(qrels[0].name).name} is not in {Path(queries.name).name}{many}"
        raise input.error(names, remedy="Give matching files.")
    for qid, docs in judged.items():
        gold = tuple(Gold(id=doc, grade=grade) for doc, grade in docs.items())
        questions[qid] = replace(questions[qid], gold=gold)
    return questions, list(judged)


def _judgements(input: Input, columns: Columns) -> Iterator[tuple[int, str, int, Record]]:
    """Each row with its question and grade; documents that were floats are written as the whole numbers they were."""
    float_ids = has_float_ids(input, columns.of["question"])
    documents = float_columns(input, columns, ("doc",))
    for row, record in input.records():
        with input.reading(row, columns):
            qid = id_of(columns.cell(record, "question"), float_ids)
            grade = cells.whole_number(columns.cell(record, "grade")) if columns.has("grade") else 1
        yield row, qid, grade, whole_ids(record, documents)


def _judgement_columns(input: Input) -> Columns:
    """Which columns hold the question, the document and, where there is one, the grade: one each."""
    if not input.sample:
        raise input.error("no judgements", remedy="Give at least one.")
    columns = Columns(TABLE, input.fields)
    for field, example in (("question", "query_id"), ("doc", "doc_id")):
        if not columns.of[field]:
            near = columns.nearest((field,))
            raise input.error(f"no column with the {field}", remedy=near or f'Name it "{example}", or use --map.')
        columns.of[field] = columns.of[field][:1]
    taken = columns.of["question"] + columns.of["doc"]
    columns.of["grade"] = tuple(name for name in columns.of["grade"] if name not in taken)[:1]
    return columns


def _refuse_judged_twice(input: Input, rows: dict[Any, int], qid: str, unit: Gold | str, row: int) -> None:
    if rows.setdefault((qid, unit), row) == row:
        return
    name = unit.label if isinstance(unit, Gold) else unit
    what, remedy = f"a judgement of {quoted(name)} for question {quoted(qid)}", "Keep one row for each pair."
    input.refuse_repeat(rows, (qid, unit), row, what, remedy)
