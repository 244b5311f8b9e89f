"""Traces: a file of spans, of whatever vendor, read in a stream into the results of one system.

A trace makes one row. What a file lacks is counted and said with examples; nothing is left out in silence.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from karat.core.errors import UsageError, did_you_mean
from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.text.words import plural
from karat.files._entries import HitColumns
from karat.files._runs import RunBuilder, list_notes
from karat.files._span_content import ContentReader
from karat.files._spans import UNREAD, Span, Step, Trace, TraceRow
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import field_name
from karat.io.input import Input
from karat.io.json_stream import Inside, TruncatedError, json_values, outline
from karat.io.records import JSONError

SpansOf = Callable[[Mapping[str, Any], ContentReader], Iterable[Span]]
"""Reads the spans of one value of a file."""

_HEX = re.compile(r"[0-9a-fA-F]+")
_ID_BYTES = (8, 16)  # of a span, of a trace
_HEX_DIGITS = (16, 32)
_MARKS = (b"Spans", b"spans", b"trace_id", b"traceId", b"bservation", b"run_type")  # one of these is in every head
_EXAMPLES = 3
_MOST_NAMES = 12
_NO_REASON = "failed, for a reason that the trace does not say"
_CUT_OFF = "the file ends in the middle of the trace"
_OK = frozenset(("", "ok", "unset", "success", "default", "status_code_ok", "status_code_unset", "0", "1", "true"))


def keys_of(input: Input) -> frozenset[str]:
    """The keys at the beginning of a JSON file, nested ones under those that they stand in, or the columns of a table.

    Of a file nothing but its head is looked at: it may be a document of gigabytes.
    """
    if input.source is None:
        return frozenset(_nested_keys(input)) if input.has_records else frozenset()
    if input.source.is_parquet:
        return frozenset(input.fields)
    if input.source.is_workbook:
        return frozenset()
    if input.source.head.lstrip()[:1] in (b"{", b"["):
        return outline(input.source.head) if any(mark in input.source.head for mark in _MARKS) else frozenset()
    return frozenset(field_name(name) for name in re.split("[,;\t|]", input.source.first_line.replace('"', "")))


def _nested_keys(input: Input) -> Iterator[str]:
    for _, record in zip(range(_EXAMPLES), input.raw_rows(), strict=False):
        for name, value in record[1].items():
            yield str(name)
            if isinstance(value, dict):
                yield from (f"{name}.{key}" for key in value)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                yield from (f"{name}.{key}" for key in value[0])


def wrapper_of(keys: frozenset[str], names: Iterable[str], mark: str) -> Inside:
    """Where the values stand that have a key: at the top, or in a list under one of some names."""
    return next(({name: {}} for name in names if f"{name}.{mark}" in keys), {})


def otel_id(value: Any) -> str | None:
    """An id of a trace or a span: hexadecimal digits, or base64 as protobuf writes bytes; None for none."""
    if cells.is_missing(value) or not isinstance(value, str | int):
        return None
    if isinstance(value, str) and len(value) in _HEX_DIGITS and _HEX.fullmatch(value):
        return value.lower() if value.strip("0") else None
    with suppress(CellError):
        text = cells.id_text(value)
        with suppress(binascii.Error, ValueError):
            data = base64.b64decode(text, validate=True)
            if len(data) in _ID_BYTES:
                return data.hex() if any(data) else None
        return text
    return None


def error_of(status: Any, message: Any = None) -> str | None:
    """Why a span failed, by the word for its status; "" where it does not say why, None where it did not fail."""
    word = str(status).strip().lower() if isinstance(status, str | int | bool) else ""
    reason = message.strip() if isinstance(message, str) else ""
    return None if word in _OK else reason


@dataclass
class _Count:
    """How often something was met, with the first of it as examples."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str, times: int = 1) -> None:
        self.count += times
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)

    def note(self, noun: str, what: str) -> list[str]:
        """A sentence, or none where it was never met."""
        some = ", ".join(self.examples) + (" ..." if self.count > len(self.examples) else "")
        return [f"{plural(self.count, noun)} {what} ({some})"] if self.count else []


