"""Content of spans: the question, the answer, the documents and the counts that their attributes hold.

Read are OpenInference's attributes, and `gen_ai.*` of OpenTelemetry's semantic conventions as of SEMCONV with the names
that earlier versions had; MLflow's own attributes mean the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

from karat.core.text.wellformed import well_formed
from karat.files._entries import are_hits, entry_fields
from karat.files._span_texts import answer_in, parsed, question_in
from karat.files._spans import ASKING, Hit, Span, hit_keys
from karat.io import cells
from karat.io.cells import CellError, known_number
from karat.io.fields import HIT, NESTED, RESULTS, field_name
from karat.io.pages import PageReader
from karat.io.shapes import hit_of, record_of

SEMCONV = "1.41.0"
"""The version of OpenTelemetry's semantic conventions whose `gen_ai.*` attributes are read."""

READ = ("openinference.", "input.", "output.", "retrieval.", "reranker.", "llm.", "gen_ai.", "mlflow.", "http.", "url.",
        "exception.", "error.")  # fmt: skip
"""How the names of attributes begin that are looked at; embeddings and all others are dropped unread."""

LONGEST_QUESTION = 20_000  # characters: what is longer is a prompt with documents in it
_LONGEST_INDEX = 9  # digits
_DEEPEST = 20
_KINDS = {
    **dict.fromkeys(("retriever", "retrieval"), "retriever"),
    **dict.fromkeys(("reranker", "rerank"), "reranker"),
    **dict.fromkeys(
        ("llm", "chat_model", "chat", "generation", "text_completion", "generate_content", "completion"), "llm"
    ),
    **dict.fromkeys(("chain", "workflow", "invoke_workflow", "task"), "chain"),
    **dict.fromkeys(("agent", "invoke_agent", "create_agent"), "agent"),
    **dict.fromkeys(("tool", "execute_tool"), "tool"),
    **dict.fromkeys(
        ("embedding", "embeddings", "prompt", "parser", "guardrail", "evaluator", "event", "memory"), "other"
    ),
}
"""What the vendors call kinds of spans, in lower case."""

_KIND = ("openinference.span.kind", "gen_ai.operation.name", "mlflow.spanType")
_HTTP = ("http.request.method", "http.method", "http.route", "url.path")
_QUERY = ("gen_ai.retrieval.query.text", "reranker.query", "input.value", "mlflow.spanInputs")
_PROMPTS = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "input.value", "mlflow.spanInputs")
_OUTPUTS = ("output.value", "mlflow.spanOutputs", "gen_ai.output.messages", "gen_ai.tool.call.result")
_REPLIES = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion", "output.value", "mlflow.spanOutputs")
_RERANKED = "reranker.output_documents"
_DOCUMENTS = (_RERANKED, "retrieval.documents", "gen_ai.retrieval.documents")
_GIVEN = "reranker.input_documents"
_NUMBERED = tuple(
    f"{name}."
    for name in (*_DOCUMENTS, _GIVEN, "llm.input_messages", "llm.output_messages", "gen_ai.prompt", "gen_ai.completion")
)
_MODEL = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model", "mlflow.llm.model")
_USAGE = (
    ("llm.token_count.total", "gen_ai.usage.total_tokens"),
    ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    ("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
)
_EVENTS = {
    "gen_ai.user.message": "gen_ai.prompt",
    "gen_ai.choice": "gen_ai.completion",
    "gen_ai.content.prompt": "gen_ai.prompt",
    "gen_ai.content.completion": "gen_ai.completion",
}
"""Events of versions before 1.37, and the attribute that their content stands for."""

_LISTS = (*RESULTS["retrieved"], "documents", "docs", "results", "nodes", "context", "output", "outputs", "data")
_NAMES = frozenset(name for names in HIT.values() for name in names)
_NO_UNIT = {"id": "N/A"}  # keeps the rank of a document that names nothing


def kind_of(name: object) -> str:
    """A kind of span by what its vendor calls it; "" where that is not known."""
    return _KINDS.get(str(name).lower(), "") if isinstance(name, str) else ""


def seconds_since_1970(value: object) -> float | None:
    """A time as vendors write it: ISO 8601, or a number of seconds, milli-, micro- or nanoseconds; None for others."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, str) and not value.strip().isdecimal():
        with suppress(ValueError, OverflowError):
            return seconds_since_1970(datetime.fromisoformat(value.strip()))
        return None
    if isinstance(value, bool | date) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number) or number <= 0:
        return None
    unit = next((unit for least, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)) if number >= least), 1.0)
    return number / unit


def flat(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes under their dotted names, whatever is nested in objects; lists stay lists."""
    named: dict[str, Any] = {}
    stack: list[tuple[str, Any, int]] = [("", attributes, 0)]
    while stack:
        path, value, depth = stack.pop()
        if isinstance(value, dict) and depth < _DEEPEST:
            stack += [(f"{path}.{key}" if path else str(key), part, depth + 1) for key, part in value.items()]
        elif path.startswith(READ):
            named[path] = value
    return named


def collected(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], int, int]:
    """The attributes that are looked at, with entries under `name.0.`, `name.1.` ... as a list under their name.

    With how many lists of documents have gaps among their numbers, and how many documents a number that is none.
    """
    named: dict[str, Any] = {}
    entries: dict[str, dict[int, dict[str, Any]]] = {}
    odd: set[tuple[str, str]] = set()
    for key, value in attributes.items():
        if key.startswith(_NUMBERED):
            start = next(start for start in _NUMBERED if key.startswith(start))
            number, _, rest = key[len(start) :].partition(".")
            if number.isdecimal() and len(number) <= _LONGEST_INDEX:
                entries.setdefault(start[:-1], {}).setdefault(int(number), {})[rest] = value
            elif start[:-1] in _DOCUMENTS:
                odd.add((start, number))
        elif key.startswith(READ):
            named[key] = value
    for name, by_number in entries.items():
        named.setdefault(name, [by_number[number] for number in sorted(by_number)])
    gaps = sum(max(entries[name]) >= len(entries[name]) for name in _DOCUMENTS if name in entries)
    return named, gaps, len(odd)


