"""Test sets from records: every source that names fields is read here, one record a question or a judgement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from types import NoneType
from typing import Any

from karat.core.text.words import plural
from karat.core.types import Question, TestSet
from karat.files._format import lists_hits
from karat.files._gold import GoldReader, complete_gold, crowded_note, range_note
from karat.files._history import HistoryReader
from karat.files._nuggets import NuggetReader
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import GOLD_FIELDS, NO_TAG, RESULTS, TAG_NAME, TESTSET, Columns
from karat.io.input import Input
from karat.io.pages import PageReader

Ids = tuple[list[str], list[str]]

NO_IDS = "N/A"
_NO_GOLD = 'Add "gold" (or "relevant_docs", "source_url", ...), or mark the question "answerable": false.'


class RecordReader:
    """Reads the records of one input that has a record a question, by one of the tables of names."""

    def __init__(self, input: Input, table: Mapping[str, tuple[str, ...]], number_from: int | None = None) -> None:
        self.input, self.columns = input, Columns(table, input.fields)
        self.pages = PageReader(of_gold=table is TESTSET)
        self.has_ids = self.columns.has("id")
        self.number_from = number_from  # without ids: number the questions from here
        self._float_ids = has_float_ids(input, self.columns.of["id"])
        self._rows: dict[Any, int] = {}

    def text(self, record: Record, field: str) -> str | None:
        """A field as text."""
        value = self.columns.value(record, field)
        return None if value is None else cells.plain_text(value)

    def question_id(self, record: Record, row: int = 0) -> tuple[str, str]:
        """The id and the text of a question; without ids the text, or the row's number, serves as one."""
        text = (self.text(record, "question") or "").strip()
        value = self.columns.value(record, "id")
        if value is not None:
            return id_of(value, self._float_ids), text
        self.columns.at = None
        if self.has_ids:
            raise CellError("no id", f'Give every row the id of its question ("{self.columns.of["id"][0]}").')
        if self.number_from is not None:
            return str(row - 1 + self.number_from), text
        if not text:
            raise CellError("neither an id nor a question", 'Add "id" or "question".')
        return text, text

    def refuse_double(self, qid: str, row: int, system: Any = None) -> None:
        """Remembers the row of a question of a system; a second one is an error that names both."""
        if self._rows.setdefault((system, qid), row) == row:
            return
        what, remedy = f"question id {quoted(qid)}", "Give every question its own id."
        if not self.has_ids and self.number_from is None:
            what, remedy = f"the question {quoted(qid)}", 'There are no ids: give every question an "id".'
        self.input.refuse_repeat(self._rows, (system, qid), row, what, remedy)

    def single_columns(self, *fields: str) -> dict[str, str] | None:
        """The column of each of these fields that the input has; None where it has no ids, other fields, or several."""
        columns = {field: names for field, names in self.columns.of.items() if names}
        if "id" not in columns or columns.keys() - set(fields) or max(map(len, columns.values())) > 1:
            return None
        return None if self._float_ids else {field: names[0] for field, names in columns.items()}

    def read_questions(self, rows: Sequence[tuple[int, Record]], system: Any = None) -> Ids | None:
        """Ids and texts of the questions of many rows of a system, all remembered; None where one must be read alone.

        For inputs of `single_columns`.
        """
        columns = self.columns.of
        values = [record.get(columns["id"][0]) for _, record in rows]
        texts = [record.get(name) for _, record in rows for name in columns["question"]] or [None] * len(rows)
        if set(map(type, values)) != {str} or not set(map(type, texts)) <= {str, NoneType}:
            return None
        with suppress(CellError):
            ids = cells.id_texts(values)
            numbers = {(system, qid): row for qid, (row, _) in zip(ids, rows, strict=True)}
            if len(numbers) == len(rows) and self._rows.keys().isdisjoint(numbers):
                self._rows |= numbers
                asked = [(text or "").strip() for text in texts]
                filled = (*columns["id"], *(columns["question"] if any(asked) else ()))
                self.columns.used.update(dict.fromkeys(filled))
                return ids, asked
        return None

    def id_notes(self) -> list[str]:
        """What serves as the id of a question, where the input gives none."""
        if self.has_ids:
            return []
        if self.number_from is None:
            return ["no ids: the text of a question serves as its id"]
        return [f"no ids: questions are numbered from {self.number_from} in the order of the file"]


