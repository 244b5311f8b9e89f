"""Shapes: in what form frameworks and stores return hits and answers, ONE table. What names mean stands in `fields`.

A value is an object of a framework or its JSON dump. Both are told by the names they have, so that no framework is
imported. Of objects only the parts named here are read: never vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

from karat.io.field_reader import MOST_SHAPES
from karat.io.fields import HIT, RESULTS, RETRIEVED_FIELDS, field_name


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """One form: the names by which it is told, and where its parts lie.

    `parts` leads from a name that `fields` knows to places inside the value, `node.metadata`; the first that is filled
    counts. What is called `metadata.name` joins the metadata. With `rest` all that is not named is metadata. A dump
    that is `native` says everything in names of `fields` already, and stays as it is.
    """

    name: str
    has: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]
    rest: bool = False
    native: bool = False

    def read(self, value: Any) -> dict[str, Any]:
        """The parts of a value."""
        if self.native and isinstance(value, Mapping):
            return dict(value)
        parts = {name: part for name, places in self.parts.items() if (part := _first(value, places)) is not None}
        for name in [name for name in parts if "." in name]:
            metadata, _, inner = name.partition(".")
            parts[metadata] = {**(parts.get(metadata) or {}), inner: parts.pop(name)}
        if not isinstance(value, Mapping):
            return parts
        if self.rest:
            parts["metadata"] = {name: part for name, part in value.items() if name not in self.has}
        known = _known()
        return {name: part for name, part in value.items() if field_name(str(name)) in known} | parts


HITS = (
    Shape(
        name="LangChain document",
        has=("page_content",),
        parts={"id": ("id",), "page_content": ("page_content",), "metadata": ("metadata",), "score": ("score",)},
        native=True,
    ),
    Shape(
        name="LlamaIndex node",
        has=("node", "score"),
        parts={
            "id": ("node.node_id", "node.id_"),
            "text": ("node.text",),
            "metadata": ("node.metadata",),
            "metadata.ref_doc_id": ("node.ref_doc_id", "node.relationships.1.node_id"),
            "start_char_idx": ("node.start_char_idx",),
            "end_char_idx": ("node.end_char_idx",),
            "score": ("score",),
        },
    ),
    Shape(
        name="LlamaIndex node",
        has=("id_", "relationships"),
        parts={
            "id": ("id_",),
            "text": ("text",),
            "metadata": ("metadata",),
            "metadata.ref_doc_id": ("ref_doc_id", "relationships.1.node_id"),
            "start_char_idx": ("start_char_idx",),
            "end_char_idx": ("end_char_idx",),
        },
    ),
    Shape(
        name="Haystack document",
        has=("content", "meta"),
        parts={"id": ("id",), "content": ("content",), "meta": ("meta",), "score": ("score",)},
        native=True,
    ),
    Shape(
        name="Qdrant point",
        has=("id", "payload"),
        parts={"id": ("id",), "metadata": ("payload",), "score": ("score",)},
    ),
    Shape(
        name="Weaviate object",
        has=("uuid", "properties"),
        parts={"id": ("uuid",), "metadata": ("properties",), "score": ("metadata.score", "metadata.certainty")},
    ),
    Shape(
        name="Weaviate object",
        has=("_additional",),
        parts={"id": ("_additional.id",), "score": ("_additional.score", "_additional.certainty")},
        rest=True,
    ),
    Shape(
        name="Elasticsearch hit",
        has=("_id", "_source"),
        parts={"id": ("_id",), "metadata": ("_source",), "score": ("_score",)},
    ),
    Shape(
        name="Pinecone match",
        has=("id", "score", "metadata"),
        parts={"id": ("id",), "metadata": ("metadata",), "score": ("score",)},
        native=True,
    ),
)
"""One hit. The first that fits counts."""

REPLIES = (
    Shape(
        name="LlamaIndex response",
        has=("response", "source_nodes"),
        parts={"answer": ("response",), "retrieved": ("source_nodes",)},
    ),
    Shape(
        name="LangChain message",
        has=("content", "response_metadata"),
        parts={"answer": ("content",), "usage": ("usage_metadata",), "model": ("response_metadata.model_name",)},
    ),
    Shape(
        name="LangChain chain",
        has=("result", "source_documents"),
        parts={"answer": ("result",), "retrieved": ("source_documents",)},
    ),
    Shape(name="LangChain agent", has=("input", "output"), parts={"answer": ("output",), "retrieved": ("context",)}),
    Shape(name="Elasticsearch reply", has=("hits", "_shards"), parts={"retrieved": ("hits.hits",)}),
    Shape(name="Qdrant reply", has=("points",), parts={"retrieved": ("points",)}),
    Shape(name="Qdrant reply", has=("result", "status"), parts={"retrieved": ("result.points", "result")}),
    Shape(name="Pinecone reply", has=("matches",), parts={"retrieved": ("matches",)}),
    Shape(name="Weaviate reply", has=("objects",), parts={"retrieved": ("objects",)}),
)
"""A whole reply to one question. The first that fits counts."""

_SERIALISED = frozenset({"lc", "kwargs"})  # LangChain's own dumps wrap what they hold
_CHROMA = {"ids": "id", "documents": "text", "metadatas": "metadata"}  # columns, each a list for each query


def hit_of(value: Any) -> dict[str, Any] | None:
    """One hit in names of `fields`, its metadata beside; None for what has no known shape."""
    value = _unwrapped(value)
    shape = _shape(HITS, value)
    return None if shape is None else shape.read(value)


def record_of(value: Any) -> dict[str, Any] | None:
    """A reply as a record of results; None for what has no known shape.

    What a dict says in names of `fields` is never replaced by what its shape suggests, and one that says something so
    is told by two names at least.
    """
    value = _unwrapped(value)
    if not isinstance(value, Mapping):
        shape = _shape(REPLIES, value)
        return _fields_of(value) if shape is None else shape.read(value)
    stated = [field for field, names in _SAID.items() if any(_says(value.get(name)) for name in names)]
    for special in () if stated else _SPECIAL:
        if (record := special(value)) is not None:
            return record
    shape = _shape(REPLIES, value)
    if shape is None or (stated and len(shape.has) < 2):
        return None
    record = {name: part for name, part in shape.read(value).items() if name not in stated}
    if not isinstance(record.get("retrieved", []), list):
        del record["retrieved"]
    return record


def _says(value: Any) -> bool:
    """Whether a name that is known is filled; under `hits` Elasticsearch has an object, with the hits inside."""
    return not (value is None or (isinstance(value, Mapping) and isinstance(value.get("hits"), list)))


def answer_names(names: Iterable[str]) -> tuple[str, ...]:
    """What the answer is called in records that list their hits as a framework does: LangChain's "result"."""
    present, lists = set(names), set(RESULTS["retrieved"])
    shapes = (shape for shape in REPLIES if present.issuperset(shape.has) and not lists.isdisjoint(shape.has))
    return next((shape.parts["answer"] for shape in shapes if "answer" in shape.parts), ())