def _listed(attributes: Mapping[str, Any], name: str) -> list[Any] | None:
    """The list under a name; None where there is none."""
    value = parsed(attributes.get(name))
    if isinstance(value, dict):
        value = value.get("documents")
    return list(value) if isinstance(value, list | tuple) else None


class ContentReader:
    """Reads the content of spans; keeps each text once, and counts what cannot be read.

    `retriever` is the name of the spans that retrieve, where the user says so: no others do then.
    """

    def __init__(self, retriever: str | None = None) -> None:
        self.retriever = retriever
        self.pages = PageReader()
        self.odd_documents = self.null_documents = self.unread_outputs = 0
        self.gaps = self.odd_numbers = self.cut_spans = 0
        self._texts: dict[str, str] = {}

    def by_attributes(self, span: Span, attributes: Mapping[str, Any], events: Iterable[Any] = ()) -> Span:
        """A span with what its attributes (under dotted names) and events hold; its error may be "" so far."""
        named, gaps, odd = collected(attributes)
        self.gaps += gaps
        self.odd_numbers += odd
        for name, parts in _event_contents(events):
            if name == "exception":
                span.error = _reason(parts) if span.error == "" else span.error
            else:
                for key, value in parts.items():
                    named.setdefault(key, value)
        kind = next((kind for name in _KIND if (kind := kind_of(parsed(named.get(name))))), "")
        lists = ((name, listed) for name in _DOCUMENTS if (listed := _listed(named, name)) is not None)
        source, documents = next(lists, ("", None))
        if documents is not None and kind not in ("retriever", "reranker"):
            kind = "reranker" if source == _RERANKED else "retriever"
        span.kind = kind or span.kind or ("http" if any(name in named for name in _HTTP) else "")
        llm = span.kind == "llm"
        asked = map(named.get, _PROMPTS if llm else (*_QUERY, *_PROMPTS))
        replies = map(named.get, _REPLIES if llm else _OUTPUTS)
        self.fill(span, asked, replies, documents)
        if (given := _listed(named, _GIVEN)) is not None:
            span.given = hit_keys(self.hits(given))
        total, read, written = (_first(named, names) for names in _USAGE)
        span.tokens = self.tokens(total, read, written, named.get("mlflow.chat.tokenUsage"))
        span.cost = known_number(named.get("llm.cost.total"))
        model = parsed(_first(named, _MODEL))
        span.model = self.once(model) if isinstance(model, str) else None
        return span

    def fill(
        self, span: Span, inputs: Iterable[Any], outputs: Iterable[Any], documents: Sequence[Any] | None = None
    ) -> None:
        """Question, answer and hits of a span of a known kind, from the first input and output that hold any."""
        if self.retriever is not None:
            span.kind = "retriever" if span.name == self.retriever else "other" if span.retrieves else span.kind
        outputs = [value for value in outputs if not cells.is_missing(value)]
        if span.retrieves:
            span.question = self._question(inputs)
            if documents is None:
                documents = next((listed for value in outputs if (listed := self._documents(value)) is not None), None)
                self.unread_outputs += documents is None and bool(outputs)
            documents = None if _is_null(documents) else documents
            span.hits = None if documents is None else self.hits(documents)
        elif span.kind not in ("tool", "other", "http"):
            span.question = self._question(inputs)
            answer = next((text for value in outputs if (text := answer_in(value)) is not None), None)
            span.answer = None if answer is None else self.once(answer)
            if span.parent is None and span.kind in ASKING and self.retriever is None:
                span.documents = next(filter(are_hits, map(self._documents, outputs)), None)

    def _question(self, inputs: Iterable[Any]) -> str | None:
        texts = (question_in(value) for value in inputs if value is not None)
        question = next((text for text in texts if text is not None), None)
        return None if question is None or len(question) > LONGEST_QUESTION else self.once(question)

    def once(self, text: str) -> str:
        """The same text, held once: chunks are retrieved again and again, and spans repeat those around them."""
        return self._texts.setdefault(text, text)

    def _documents(self, value: Any, depth: int = 0) -> list[Any] | None:
        """The documents in an output: a list of them, or what holds one."""
        value = parsed(value)
        if isinstance(value, dict):
            if isinstance(hits := (record_of(value) or {}).get("retrieved"), list):
                return hits
            fields = {field_name(str(name)): part for name, part in value.items()}
            nested = (
                self._documents(fields[name], depth + 1) for name in _LISTS if name in fields and depth < _DEEPEST
            )
            return next((documents for documents in nested if documents is not None), None)
        if not isinstance(value, list | tuple) or _is_null(value):
            return None
        return (
            list(value) if all(item is None or isinstance(item, str | dict | list | tuple) for item in value) else None
        )

    def hits(self, documents: Iterable[Any]) -> list[Hit]:
        """Documents as hits; one that names nothing keeps its rank."""
        return [self._hit(document) for document in documents]

    def _hit(self, document: Any) -> Hit:
        if document is None:
            self.null_documents += 1
            return dict(_NO_UNIT)
        entry = _entry(parsed(document))
        score = known_number(entry.get("score"))
        if score is None:
            self.odd_documents += not cells.is_missing(entry.pop("score", None))
        else:
            entry["score"] = score
        try:
            hit = entry_fields(entry, self.pages)
        except CellError:
            texts = (entry[name] for name in HIT["text"] if isinstance(entry.get(name), str))
            names = (str(entry[name]) for name in HIT["id"] if name in entry)
            plain = {"id": next(names, None), "text": next(texts, None), "score": score}
            hit = {name: value for name, value in plain.items() if value is not None}
            hit = hit if {"id", "text"} & hit.keys() else hit | _NO_UNIT
            self.odd_documents += 1
        if isinstance(text := hit.get("text"), str):
            hit["text"] = self.once(text)
        return hit

    def tokens(self, total: Any, read: Any, written: Any, usage: Any = None) -> int | None:
        """Tokens read and written: as given in all, in two parts, or in an object of such counts."""
        counts = {"total": known_number(total), "input": known_number(read), "output": known_number(written)}
        known: dict[str, Any] = {name: value for name, value in counts.items() if value is not None}
        usage = parsed(usage)
        if not known and isinstance(usage, dict):
            known = {name: number for name, value in usage.items() if (number := known_number(value)) is not None}
        count = cells.total_of(known)
        return int(count) if count is not None and 0 <= count < cells.GRADE_LIMIT else None


