"""Results from records: every source that names fields and has one record a question is read here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from karat.core.run import Run
from karat.core.steps import HITS, union_of
from karat.core.types import Answer
from karat.files._entries import HitColumns, columns_of
from karat.files._format import names_gold
from karat.files._hit_reader import HitReader
from karat.files._questions import RecordReader
from karat.files._runs import Key, RunBuilder, list_notes, system_names
from karat.files._steps import StepReader
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import RESULTS, RETRIEVED_FIELDS, TESTSET, Columns
from karat.io.input import Input
from karat.io.shapes import answer_names

FINE = frozenset(
    ("ok", "success", "succeeded", "successful", "done", "completed", "complete", "finished", "200", "true",
     "undefined")
)  # fmt: skip
BAD = re.compile(
    r"fail|err|time.?out|timed.?out|exception|abort|cancel|kill|crash|refus|^5\d\d$|^4\d\d$|^false$|skipped"
)
_SECONDS = (
    ("seconds", "total", 1.0),
    ("total_seconds", "total", 1.0),
    ("total_ms", "total", 0.001),
    ("retrieve_ms", "retrieve", 0.001),
    ("answer_ms", "answer", 0.001),
)
"""Column, part of the time, and what one of its units is in seconds."""

_OF_ANSWERS = (
    "answer", "answer_error", "tokens", "tokens_read", "tokens_written", "cost_usd", "model",
    *(column for column, _, _ in _SECONDS),
)  # fmt: skip


@dataclass(frozen=True)
class ResultRow:
    """What one record says of one question: its hits, None where it has no list of them; its answer; why it failed."""

    hits: HitColumns | None = None
    answer: Answer | None = None
    error: str | None = None
    blank: bool = False  # its list of hits is an empty cell
    steps: list[dict[str, Any]] | None = None
    is_union: bool = False  # its hits are those of its steps


class ResultReader(RecordReader):
    """Reads the records of one results input."""

    def __init__(self, input: Input) -> None:
        super().__init__(input, RESULTS)
        self.columns.of["answer"] = self.columns.of["answer"] or answer_names(input.fields)
        self._times = [one for one in _SECONDS if self.columns.of[one[0]]]
        self._has_systems = self.columns.has("system", "alpha", "k")
        self._has_failures = self.columns.has("error", "status")
        self._has_answers = self.columns.has(*_OF_ANSWERS)
        self._hits, self._steps = HitReader(self.columns, self.pages), StepReader(self.pages)
        self.odd_confidence = 0

    def read_lists(
        self, rows: Sequence[tuple[int, Record]]
    ) -> tuple[list[str], list[str], list[int], HitColumns] | None:
        """Ids and texts of the questions of many rows, and their hits, one after the other, with the size of each list.

        None where a row must be read alone: it says more, or says it otherwise than the others.
        """
        columns = self.single_columns("id", "question", "retrieved")
        if columns is None or "retrieved" not in columns:
            return None
        lists: list[Any] = [record.get(columns["retrieved"]) for _, record in rows]
        if set(map(type, lists)) != {list} or (hits := columns_of(list(chain.from_iterable(lists)))) is None:
            return None
        if (questions := self.read_questions(rows, self.key({}))) is None:
            return None
        self.columns.used[columns["retrieved"]] = None
        sizes = list(map(len, lists))
        return *questions, sizes, HitColumns(sum(sizes), hits)

    def notes(self) -> list[str]:
        """What to say of all that was read so far, a sentence each."""
        odd = f"in {self.odd_confidence} rows the confidence is no number from 0 to 1: left aside"
        notes = [odd] if self.odd_confidence else []
        return [*self.pages.notes(), *notes, *self._hits.notes(), *self._steps.notes()]

    def key(self, record: Record) -> Key:
        """System, alpha and k of a record."""
        if not self._has_systems:
            return self.input.stem, "", ""
        system = self.text(record, "system")
        if system is None and self.columns.has("system"):
            raise CellError("no system", f'Fill in "{self.columns.of["system"][0]}" in every row, or in none.')
        if system is None and not self._questions_repeat:
            return self.input.stem, "", ""
        system = self.input.stem if system is None else system.strip()
        return system, self.text(record, "alpha") or "", self.text(record, "k") or ""

    @cached_property
    def _questions_repeat(self) -> bool:
        """Whether rows of a sweep hold a question several times, so that alpha and k tell its rows apart."""
        if not self.columns.has("alpha", "k"):
            return False
        with suppress(CellError):  # the row that has no id is named when it is read
            ids = [self.question_id(record)[0] for _, record in self.input.records()]
            return len(set(ids)) < len(ids)
        return False

    def read(self, record: Record, qid: str) -> ResultRow:
        """What a record says of a question; CellError where that is nothing, or cannot be."""
        reason = self._failure(record) if self._has_failures else None
        if reason is not None:
            return ResultRow(error=reason)
        hits, contexts = self._hits.read(record)
        steps = self._step_rows(record)
        is_union = steps is not None and (hits is None or hits.fields.keys() == {"text"})
        if is_union and any(HITS in step for step in steps or ()):
            hits = HitColumns.of(union_of(step.get(HITS, ()) for step in steps or ()))
        blank = hits is None and (steps is not None or (contexts is None and self._hits.lists_nothing(record)))
        answers = [alias for alias in self.columns.of["answer"] if alias in record]
        errors = any(alias in record for alias in self.columns.of["answer_error"])
        if hits is None and not blank and not answers and not errors:
            self.columns.at = None
            near = Columns(RESULTS, record).nearest((*RETRIEVED_FIELDS, "answer"))
            raise CellError(
                "neither retrieved ids nor an answer nor an error",
                near or 'Add "retrieved" (or "doc_ids", "retrieved_pages", ...), "answer", or "error".',
            )
        answer = self._answer(record, qid, answers, contexts)
        return ResultRow(HitColumns() if blank else hits, answer, blank=blank, steps=steps, is_union=is_union)

    def _step_rows(self, record: Record) -> list[dict[str, Any]] | None:
        """The calls of a question; None where the record has no list of them."""
        value = cells.as_object(self.columns.value(record, "steps"))
        return None if value is None else self._steps.read(value)

    def _failure(self, record: Record) -> str | None:
        """Why the system failed on this question, or None."""
        error, status = self._error(record, "error"), self.columns.value(record, "status")
        if error is not None or status is None:
            return error
        word = cells.plain_text(status).strip().lower()
        if word in FINE or status is True:
            return None
        if BAD.search(word) or status is False:
            return f"status {word}"
        raise CellError(f"status {quoted(status)} is not known", 'Write "ok" or "failed".')

    def _error(self, record: Record, field: str) -> str | None:
        error = self.columns.value(record, field)
        if isinstance(error, Mapping):
            error = error.get("message", str(error)[:200])
        return None if error is None or error is False or error == [] else cells.plain_text(error)[:500]

    def _answer(self, record: Record, qid: str, columns: list[str], contexts: tuple[str, ...] | None) -> Answer | None:
        """What the system said, with its costs; None when the record has nothing of it."""
        if not self._has_answers and contexts is None:
            return None
        text = self.text(record, "answer")
        if text is None and any(isinstance(record[column], str) for column in columns):
            text = ""
        seconds = self._seconds(record)
        tokens, cost = self._tokens(record), self._amount(record, "cost_usd")
        model, error = self.text(record, "model"), self._error(record, "answer_error")
        if not columns and error is None and contexts is None and not seconds and tokens is None and cost is None:
            return None
        used = self.columns.value(record, "context_ids")
        return Answer(
            qid,
            text if error is None else None,
            contexts=contexts,
            model=model,
            seconds=seconds,
            tokens=None if tokens is None else int(tokens),
            cost_usd=cost,
            error=error,
            confidence=self._confidence(record) if error is None else None,
            used=None if used is None else tuple(cells.id_text(item) for item in cells.as_list(used) or ()),
        )

    def _confidence(self, record: Record) -> float | None:
        """A number from 0 to 1; what is none is left aside and counted, since others mean other things by the name."""
        value = self.columns.value(record, "confidence")
        number = -1.0
        with suppress(CellError):
            number = cells.finite_number(value)
        if 0 <= number <= 1:
            return number
        self.odd_confidence += value is not None
        return None

    def _amount(self, record: Record, field: str) -> float | None:
        value = cells.as_object(self.columns.value(record, field))
        if isinstance(value, Mapping):
            value = cells.total_of(value)
        return None if value is None else cells.amount(value, field)

    def _tokens(self, record: Record) -> float | None:
        """Tokens read and written together; None where not both are known."""
        tokens = self._amount(record, "tokens")
        if tokens is not None:
            return tokens
        read, written = self._amount(record, "tokens_read"), self._amount(record, "tokens_written")
        return None if read is None or written is None else read + written

    def _seconds(self, record: Record) -> dict[str, float]:
        value = cells.as_object(self.columns.value(record, "seconds"))
        if isinstance(value, Mapping):
            return {str(k): cells.amount(v, "seconds") for k, v in value.items() if v is not None}
        seconds: dict[str, float] = {}
        for field, part, unit in self._times:
            number = self._amount(record, field)
            if number is not None:
                seconds.setdefault(part, number * unit)
        return seconds


def read_systems(input: Input) -> tuple[list[Run], list[str]]:
    """The systems of an input with one record a question and system."""
    reader = ResultReader(input)
    builders: dict[Key, RunBuilder] = {}
    for rows in input.record_blocks():
        lists = reader.read_lists(rows)
        if lists is not None:
            qids, texts, sizes, hits = lists
            builder = builders.setdefault(reader.key({}), RunBuilder())
            builder.add(qids, sizes, hits)
            builder.texts |= {qid: text for qid, text in zip(qids, texts, strict=True) if text}
            continue
        for row, record in rows:
            with input.reading(row, reader.columns):
                key = reader.key(record)
                qid, text = reader.question_id(record)
                reader.refuse_double(qid, row, key)
                result = reader.read(record, qid)
            builder = builders.setdefault(key, RunBuilder())
            if text:
                builder.texts[qid] = text
            if result.hits is not None:
                builder.add([qid], [result.hits.size], result.hits)
            if result.error is not None:
                builder.failed[qid] = result.error
            if result.answer is not None:
                builder.answers[qid] = result.answer
            if result.steps is not None:
                builder.steps[qid] = result.steps
            builder.blank += result.blank
    if not builders:
        raise input.error("no results", remedy="Give at least one row.")
    names = system_names(builders)
    runs = [builder.run(names[key], input.name, key) for key, builder in builders.items()]
    others = [alias for aliases in TESTSET.values() for alias in aliases] if names_gold(input) else ()
    notes = [*reader.notes(), *reader.id_notes(), *list_notes(builders.values())]
    return runs, notes + input.column_notes(reader.columns.used, others)