def has_float_ids(input: Input, aliases: tuple[str, ...]) -> bool:
    """Whether the ids of a column of a CSV or TSV file were floats before it was written."""
    if not aliases or input.shape not in ("csv", "tsv"):
        return False
    return cells.were_floats(str(record.get(aliases[0]) or "").strip() for _, record in input.records())


def float_columns(input: Input, columns: Columns, fields: Iterable[str]) -> tuple[str, ...]:
    """The columns of these fields whose ids were floats."""
    names = (name for field in fields for name in columns.of.get(field, ()))
    return tuple(name for name in names if has_float_ids(input, (name,)))


def whole_ids(record: Record, names: Sequence[str]) -> Record:
    """The record with the ids of these columns as the whole numbers they were."""
    return {**record, **{name: id_of(record[name], True) for name in names if record.get(name)}} if names else record


def id_of(value: Any, from_float: bool) -> str:
    """An id as text; "7.0" is "7" where its column was one of floats."""
    text = cells.id_text(value)
    return text[:-2] if from_float and text.endswith(".0") else text


class QuestionReader(RecordReader):
    """Reads questions; remembers what the notes must say. `pages_in` are columns that hold gold pages."""

    def __init__(self, input: Input, *, pages_in: Iterable[str] = (), number_from: int | None = None) -> None:
        super().__init__(input, TESTSET, number_from)
        complete_gold(self.columns, input.fields)
        self.by_system = Columns(RESULTS, input.fields).has("system")  # rows of several systems repeat the questions
        others = tuple(alias for alias in self.columns.of["answers"] if alias != "answer")
        self.drops_answer = "answer" in self.columns.of["answers"] and bool(others or lists_hits(input))
        if self.drops_answer:
            self.columns.of["answers"] = others
        self._tag_columns = [name for name in self.columns.unknown if TAG_NAME.match(name) and name not in NO_TAG]
        self.gold = GoldReader(self.columns, self.pages, pages_in)
        self.nuggets = NuggetReader()
        self.history = HistoryReader(input, self.columns, has_float_ids(input, self.columns.of["conversation"]))
        self._float_gold = float_columns(input, self.columns, ("gold", "gold_id", "gold_doc", "gold_chunk"))

    def read(self, record: Record, row: int) -> Question:
        """One record as a question."""
        with self.input.reading(row, self.columns):
            qid, text = self.question_id(record, row)
            answers = _answers(*self.columns.first(record, "answers"))
            answerable = self._answerable(record)
            gold = self.gold.read(whole_ids(record, self._float_gold))
            kind, tags = self.text(record, "kind"), self._tags(record)
            nuggets = self.nuggets.read(self.columns.value(record, "nuggets"))
            question = Question(
                qid, text, answers=answers, gold=tuple(gold or ()), kind=kind, tags=tags, nuggets=nuggets,
                answerable=answerable and gold is not None, excluded=_excluded(self.columns.value(record, "excluded")),
                **self.history.read(record, text),
            )  # fmt: skip
            if (name := question.excluded_gold) is not None:
                raise CellError(f"{quoted(name)} is gold and excluded", "Take it out of one of the two.")
        return question

    def read_alike(self, rows: Sequence[tuple[int, Record]]) -> list[Question] | None:
        """Many records as questions, where they give nothing but ids, texts, kinds, answers and lists of gold.

        None where one must be read alone: it says more, or says it otherwise than the others.
        """
        columns = None if self.by_system else self.single_columns("id", "question", "kind", "answers", "gold")
        if columns is None or "gold" not in columns:
            return None
        lists: list[Any] = [record.get(columns["gold"]) for _, record in rows]
        if set(map(type, lists)) != {list} or (golds := self.gold.read_alike(list(chain.from_iterable(lists)))) is None:
            return None
        try:
            answers: list[tuple[str, ...]] = [()] * len(rows)
            kinds: list[str | None] = [None] * len(rows)
            if "answers" in columns:
                answers = [_answers(*self.columns.first(record, "answers")) for _, record in rows]
            if "kind" in columns:
                kinds = [self.text(record, "kind") for _, record in rows]
        except CellError:
            return None
        if (questions := self.read_questions(rows)) is None:
            return None
        self.columns.used[columns["gold"]] = None
        listed = iter(golds)
        return [
            Question(qid, text, answers=given, gold=tuple(islice(listed, len(some))), kind=kind)
            for qid, text, given, kind, some in zip(*questions, answers, kinds, lists, strict=True)
        ]

    def _answerable(self, record: Record) -> bool:
        value = self.columns.value(record, "answerable")
        if value is not None:
            return cells.truth_value(value)
        value = self.columns.value(record, "impossible")
        return value is None or not cells.truth_value(value)

    def _tags(self, record: Record) -> dict[str, str]:
        value = cells.as_object(self.columns.value(record, "tags"))
        if value is None and not self._tag_columns:
            return {}
        if isinstance(value, str) and value.strip().startswith("{"):
            raise CellError(f"{quoted(value)} is not valid JSON", "Write an object of names and values.")
        if isinstance(value, Mapping):
            tags = {str(name): _tag(part) for name, part in value.items() if not cells.is_missing(part)}
        else:
            tags = {_tag(item): "yes" for item in cells.as_list(value) or []}
        for name in self._tag_columns:
            if not cells.is_missing(record.get(name)):
                self.columns.at = name
                self.columns.used[name] = None
                tags[self.input.original.get(name, name)] = _tag(record[name])
        return tags

    def states_gold(self, record: Record) -> bool:
        """Whether the record says what its gold is, even that there is none."""
        return any(not cells.is_missing(record.get(a)) for field in GOLD_FIELDS for a in self.columns.of[field])

    def states_answers(self, record: Record) -> bool:
        """Whether the record lists its reference answers, if only an empty one: then they are undefined."""
        return any(isinstance(record.get(alias), list | tuple) for alias in self.columns.of["answers"])

    def refuse_misspelled(self, record: Record, row: int, *, must: bool = False) -> None:
        """An error where a field that is filled looks like one of gold, or where there `must` be one."""
        columns = Columns(TESTSET, [name for name, value in record.items() if value is not None])
        near = columns.nearest(GOLD_FIELDS)
        if near or must:
            remedy = near or f"{columns.nearest(('answers',))} {_NO_GOLD}".strip()
            raise self.input.error("no gold", row=row, remedy=remedy)


