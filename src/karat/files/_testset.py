"""Test sets from records: every source that names fields is read here, through the alias table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from karat.core.errors import InputError
from karat.core.text.wellformed import well_formed_values
from karat.core.types import Question, TestSet
from karat.files import _cells
from karat.files._aliases import GOLD_FIELDS, NO_TAG, RESULTS, TAG_NAME, TESTSET, Names
from karat.files._cells import CellError, Record, shown
from karat.files._gold import GoldReader, range_note
from karat.files._look import Look
from karat.files._signs import lists_hits
from karat.results.evaluation import Taken

NO_GOLD = 'Add "gold" (or "relevant_docs", "source_url", ...), or mark the question "answerable": false.'


class Reader:
    """Reads the records of one input; remembers what the notes must say."""

    def __init__(self, look: Look, *, pages_in: Iterable[str] = (), number_from: int | None = None) -> None:
        self.look = look
        self.names = Names(TESTSET, look.fields)
        self.names.complete_gold(look.fields)
        self.used: dict[str, None] = {}  # columns that some record was read by
        self.by_system = Names(RESULTS, look.fields).has("system")  # rows of several systems repeat the questions
        others = tuple(alias for alias in self.names.of["answers"] if alias != "answer")
        self.drops_answer = "answer" in self.names.of["answers"] and bool(others or lists_hits(look))
        if self.drops_answer:
            self.names.of["answers"] = others
        self.gold = GoldReader(self.names, self.value, pages_in)
        self.number_from = number_from  # without ids: number the questions from here
        self.float_ids = look.shape in ("csv", "tsv") and has_float_ids(look.sample, self.names.of["id"])
        self.has_ids = self.names.has("id")
        self.at: str | None = None  # the field being read, for errors

    def value(self, record: Record, field: str) -> tuple[str, Any]:
        """The first alias of a field that the record fills, and its value."""
        alias, value = self.names.first(record, field)
        if alias:
            self.at = alias
            self.used[alias] = None
        return alias, value

    def question(self, record: Record, row: int) -> Question:
        """One record as a question."""
        self.at = None
        try:
            _, text = self.value(record, "question")
            words = "" if text is None else _cells.plain_text(text).strip()
            self.at = None
            qid = self._id(record, words, row)
            answers = _answers(*self.value(record, "answers"))
            answerable = self._answerable(record)
            gold = self.gold.read(record)
            _, kind = self.value(record, "kind")
            label = None if kind is None else _cells.plain_text(kind)
            tags = self._tags(record)
        except CellError as error:
            raise self.look.error(error.problem, row=row, field=self.at, remedy=error.remedy) from None
        if gold is None:
            answerable, gold = False, []
        return Question(qid, words, answers, tuple(gold), label, tags, answerable)

    def _id(self, record: Record, text: str, row: int) -> str:
        _, value = self.value(record, "id")
        if value is not None:
            qid = _cells.id_text(value)
            return qid[:-2] if self.float_ids and qid.endswith(".0") else qid
        if self.has_ids:
            raise CellError("no id", f'Give every question an id ("{self.names.of["id"][0]}").')
        if self.number_from is not None:
            return str(row - 1 + self.number_from)
        if not text:
            raise CellError("neither an id nor a question", 'Add "id" or "question".')
        return text

    def _answerable(self, record: Record) -> bool:
        _, value = self.value(record, "answerable")
        if value is not None:
            return _cells.truth(value)
        _, value = self.value(record, "impossible")
        return value is None or not _cells.truth(value)

    def _tags(self, record: Record) -> dict[str, str]:
        made: dict[str, str] = {}
        _, value = self.value(record, "tags")
        if isinstance(value, str) and value.strip().startswith("{"):
            value = _json_object(value)
        if isinstance(value, Mapping):
            made = {str(k): _tag(v) for k, v in value.items() if not _cells.is_missing(v)}
        elif value is not None:
            made = {_tag(item): "yes" for item in _cells.as_list(value) or []}
        for name in self.names.unknown:
            if TAG_NAME.match(name) and name not in NO_TAG and not _cells.is_missing(record.get(name)):
                self.at = name
                self.used[name] = None
                made[self.look.original.get(name, name)] = _tag(record[name])
        return made

    def stated_answers(self, record: Record) -> bool:
        """Whether the record lists its reference answers, if only an empty one: then they are undefined."""
        return any(isinstance(record.get(alias), list | tuple) for alias in self.names.of["answers"])

    def stated_gold(self, record: Record) -> bool:
        """Whether the record says what its gold is, even that there is none."""
        return any(not _cells.is_missing(record.get(a)) for field in GOLD_FIELDS for a in self.names.of[field])


def read_records(
    look: Look,
    format_name: str,
    *,
    pages_in: Iterable[str] = (),
    number_from: int | None = None,
    notes: Iterable[str] = (),
) -> tuple[TestSet, Taken]:
    """The questions of an input with one record a question."""
    reader = Reader(look, pages_in=pages_in, number_from=number_from)
    rows: dict[str, int] = {}
    questions: dict[str, Question] = {}
    bare: list[tuple[int, Record]] = []  # neither gold nor answers
    for row, record in look.records():
        question = reader.question(record, row)
        if reader.by_system and question.id in questions:
            _refuse_other(look, question, questions[question.id], row, rows[question.id])
            continue
        refuse_double(look, question.id, row, rows, reader.has_ids or number_from is not None)
        questions[question.id] = question
        if not question.answerable or reader.stated_gold(record):
            continue
        if not question.answers and not reader.stated_answers(record):
            bare.append((row, record))
        else:
            _refuse_misspelled(look, record, row)
    if not questions:
        raise look.error("no questions", remedy="Give at least one.")
    listed = list(questions.values())
    _refuse_bare(look, listed, bare)
    return testset_of(look, listed, format_name, [*notes, *_notes(reader, listed)])


def testset_of(look: Look, questions: list[Question], format_name: str, notes: Iterable[str]) -> tuple[TestSet, Taken]:
    """A test set and what it was taken for."""
    taken = Taken(look.name, format_name, counted(questions), tuple(notes))
    return TestSet(questions, name=look.stem), taken


def counted(questions: list[Question]) -> str:
    """ "120 questions, 3 kinds"."""
    kinds = len({q.kind for q in questions if q.kind is not None})
    parts = [f"{len(questions):,} question{'s' if len(questions) != 1 else ''}"]
    if kinds:
        parts.append(f"{kinds} kind{'s' if kinds != 1 else ''}")
    return ", ".join(parts)


def refuse_double(look: Look, qid: str, row: int, rows: dict[str, int], has_ids: bool) -> None:
    """Remembers the row of a question; a second one is an error that names both."""
    first = rows.setdefault(qid, row)
    if first == row:
        return
    if has_ids:
        raise look.error(
            f"question id {shown(qid)} stands twice (first in {look.unit} {first})",
            row=row,
            remedy="Give every question its own id.",
        )
    raise look.error(
        f"the question {shown(qid)} stands twice (first in {look.unit} {first}), and there are no ids",
        row=row,
        remedy='Give every question an "id".',
    )


def _refuse_other(look: Look, question: Question, first: Question, row: int, first_row: int) -> None:
    """Rows of several systems must agree on the question they answer."""
    for what, one, other in (
        ("text", question.text, first.text),
        ("gold", set(question.gold), set(first.gold)),
        ("reference answer", question.answers, first.answers),
    ):
        if one != other:
            raise look.error(
                f"question {shown(question.id)} has another {what} than in {look.unit} {first_row}",
                row=row,
                remedy="Give the same gold to every system, or a test set of its own.",
            )


def _refuse_misspelled(look: Look, record: Record, row: int) -> None:
    near = Names(TESTSET, [k for k, v in record.items() if v is not None]).nearest(GOLD_FIELDS)
    if near:
        raise look.error("no gold", row=row, remedy=near)


def _refuse_bare(look: Look, questions: list[Question], bare: list[tuple[int, Record]]) -> None:
    if not bare:
        return
    row, record = bare[0]
    _refuse_misspelled(look, record, row)
    if len(bare) < len(questions):
        near = Names(TESTSET, record).nearest(("answers",))
        raise look.error("no gold", row=row, remedy=f"{near} {NO_GOLD}".strip())
    if not any(q.text for q in questions):
        raise InputError(
            "no gold, no answers and no questions", place=look.name, row=row, unit=look.unit, remedy=NO_GOLD
        )


def _notes(reader: Reader, questions: list[Question]) -> list[str]:
    notes = reader.gold.pages.notes()
    ranges = range_note(gold for question in questions for gold in question.gold)
    if ranges is not None:
        notes.append(ranges)
    if not reader.has_ids:
        if reader.number_from is not None:
            notes.append(f"no ids: questions are numbered from {reader.number_from} in the order of the file")
        else:
            notes.append("no ids: the text of a question serves as its id")
    golden = sum(bool(q.gold) for q in questions)
    open_ones = sum(q.answerable and not q.gold for q in questions)
    closed = sum(not q.answerable for q in questions)
    if not golden:
        answered = any(q.answers for q in questions)
        notes.append("no gold: only answers can be scored" if answered else "questions only: no gold and no answers")
    elif open_ones:
        notes.append(f"{open_ones} of {len(questions)} questions have no gold")
    if closed:
        notes.append(f"{closed} of {len(questions)} questions are unanswerable")
    undefined = sum(q.answerable and not q.gold and not q.answers for q in questions)
    if 0 < undefined < len(questions):
        notes.append(f"{undefined} of {len(questions)} questions have neither gold nor a reference answer")
    if reader.gold.missing_pages:
        notes.append(f'{reader.gold.missing_pages} gold pages are "N/A" and name no page')
    if reader.drops_answer:
        notes.append('"answer" is taken for a system\'s answer, not for the reference')
    other = [alias for aliases in RESULTS.values() for alias in aliases] if lists_hits(reader.look) else ()
    notes += reader.look.column_notes(reader.used, other)
    return notes


def _answers(alias: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = value.get("text", list(value.values()))
    plural = alias.endswith("s") or not isinstance(value, str)
    items = _cells.as_list(value) if plural else [value]
    return tuple(_cells.plain_text(item) for item in items or [] if not _cells.is_missing(item))


def _json_object(text: str) -> Any:
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise CellError(f"{shown(text)} is not valid JSON", "Write an object of names and values.") from None
    return well_formed_values(value)


def _tag(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_cells.plain_text(item) for item in value)
    return _cells.plain_text(value)


def has_float_ids(sample: list[Record], aliases: tuple[str, ...]) -> bool:
    """Whether a text column of ids was a column of floats ("7.0") before it was written."""
    values = [str(record.get(aliases[0]) or "").strip() for record in sample] if aliases else []
    return bool(values) and all(v.endswith(".0") and v[:-2].isdecimal() for v in values)