def with_plain_answer(record: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The record; where its answer is a message or the blocks of one, the text of that, its tokens beside."""
    for name in RESULTS["answer"]:
        answer = record.get(name)
        message = None if isinstance(answer, str | list | None) else record_of(answer)
        if message is not None and "answer" in message:
            answer = message["answer"]
            beside = {part: message[part] for part in ("usage", "model") if part in message}
            record = {**beside, **record, name: answer}
        if isinstance(answer, list) and answer and all(isinstance(_first(block, ("type",)), str) for block in answer):
            record = {**record, name: "".join(_first(block, ("text",)) or "" for block in answer)}
    return record


def _shape(table: Sequence[Shape], value: Any) -> Shape | None:
    if isinstance(value, Mapping):
        return _named(tuple(table), tuple(value))
    if isinstance(value, str | bytes | int | float | list | tuple | None):
        return None
    return next((shape for shape in table if all(hasattr(value, name) for name in shape.has)), None)


@lru_cache(maxsize=MOST_SHAPES)
def _named(table: tuple[Shape, ...], names: tuple[Any, ...]) -> Shape | None:
    return next((shape for shape in table if set(shape.has) <= set(names)), None)


def _first(value: Any, places: Iterable[str]) -> Any:
    for place in places:
        part = value
        for name in place.split("."):
            part = part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)
        if part is not None:
            return part
    return None


def _unwrapped(value: Any) -> Any:
    return value["kwargs"] if isinstance(value, Mapping) and value.keys() >= _SERIALISED else value


def _chroma(reply: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Chroma returns columns, each with a list for each query. Distances are no scores: the order of hits counts."""
    ids = reply.get("ids")
    if not isinstance(ids, list) or not ({"distances", "metadatas", "documents"} & reply.keys()):
        return None
    columns = {name: reply[column] for column, name in _CHROMA.items() if reply.get(column) is not None}
    if ids and isinstance(ids[0], list):
        if len(ids) != 1 or not all(isinstance(column, list) and len(column) == 1 for column in columns.values()):
            return None
        columns = {name: column[0] for name, column in columns.items()}
    if not all(isinstance(column, list) and len(column) == len(columns["id"]) for column in columns.values()):
        return None
    return {"retrieved": [dict(zip(columns, hit, strict=True)) for hit in zip(*columns.values(), strict=True)]}


def _graphql(reply: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Weaviate's GraphQL puts the hits under the name of the class."""
    classes = _first(reply, ("data.Get",))
    if not isinstance(classes, Mapping) or len(classes) != 1:
        return None
    return {"retrieved": next(iter(classes.values()))}


def _haystack(reply: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Haystack returns what each component gave: under the component's name, or alone.

    An answer tells its documents itself; else those of the last component that gave any count, since a ranker stands
    behind the retriever whose documents it was given.
    """
    parts = [part for part in (reply, *reply.values()) if isinstance(part, Mapping)]
    record: dict[str, Any] = {}
    for part in parts:
        documents, answers, replies = (part.get(name) for name in ("documents", "answers", "replies"))
        if isinstance(documents, list) and all(_shape(HITS, one) is not None for one in documents):
            record["retrieved"] = documents
        if isinstance(replies, list) and replies:
            record["answer"] = _spoken(replies[0])
            usage = _first(part, ("meta",))
            if isinstance(usage, list) and usage and (tokens := _first(usage[0], ("usage",))):
                record["usage"] = tokens
        if isinstance(answers, list) and answers and (text := _first(answers[0], ("data",))) is not None:
            record["answer"] = text
            record["retrieved"] = _first(answers[0], ("documents",)) or record.get("retrieved", [])
    return record or None


def _messages(reply: Mapping[Any, Any]) -> dict[str, Any] | None:
    """An agent of LangChain returns its messages: the last is its answer, those of tools may keep documents."""
    messages = reply.get("messages")
    if not isinstance(messages, list) or not messages or _first(messages[-1], ("content",)) is None:
        return None
    if _first(messages[-1], ("type", "role")) not in ("ai", "assistant"):
        return None
    record = {"answer": _first(messages[-1], ("content",)), "usage": _first(messages[-1], ("usage_metadata",))}
    artifacts = [_first(message, ("artifact",)) for message in messages]
    documents = [one for some in artifacts if isinstance(some, list) for one in some if _shape(HITS, one) is not None]
    record |= {"retrieved": documents} if documents else {}
    return {name: part for name, part in record.items() if part is not None}


_SPECIAL: Sequence[Callable[[Mapping[Any, Any]], dict[str, Any] | None]] = (_chroma, _graphql, _haystack, _messages)


_SAID = {
    "retrieved": tuple(name for field in RETRIEVED_FIELDS for name in RESULTS[field]),
    "answer": RESULTS["answer"],
}
"""Names by which a record says itself what was retrieved and what was answered."""


def _spoken(reply: Any) -> Any:
    """The text of a generated reply: itself, or that of a chat message."""
    return reply if isinstance(reply, str) else _first(reply, ("text", "content"))


def _fields_of(value: Any) -> dict[str, Any] | None:
    """An object of the user's own by the names of `fields` that it has: a dataclass, a model, a prediction."""
    if isinstance(value, type | str | bytes | int | float | list | tuple | None):
        return None
    if is_dataclass(value):
        names: Iterable[str] = [one.name for one in fields(value)]
    else:
        listed = getattr(type(value), "model_fields", None) or _keys(value)
        names = listed if listed is not None else ()
    known = _known()
    return {name: getattr(value, name) for name in names if name in known and hasattr(value, name)} or None


def _keys(value: Any) -> list[str] | None:
    """The names that an object with `keys` and items has, as DSPy's predictions do."""
    listed = getattr(value, "keys", None)
    try:
        return None if listed is None else [str(name) for name in listed()]
    except TypeError:
        return None


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(name for table in (HIT, RESULTS) for names in table.values() for name in names)