class TraceReader:
    """Gathers the spans of a file by trace, and makes a run of them."""

    def __init__(self, input: Input) -> None:
        self.input, self.content = input, ContentReader(input.span)
        self._spans: dict[str, list[Span]] = {}
        self._names: Counter[str] = Counter()
        self._empty = self._n_spans = 0
        self._cut: int | None = None  # the line in which the file ends too early
        self._last = ""  # the trace of the last span, where spans stand alone
        self._of = {name: _Count() for name in _NOTES}
        self._repeats = _Count()
        self._steps: dict[str, tuple[Step, ...]] = {}

    def read(self, inside: Inside, spans_of: SpansOf) -> tuple[list[Run], list[str]]:
        """The run of all traces of the input, and what to say of it."""
        for row, value in self._values(inside):
            if not isinstance(value, dict):
                raise self.input.error("an object was expected", row=row, remedy="Export the traces again.")
            size = self._n_spans
            for span in spans_of(value, self.content):
                self._add(span)
            self._empty += self._n_spans == size
            self._last = self._last if self._n_spans == size + 1 else ""
        self._check()
        return self._run()

    def _values(self, inside: Inside) -> Iterator[tuple[int, Any]]:
        source = self.input.source
        if source is None or source.head.lstrip()[:1] not in (b"{", b"["):
            yield from self.input.raw_rows()
            return
        try:
            yield from json_values(source, inside)
        except TruncatedError as error:
            self._cut = error.row
        except JSONError as error:
            raise source.error(error.problem, row=error.row, remedy=error.remedy) from None

    def _add(self, span: Span) -> None:
        self._n_spans += 1
        once = self.content.once
        span.trace, span.name = once(span.trace), once(span.name)
        span.parent = None if span.parent is None else once(span.parent)
        span.error = _NO_REASON if span.error == "" else span.error
        self._names[span.name] += 1
        self._last = span.trace
        self._spans.setdefault(span.trace, []).append(span)

    def _check(self) -> None:
        wanted = self.input.span
        self.input.reads_spans = True
        if not self._spans:
            remedy = "Export the traces again." if self._cut else "Give a file with spans in it."
            raise self.input.error("no spans", remedy=remedy)
        if wanted is not None and wanted not in self._names:
            some = ", ".join(f"{quoted(name)} ({count:,})" for name, count in self._names.most_common(_MOST_NAMES))
            more = f" and {len(self._names) - _MOST_NAMES:,} more" if len(self._names) > _MOST_NAMES else ""
            raise UsageError(
                f"--map span={wanted}: {self.input.name} has no span of that name.{did_you_mean(wanted, self._names)} "
                f"Its spans are {some}{more}."
            )

    def _run(self) -> tuple[list[Run], list[str]]:
        builder, asked = RunBuilder(), dict[str, str]()
        waiting: dict[str, tuple[str, TraceRow]] = {}  # rows without hits, unless the question is asked again
        n_traces = len(self._spans)
        begins = {id_: min(span.start or float("inf") for span in spans) for id_, spans in self._spans.items()}
        for id_ in sorted(begins, key=begins.__getitem__):
            trace = Trace(id_, self._spans.pop(id_))
            row = trace.row()
            if row.hits is None and row.failed is None and trace.root.documents is not None:
                row = replace(row, hits=self.content.hits(trace.root.documents))
            if self._cut is not None and id_ == self._last and row.hits is None and row.failed is None:
                row = replace(row, failed=_CUT_OFF)
            self._count(trace, row)
            if row.question is None or (row.hits is None and row.answer is None and row.failed is None):
                continue
            words = normalise(row.question, "words")
            if asked.setdefault(words, id_) != id_:
                self._repeats.add(quoted(row.question))
            if row.failed is None and row.hits is not None:
                if waiting.pop(words, None) is not None or asked[words] == id_:
                    self._place(builder, id_, row)
            elif asked[words] == id_ or (row.failed is None and words in waiting and waiting[words][1].failed):
                waiting[words] = (id_, row)
        alone = not builder.listed and self.input.span is None  # no documents anywhere: answers are what there is
        for id_, row in waiting.values():
            is_answer = alone and row.failed == UNREAD and row.answer is not None and row.answer.text
            self._place(builder, id_, replace(row, hits=None, failed=None, steps=()) if is_answer else row)
        if not asked:
            raise self.input.error(
                f"none of {plural(n_traces, 'trace')} makes a row: {'; '.join(self._notes())}",
                remedy="If the retriever's spans are called otherwise, say --map span=NAME.",
            )
        if any(len(steps) > 1 for steps in self._steps.values()):  # else every question has one, and steps say nothing
            builder.steps = {id_: [step.row() for step in steps] for id_, steps in self._steps.items()}
        stem = self.input.stem
        total = f"{plural(self._n_spans, 'span')} in {plural(n_traces, 'trace')}"
        notes = [total, *self._notes(), *self.content.pages.notes(), *list_notes([builder])]
        return [builder.run(stem, self.input.name, (stem, "", ""))], notes

    def _place(self, builder: RunBuilder, id_: str, row: TraceRow) -> None:
        assert row.question is not None
        builder.texts[id_] = row.question
        if row.failed is not None:
            builder.failed[id_] = row.failed
            return
        if row.hits is not None:
            builder.add([id_], [len(row.hits)], HitColumns.of(row.hits))
        if row.answer is not None:
            builder.answers[id_] = row.answer
        if row.steps:
            self._steps[id_] = row.steps

    def _count(self, trace: Trace, row: TraceRow) -> None:
        root = trace.root
        retrievals = [span for span in trace.spans.values() if span.retrieves]
        met = {
            "question": row.question is None,
            "retrieval": row.question is not None and row.hits is None and row.failed is None,
            "documents": bool(retrievals) and row.hits == [] and row.failed is None,
            "unread": row.failed == UNREAD,
            "returned": row.hits is not None and not row.steps,
            "steps": len(row.steps) > 1,
            "root": not trace.has_root,
            "end": root.end is None,
            "answer": row.failed is None and root.error is not None,
            "mended": root.error is None and row.failed is None and any(span.error is not None for span in retrievals),
        }
        for name, is_met in met.items():
            if is_met:
                self._of[name].add(trace.id)
        for name, count in (("parents", len(trace.orphans)), ("twice", trace.repeated)):
            if count:
                self._of[name].add(trace.id, count)

    def _notes(self) -> list[str]:
        notes = [note for name, (noun, what) in _NOTES.items() for note in self._of[name].note(noun, what)]
        notes += self._repeats.note(
            "trace", "of a question that was asked before: the first of each that can be read counts"
        )
        others = {
            f"the file ends in the middle of line {self._cut}: what stands there is not read": self._cut,
            f"{plural(self._empty, 'record')} without any span": self._empty,
            f"the output of {plural(self.content.unread_outputs, 'retriever span')} holds no list of documents": (
                self.content.unread_outputs
            ),
            f"{plural(self.content.null_documents, 'document')} null: the rank stays, what stood there is not known": (
                self.content.null_documents
            ),
            f"documents are missing from {plural(self.content.gaps, 'list')}: their ranks may be too good": (
                self.content.gaps
            ),
            f"{plural(self.content.odd_numbers, 'document')} under an index that is no number of up to 9 digits: left "
            "out": self.content.odd_numbers,
            f"{plural(self.content.cut_spans, 'span')} lost attributes before the export: documents may be missing": (
                self.content.cut_spans
            ),
            f"{plural(self.content.odd_documents, 'document')} with a score or a page that cannot be read: left aside "
            "there": self.content.odd_documents,
        }
        return [*notes, *(note for note, count in others.items() if count)]


_NOTES = {
    "question": ("trace", "without a question: left out"),
    "retrieval": ("trace", "without retrieval"),
    "documents": ("trace", "with a retriever and no documents: nothing was retrieved there"),
    "unread": ("trace", "with a retriever whose documents cannot be read"),
    "returned": ("trace", "without a retriever: the documents that its root returned are its hits"),
    "steps": ("trace", "with several retrievals: steps, and their hits together, in order of first appearance"),
    "answer": ("trace", "failed after retrieval: the answer failed, the hits count"),
    "mended": ("trace", "with a retrieval that failed, and no failure in the end"),
    "root": ("trace", "without a root: cut off, or begun by another service"),
    "end": ("trace", "without an end"),
    "parents": ("span", "whose parent is not in the file"),
    "twice": ("span", "twice: counted once"),
}
"""What is said of traces and spans that lack something."""