def read_questions(
    input: Input, *, pages_in: Iterable[str] = (), number_from: int | None = None
) -> tuple[TestSet, list[str]]:
    """The questions of an input with one record a question, or a question and system."""
    reader = QuestionReader(input, pages_in=pages_in, number_from=number_from)
    rows: dict[str, int] = {}
    questions: dict[str, Question] = {}
    bare: list[tuple[Record, int]] = []  # neither gold nor answers
    for block in input.record_blocks():
        alike = reader.read_alike(block)
        if alike is not None:
            questions |= {question.id: question for question in alike}
            continue
        for row, record in block:
            question = reader.read(record, row)
            if reader.by_system and question.id in questions:
                _refuse_other(input, question, questions[question.id], row, rows[question.id])
                continue
            reader.refuse_double(question.id, row)
            reader.history.refuse_double(question, row)
            questions[question.id], rows[question.id] = question, row
            if question.answerable and not reader.states_gold(record):
                if question.answers or question.nuggets or reader.states_answers(record):
                    reader.refuse_misspelled(record, row)
                else:
                    bare.append((record, row))
    if not questions:
        raise input.error("no questions", remedy="Give at least one.")
    if bare:
        reader.refuse_misspelled(*bare[0], must=len(bare) < len(questions))
        if not any(question.text for question in questions.values()):
            raise input.error("no gold, no answers and no questions", row=bare[0][1], remedy=_NO_GOLD)
    asked = list(questions.values())
    testset = TestSet(reader.history.with_derived(asked) if reader.history.present else asked, name=input.stem)
    return testset, _notes(reader, testset)


