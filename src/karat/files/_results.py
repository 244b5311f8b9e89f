"""Results from records: every source that names fields and has one record a question is read here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from karat.core.ranked import trec_key
from karat.core.run import Run
from karat.core.types import Answer
from karat.files import _cells
from karat.files._aliases import RESULTS, RETRIEVED_FIELDS, TESTSET, Names
from karat.files._cells import CellError, Record, shown
from karat.files._look import Look
from karat.files._runs import Building, described, list_notes, named_by, settings_of
from karat.files._signs import names_gold
from karat.files._testset import has_float_ids, refuse_double
from karat.files._units import fields_of
from karat.io.pages import PageReader
from karat.results.evaluation import Taken

FINE = frozenset(
    ("ok", "success", "succeeded", "successful", "done", "completed", "complete", "finished", "200", "true",
     "undefined")
)  # fmt: skip
BAD = re.compile(
    r"fail|err|time.?out|timed.?out|exception|abort|cancel|kill|crash|refus|^5\d\d$|^4\d\d$|^false$|skipped"
)
_LISTS = ("id", "chunk", "doc", "page", "url")

Key = tuple[str, str, str]


class Reader:
    """Reads the records of one results input."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.names = Names(RESULTS, look.fields)
        self.pages = PageReader()
        self.has_ids = self.names.has("id")
        self.float_ids = look.shape in ("csv", "tsv") and has_float_ids(look.sample, self.names.of["id"])
        self.at: str | None = None  # the field being read, for errors
        self.used: dict[str, None] = {}  # columns that some record was read by
        self.blank_list = False  # whether the last record has an empty cell where its hits would stand
        self.shared_passages = 0
        self.uneven_texts = 0
        self.odd_confidence = 0

    def notes(self) -> list[str]:
        """What to say of all that was read so far, a sentence each."""
        notes = self.pages.notes()
        if self.shared_passages:
            notes.append(f"{self.shared_passages} passages name several documents: each counts as a hit of its own")
        if self.odd_confidence:
            notes.append(f"in {self.odd_confidence} rows the confidence is no number from 0 to 1: left aside")
        if self.uneven_texts:
            notes.append(
                f"in {self.uneven_texts} rows there are not as many contexts as ids: texts of hits are unknown there"
            )
        return notes

    def value(self, record: Record, field: str) -> tuple[str, Any]:
        """The first alias of a field that the record fills, and its value."""
        alias, value = self.names.first(record, field)
        if alias:
            self.at = alias
            self.used[alias] = None
        return alias, value

    def text_of(self, record: Record, field: str) -> str | None:
        _, value = self.value(record, field)
        return None if value is None else _cells.plain_text(value)

    def key(self, record: Record) -> Key:
        """System, alpha and k of a record."""
        system = self.text_of(record, "system")
        if system is None:
            if self.names.has("system"):
                alias = self.names.of["system"][0]
                raise CellError("no system", f'Fill in "{alias}" in every row, or in none.')
            if not self.questions_repeat:
                return self.look.stem, "", ""
            system = self.look.stem
        return system.strip(), self.text_of(record, "alpha") or "", self.text_of(record, "k") or ""

    @cached_property
    def questions_repeat(self) -> bool:
        """Whether rows of a sweep hold a question several times, so that alpha and k tell its rows apart."""
        if not self.names.has("alpha", "k"):
            return False
        with suppress(CellError):  # the row that has no id is named when it is read
            ids = [self.qid(record)[0] for _, record in self.look.records()]
            return len(set(ids)) < len(ids)
        return False

    def qid(self, record: Record) -> tuple[str, str]:
        """Question id and text; without ids the text serves as one."""
        text = (self.text_of(record, "question") or "").strip()
        _, value = self.value(record, "id")
        if value is not None:
            qid = _cells.id_text(value)
            return (qid[:-2] if self.float_ids and qid.endswith(".0") else qid), text
        self.at = None
        if self.has_ids:
            raise CellError("no id", f'Give every row the id of its question ("{self.names.of["id"][0]}").')
        if not text:
            raise CellError("neither an id nor a question", 'Add "id" or "question".')
        return text, text

    def hits(self, record: Record) -> tuple[list[dict[str, Any]] | None, tuple[str, ...] | None]:
        """The ranked hits and the contexts; None where the record gives none."""
        self.blank_list = False
        _, value = self.value(record, "retrieved")
        if value is not None:
            return self._entries(value), self._texts(record)
        _, value = self.value(record, "passages")
        if value is not None:
            return self._passages(value)
        columns = {unit: items for unit in _LISTS if (items := self._column(record, unit)) is not None}
        texts, by_id = self._texts(record), self._texts_by_id(record)
        if not columns:
            if texts is None and self._lists_nothing(record):
                self.blank_list = True
                return [], None
            return (None if texts is None else [{"text": text} for text in texts]), texts
        sizes = {len(items) for items in columns.values()}
        if len(sizes) > 1:
            counts = ", ".join(f"{len(items)} {unit}s" for unit, items in columns.items())
            raise CellError(f"the lists of hits do not pair up ({counts})", "Give lists of equal length, or one list.")
        hits: list[dict[str, Any]] = [
            {unit: cell for unit, cell in zip(columns, cells, strict=True) if cell is not None or unit == "page"}
            for cells in zip(*columns.values(), strict=True)
        ]
        if not all(hits):
            raise CellError("a hit without an id", "Give every hit an id, or leave it out of the list.")
        for hit in hits:
            text = by_id.get(hit.get("chunk", ""), by_id.get(hit.get("id", "")))
            if text is not None:
                hit["text"] = text
        self._add_pages(hits)
        _, scores = self.value(record, "retrieved_score")
        scores = _cells.as_list(scores) if not isinstance(scores, Mapping) else None
        if scores is not None and len(scores) == len(hits):
            for hit, score in zip(hits, scores, strict=True):
                hit["score"] = _cells.finite(score)
        if texts is not None and len(texts) == len(hits):
            for hit, text in zip(hits, texts, strict=True):
                hit["text"] = text
        elif texts is not None:
            self.uneven_texts += 1
        return hits, texts

    def _column(self, record: Record, unit: str) -> list[Any] | None:
        _, value = self.value(record, f"retrieved_{unit}")
        if value is None or isinstance(value, Mapping):
            return None
        return _cells.page_items(value) if unit == "page" else _cells.ids_of(value)

    def _texts_by_id(self, record: Record) -> dict[str, str]:
        """Texts that stand under the ids of their hits, as momento writes them."""
        _, value = self.value(record, "retrieved_doc")
        if not isinstance(value, Mapping):
            return {}
        return {_cells.id_text(name): _cells.plain_text(text) for name, text in value.items() if text is not None}

    def _lists_nothing(self, record: Record) -> bool:
        """Whether a record has a field for the list of its hits, and nothing in it: it retrieved no documents."""
        return any(alias in record for unit in _LISTS for alias in self.names.of[f"retrieved_{unit}"])

    def _add_pages(self, hits: list[dict[str, Any]]) -> None:
        """A page that is not given ("N/A") keeps its slot and matches nothing."""
        for hit in hits:
            if "page" in hit:
                given = hit.pop("page")
                page, _ = self.pages.read(page=_cells.page_text(given))
                if page is not None:
                    hit["page"] = page
                if not any(unit in hit for unit in ("id", "chunk", "doc", "url")):
                    hit["id"] = (
                        page if page is not None else ("N/A" if _cells.is_missing(given) else str(given).strip())
                    )

    def _texts(self, record: Record) -> tuple[str, ...] | None:
        _, value = self.value(record, "retrieved_text")
        if value is None:
            return None
        items = [value] if isinstance(value, str) and not value.strip().startswith("[") else _cells.as_list(value)
        texts = []
        for item in items or []:
            if isinstance(item, Mapping):
                item = item.get("text", item.get("content", item.get("passage", "")))
            texts.append("" if item is None else _cells.plain_text(item))
        return tuple(texts)

    def _entries(self, value: Any) -> list[dict[str, Any]]:
        if isinstance(value, Mapping):
            scored = [(_cells.id_text(doc), _cells.finite(score)) for doc, score in value.items()]
            return [{"id": doc, "score": score} for doc, score in sorted(scored, key=trec_key, reverse=True)]
        hits = []
        for place, entry in enumerate(_cells.as_list(value) or [], 1):
            try:
                hits.append(self._entry(entry))
            except CellError as error:
                raise CellError(f"hit {place}: {error.problem}", error.remedy) from None
        return hits

    def _entry(self, entry: Any) -> dict[str, Any]:
        """A hit from an object, an id, or either of them with its score."""
        if isinstance(entry, list | tuple) and len(entry) == 2:
            return {**self._entry(entry[0]), "score": _cells.finite(entry[1])}
        return fields_of(entry, self.pages) if isinstance(entry, Mapping) else {"id": _cells.id_text(entry)}

    def _passages(self, value: Any) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
        hits: list[dict[str, Any]] = []
        texts = []
        for entry in _cells.as_list(value) or []:
            if not isinstance(entry, Mapping):
                raise CellError(f"passage {shown(entry)} is no object", 'Write {"passage": ..., "doc_IDs": [...]}.')
            lower = {str(k).lower(): v for k, v in entry.items()}
            text = _cells.plain_text(lower["passage"]) if not _cells.is_missing(lower.get("passage")) else ""
            ids = _cells.one_of(lower.get("doc_ids"), _cells.id_text) or []
            if not ids and not text:
                raise CellError("a passage with neither text nor doc_IDs", 'Write {"passage": ..., "doc_IDs": [...]}.')
            self.shared_passages += len(ids) > 1
            texts.append(text)
            hits.extend({"id": doc, "text": text} for doc in ids) if ids else hits.append({"text": text})
        return hits, tuple(texts)

    def failure(self, record: Record) -> str | None:
        """Why the system failed on this question, or None."""
        error = self._error(record, "error")
        if error is not None:
            return error
        _, status = self.value(record, "status")
        if status is None:
            return None
        word = _cells.plain_text(status).strip().lower()
        if word in FINE or status is True:
            return None
        if BAD.search(word) or status is False:
            return f"status {word}"
        raise CellError(f"status {shown(status)} is not known", 'Write "ok" or "failed".')

    def _error(self, record: Record, field: str) -> str | None:
        _, error = self.value(record, field)
        if isinstance(error, Mapping):
            error = error.get("message", str(error)[:200])
        return None if error is None or error is False or error == [] else _cells.plain_text(error)[:500]

    def answer(self, record: Record, qid: str, contexts: tuple[str, ...] | None) -> Answer | None:
        """What the system said, with its costs; None when the record has nothing of it."""
        given = [alias for alias in self.names.of["answer"] if alias in record]
        _, value = self.value(record, "answer")
        text = _cells.plain_text(value) if value is not None else None
        if text is None and any(isinstance(record[alias], str) for alias in given):
            text = ""
        seconds = self._seconds(record)
        tokens, cost = self._tokens(record), self._number(record, "cost_usd")
        model, error = self.text_of(record, "model"), self._error(record, "answer_error")
        if not given and error is None and contexts is None and not seconds and tokens is None and cost is None:
            return None
        whole = None if tokens is None else int(tokens)
        _, used = self.value(record, "context_ids")
        return Answer(
            qid, text if error is None else None, contexts, model, seconds, whole, cost, error,
            self._confidence(record) if error is None else None,
            tuple(_cells.one_of(used, _cells.id_text) or ()) if used is not None else None,
        )  # fmt: skip

    def _confidence(self, record: Record) -> float | None:
        """A number from 0 to 1; what is none is left aside and counted, since others mean other things by the name."""
        _, value = self.value(record, "confidence")
        if value is None:
            return None
        try:
            number = _cells.finite(value, "confidence")
        except CellError:
            number = -1.0
        if 0 <= number <= 1:
            return number
        self.odd_confidence += 1
        return None

    def _number(self, record: Record, field: str) -> float | None:
        value = self._value_or_parts(record, field)
        if isinstance(value, Mapping):
            value = _cells.total_of(value)
        return None if value is None else _cells.finite(value, field)

    def _tokens(self, record: Record) -> float | None:
        """Tokens read and written together; None where not both are known."""
        tokens = self._number(record, "tokens")
        if tokens is not None:
            return tokens
        read, written = self._number(record, "tokens_read"), self._number(record, "tokens_written")
        return None if read is None or written is None else read + written

    def _value_or_parts(self, record: Record, field: str) -> Any:
        """A value as it stands, or an object of parts, which a table holds as JSON."""
        _, value = self.value(record, field)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            with suppress(ValueError, RecursionError):
                return json.loads(value)
        return value

    def _seconds(self, record: Record) -> dict[str, float]:
        value = self._value_or_parts(record, "seconds")
        if isinstance(value, Mapping):
            return {str(k): _cells.finite(v, "seconds") for k, v in value.items() if v is not None}
        made: dict[str, float] = {}
        for field, part, scale in (
            ("seconds", "total", 1.0),
            ("total_seconds", "total", 1.0),
            ("total_ms", "total", 0.001),
            ("retrieve_ms", "retrieve", 0.001),
            ("answer_ms", "answer", 0.001),
        ):
            number = self._number(record, field)
            if number is not None:
                made.setdefault(part, number * scale)
        return made