def _is_null(documents: Sequence[Any] | None) -> bool:
    """Whether a list holds nothing but null; an empty one does not."""
    return bool(documents) and all(document is None for document in documents or ())


def _entry(document: Any) -> dict[str, Any]:
    """A document as fields of a hit, with its metadata beside; those of other names are left out."""
    if isinstance(document, list | tuple) and len(document) == 2 and isinstance(document[1], int | float):
        return {**_entry(document[0]), "score": document[1]}
    if isinstance(document, str):
        return {"text": well_formed(document)}
    if not isinstance(document, dict):
        return {}
    inner = document.get("document")
    named = {field_name(str(name)).removeprefix("document."): value for name, value in document.items()}
    named |= inner if isinstance(inner, dict) else {}
    named |= {name: parsed(named[name]) for name in NESTED if name in named}
    entry, metadata = dict[str, Any](), dict[str, Any]()
    for name, value in (hit_of(named) or named).items():
        if name in NESTED and isinstance(value, dict):
            metadata |= _known({field_name(str(key)): part for key, part in value.items()})
        elif name.startswith("metadata."):
            metadata |= _known({name.removeprefix("metadata."): value})
        else:
            entry |= _known({name: value})
    return entry | ({"metadata": metadata} if metadata else {})


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a hit that hold one value."""
    return {name: value for name, value in fields.items() if name in _NAMES and isinstance(value, str | int | float)}


def _first(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def _event_contents(events: Iterable[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Events by name with what they hold, those with content as the attributes that it stands for."""
    for event in events:
        if not isinstance(event, dict):
            continue
        name, parts = event.get("name"), event.get("attributes")
        if not isinstance(parts, dict) or not isinstance(name, str):
            continue
        if name == "exception":
            yield name, dict(parts)
        elif name in _EVENTS:
            texts = (parts.get(key) for key in ("content", "message", "body", _EVENTS[name]))
            yield name, {_EVENTS[name]: next((text for text in texts if text is not None), None)}
        elif name.startswith("gen_ai."):
            yield name, {key: value for key, value in parts.items() if key.startswith("gen_ai.")}


def _reason(exception: Mapping[str, Any]) -> str:
    parts = [exception.get(name) for name in ("exception.type", "exception.message")]
    return ": ".join(part for part in parts if isinstance(part, str) and part)