def _refuse_other(input: Input, question: Question, first: Question, row: int, first_row: int) -> None:
    """Rows of several systems must agree on the question they answer."""
    for what, one, other in (
        ("text", question.text, first.text),
        ("gold", set(question.gold), set(first.gold)),
        ("reference answer", question.answers, first.answers),
        ("list of nuggets", question.nuggets, first.nuggets),
        ("list of excluded ids", question.excluded, first.excluded),
        ("history", question.history, first.history),
        ("place in its conversation", (question.conversation, question.turn), (first.conversation, first.turn)),
    ):
        if one != other:
            raise input.error(
                f"question {quoted(question.id)} has another {what} than in {input.unit} {first_row}",
                row=row,
                remedy="Give the same gold to every system, or a test set of its own.",
            )


def _notes(reader: QuestionReader, testset: TestSet) -> list[str]:
    notes = [*reader.pages.notes(), *range_note(testset.golds), *crowded_note(testset.golds)]
    notes += reader.id_notes() + gold_notes(testset) + reader.nuggets.notes()
    notes += reader.history.notes(testset)
    if excluding := sum(bool(question.excluded) for question in testset):
        notes.append(
            f"{plural(excluding, 'question')} of {len(testset):,} exclude documents, which do not count as hits"
        )
    if reader.gold.missing_pages:
        notes.append(f'{reader.gold.missing_pages} gold pages are "N/A" and name no page')
    if reader.drops_answer:
        notes.append('"answer" is read as a system\'s answer, not the reference')
    others = [alias for aliases in RESULTS.values() for alias in aliases] if lists_hits(reader.input) else ()
    return notes + reader.input.column_notes(reader.columns.used, others)


def gold_notes(testset: TestSet) -> list[str]:
    """How many questions cannot be scored by gold, and why."""
    notes = []
    without = sum(q.answerable and not q.gold for q in testset)
    closed = sum(not q.answerable for q in testset)
    if not any(q.gold for q in testset):
        answered = any(q.answers or q.nuggets for q in testset)
        notes.append("no gold: only answers can be scored" if answered else "questions only: no gold and no answers")
    elif without:
        notes.append(f"{without} of {len(testset)} questions have no gold")
    if closed:
        notes.append(f"{closed} of {len(testset)} questions are unanswerable")
    undefined = sum(q.answerable and not (q.gold or q.answers or q.nuggets) for q in testset)
    if 0 < undefined < len(testset):
        notes.append(f"{undefined} of {len(testset)} questions have neither gold nor a reference answer")
    return notes


def described_testset(testset: TestSet) -> str:
    """ "120 questions, 3 kinds"; of plain judgements "50 questions, 700 judgements"."""
    parts = [plural(len(testset), "question")]
    if testset.is_plain or not any(question.text or question.answers for question in testset):
        parts.append(plural(sum(map(len, (testset.qrels or {}).values())), "judgement"))
    elif kinds := len({question.kind for question in testset if question.kind is not None}):
        parts.append(plural(kinds, "kind"))
    return ", ".join(parts)


def _answers(alias: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = value.get("text", list(value.values()))
    several = alias.endswith("s") or not isinstance(value, str)
    items = cells.as_list(value) if several else [value]
    return tuple(cells.plain_text(item) for item in items or [] if not cells.is_missing(item))


def _excluded(value: Any) -> tuple[str, ...]:
    """Ids that do not count for a question; BRIGHT writes N/A where there are none."""
    ids = (cells.id_text(item) for item in cells.as_list(value) or [] if not cells.is_missing(item))
    return tuple(dict.fromkeys(id_ for id_ in ids if id_ != NO_IDS))


def _tag(value: Any) -> str:
    return ", ".join(map(cells.plain_text, value if isinstance(value, list | tuple) else [value]))
