"""Results from records: every source that names fields and has one record a question is read here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from karat.core.ranked import trec_key
from karat.core.run import Run
from karat.core.types import Answer
from karat.files._entries import HitColumns, are_hits, columns_of, hit_columns, side_by_side, text_of
from karat.files._format import names_gold
from karat.files._questions import RecordReader
from karat.files._runs import Key, RunBuilder, list_notes, system_names
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import RESULTS, RETRIEVED_FIELDS, TESTSET, Columns
from karat.io.input import Input
from karat.io.pages import page_text
from karat.io.shapes import record_of

FINE = frozenset(
    ("ok", "success", "succeeded", "successful", "done", "completed", "complete", "finished", "200", "true",
     "undefined")
)  # fmt: skip
BAD = re.compile(
    r"fail|err|time.?out|timed.?out|exception|abort|cancel|kill|crash|refus|^5\d\d$|^4\d\d$|^false$|skipped"
)
_LISTS = ("id", "chunk", "doc", "page", "url")
_PASSAGE = 'Write {"passage": ..., "doc_IDs": [...]}.'
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


class ResultReader(RecordReader):
    """Reads the records of one results input."""

    def __init__(self, input: Input) -> None:
        super().__init__(input, RESULTS)
        self._times = [one for one in _SECONDS if self.columns.of[one[0]]]
        self._has_systems = self.columns.has("system", "alpha", "k")
        self._has_failures = self.columns.has("error", "status")
        self._has_answers = self.columns.has(*_OF_ANSWERS)
        self.shared_passages = self.uneven_texts = self.uneven_scores = self.odd_confidence = 0

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
        notes = {
            f"{self.shared_passages} passages name several documents: each counts as a hit of its own": (
                self.shared_passages
            ),
            f"in {self.odd_confidence} rows the confidence is no number from 0 to 1: left aside": self.odd_confidence,
            f"in {self.uneven_texts} rows there are not as many contexts as ids: texts of hits are unknown there": (
                self.uneven_texts
            ),
            f"in {self.uneven_scores} rows there are not as many scores as ids: left aside there": self.uneven_scores,
        }
        return [*self.pages.notes(), *(note for note, count in notes.items() if count)]

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
        hits, contexts = self._hits(record)
        blank = hits is None and contexts is None and self._lists_nothing(record)
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
        return ResultRow(HitColumns() if blank else hits, answer, blank=blank, steps=self._steps(record))

    def _steps(self, record: Record) -> list[dict[str, Any]] | None:
        """The retrievals of a question that had several: kept as they are, and not scored."""
        steps = next((record[name] for name in self.columns.of["steps"] if record.get(name) is not None), None)
        steps = cells.as_list(steps) if isinstance(steps, str | list) else None
        return steps if steps and all(isinstance(step, dict) for step in steps) else None

    def _lists_nothing(self, record: Record) -> bool:
        """Whether a record has a field for the list of its hits, and nothing in it: it retrieved no documents."""
        return any(alias in record for unit in _LISTS for alias in self.columns.of[f"retrieved_{unit}"])

    def _hits(self, record: Record) -> tuple[HitColumns | None, tuple[str, ...] | None]:
        """The ranked hits and the contexts; None where the record gives none."""
        value = cells.as_object(self.columns.value(record, "retrieved"))
        if value is not None:
            return self._entries(value), self._texts(record)
        value = self.columns.value(record, "passages")
        if value is not None:
            return self._passages(value)
        columns = {unit: items for unit in _LISTS if (items := self._column(record, unit)) is not None}
        texts = self._texts(record)
        if not columns:
            contexts = self.columns.value(record, "retrieved_text")
            if are_hits(contexts, named=True):
                return self._entries(contexts), texts
            return (None if texts is None else HitColumns(len(texts), {"text": list(texts)})), texts
        hits = [
            {unit: item for unit, item in hit.items() if item is not None or unit == "page"}
            for hit in side_by_side(columns, "lists of hits")
        ]
        if not all(hits):
            raise CellError("a hit without an id", "Give every hit an id, or leave it out of the list.")
        for hit in hits:
            self._set_page(hit)
        self._add_texts(record, hits, texts)
        scores = self.columns.value(record, "retrieved_score")
        scores = None if isinstance(scores, Mapping) else cells.as_list(scores)
        if scores is not None and len(scores) == len(hits):
            for hit, score in zip(hits, scores, strict=True):
                hit["score"] = cells.finite_number(score)
        elif scores:
            self.uneven_scores += 1
        return HitColumns.of(hits), texts

    def _column(self, record: Record, unit: str) -> list[Any] | None:
        value = self.columns.value(record, f"retrieved_{unit}")
        if value is None or isinstance(value, Mapping):
            return None
        return cells.page_items(value) if unit == "page" else cells.ids_of(value)

    def _set_page(self, hit: dict[str, Any]) -> None:
        """A page that is missing ("N/A") keeps its slot and matches nothing."""
        if "page" not in hit:
            return
        cell = hit.pop("page")
        page, _ = self.pages.read(page=page_text(cell))
        if page is not None:
            hit["page"] = page
        if hit.keys() <= {"page"}:
            hit["id"] = page or ("N/A" if cells.is_missing(cell) else str(cell).strip())

    def _add_texts(self, record: Record, hits: list[dict[str, Any]], texts: tuple[str, ...] | None) -> None:
        """Texts in the order of the hits, or under their ids, as momento writes them."""
        by_id = self.columns.value(record, "retrieved_doc")
        if isinstance(by_id, Mapping):
            text_of = {cells.id_text(name): cells.plain_text(text) for name, text in by_id.items() if text is not None}
            for hit in hits:
                text = text_of.get(hit.get("chunk", ""), text_of.get(hit.get("id", "")))
                if text is not None:
                    hit["text"] = text
        if texts is not None and len(texts) == len(hits):
            for hit, text in zip(hits, texts, strict=True):
                hit["text"] = text
        elif texts is not None:
            self.uneven_texts += 1

    def _texts(self, record: Record) -> tuple[str, ...] | None:
        value = self.columns.value(record, "retrieved_text")
        if value is None:
            return None
        items = [value] if isinstance(value, str) and not value.strip().startswith("[") else cells.as_list(value)
        texts = []
        for item in items or []:
            if isinstance(item, Mapping):
                item = text_of(item)
            texts.append("" if item is None else cells.plain_text(item))
        return tuple(texts)

    def _entries(self, value: Any) -> HitColumns:
        if isinstance(value, Mapping) and isinstance(hits := (record_of(value) or {}).get("retrieved"), list):
            value = hits
        if isinstance(value, Mapping):
            scored = [(cells.id_text(doc), cells.finite_number(score)) for doc, score in value.items()]
            return HitColumns.of(
                [{"id": doc, "score": score} for doc, score in sorted(scored, key=trec_key, reverse=True)]
            )
        return hit_columns(cells.as_list(value) or [], self.pages)

    def _passages(self, value: Any) -> tuple[HitColumns, tuple[str, ...]]:
        hits: list[dict[str, Any]] = []
        texts = []
        for entry in cells.as_list(value) or []:
            if isinstance(entry, str):
                entry = {"passage": entry}
            if not isinstance(entry, Mapping):
                raise CellError(f"passage {quoted(entry)} is no object", _PASSAGE)
            lower = {str(k).lower(): v for k, v in entry.items()}
            text = "" if cells.is_missing(lower.get("passage")) else cells.plain_text(lower["passage"])
            ids = [cells.id_text(item) for item in cells.as_list(lower.get("doc_ids")) or []]
            if not ids and not text:
                raise CellError("a passage with neither text nor doc_IDs", _PASSAGE)
            self.shared_passages += len(ids) > 1
            texts.append(text)
            hits += [{"id": doc, "text": text} for doc in ids] or [{"text": text}]
        return HitColumns.of(hits), tuple(texts)

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
        tokens, cost = self._tokens(record), self._number(record, "cost_usd")
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

    def _number(self, record: Record, field: str) -> float | None:
        value = cells.as_object(self.columns.value(record, field))
        if isinstance(value, Mapping):
            value = cells.total_of(value)
        return None if value is None else cells.finite_number(value, field)

    def _tokens(self, record: Record) -> float | None:
        """Tokens read and written together; None where not both are known."""
        tokens = self._number(record, "tokens")
        if tokens is not None:
            return tokens
        read, written = self._number(record, "tokens_read"), self._number(record, "tokens_written")
        return None if read is None or written is None else read + written

    def _seconds(self, record: Record) -> dict[str, float]:
        value = cells.as_object(self.columns.value(record, "seconds"))
        if isinstance(value, Mapping):
            return {str(k): cells.finite_number(v, "seconds") for k, v in value.items() if v is not None}
        seconds: dict[str, float] = {}
        for field, part, unit in self._times:
            number = self._number(record, field)
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