def read_records(look: Look, format_name: str, *, notes: Iterable[str] = ()) -> tuple[list[Run], Taken]:
    """The systems of an input with one record a question and system."""
    reader = Reader(look)
    built: dict[Key, Building] = {}
    for row, record in look.records():
        try:
            reader.at = None
            key = reader.key(record)
            qid, text = reader.qid(record)
            building = built.setdefault(key, Building())
            refuse_double(look, qid, row, building.rows, reader.has_ids)
            _add(reader, building, record, row, qid, text)
        except CellError as error:
            raise look.error(error.problem, row=row, field=reader.at, remedy=error.remedy) from None
    if not built:
        raise look.error("no results", remedy="Give at least one row.")
    names = named_by(built)
    runs = [building.done(names[key], look.name, settings_of(key)) for key, building in built.items()]
    unnamed = [] if reader.has_ids else ["no ids: the text of a question serves as its id"]
    found = [*notes, *reader.notes(), *unnamed, *list_notes(built.values())]
    other = [alias for aliases in TESTSET.values() for alias in aliases] if names_gold(look) else ()
    found += look.column_notes(reader.used, other)
    return runs, Taken(look.name, format_name, described(runs), tuple(found))


@dataclass(frozen=True)
class ResultRow:
    """What one record says of one question: its hits, None where it has no list of them; its answer; why it failed."""

    hits: list[dict[str, Any]] | None = None
    answer: Answer | None = None
    error: str | None = None


def read_row(reader: Reader, record: Record, qid: str) -> ResultRow:
    """What a record says of a question; CellError where that is nothing, or cannot be."""
    reason = reader.failure(record)
    if reason is not None:
        return ResultRow(error=reason)
    hits, contexts = reader.hits(record)
    has_answer = any(alias in record for field in ("answer", "answer_error") for alias in reader.names.of[field])
    if hits is None and not has_answer:
        reader.at = None
        near = Names(RESULTS, record).nearest((*RETRIEVED_FIELDS, "answer"))
        raise CellError(
            "neither retrieved ids nor an answer nor an error",
            near or 'Add "retrieved" (or "doc_ids", "retrieved_pages", ...), "answer", or "error".',
        )
    return ResultRow(hits, reader.answer(record, qid, contexts))


def _add(reader: Reader, building: Building, record: Record, row: int, qid: str, text: str) -> None:
    if text:
        building.texts[qid] = text
    read = read_row(reader, record, qid)
    building.add(qid, row, read.hits)
    if read.error is not None:
        building.failed[qid] = read.error
        return
    building.blank += reader.blank_list
    if read.answer is not None:
        building.answers[qid] = read.answer
