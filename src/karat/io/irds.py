"""irds: datasets of ir_datasets, from its cache alone: what is not there is never fetched."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.io.dataset_folder import IR_DATASETS
from karat.io.fields import DOCUMENT

_DOCUMENT = {name for field in ("text", "title", "url") for name in DOCUMENT[field]}


class _NotCachedError(BaseException):
    """What ends a download before it begins; no Exception, which the library would note and go on from."""


def queries_of(name: str) -> Iterator[tuple[str, str]]:
    """The id and text of each query of `irds:ID`."""
    for query in _items(name, "queries"):
        yield query.query_id, _text(query)


def qrels_of(name: str) -> Iterator[tuple[str, str, int]]:
    """The query, document and grade of each judgement."""
    for judgement in _items(name, "qrels"):
        yield judgement.query_id, judgement.doc_id, judgement.relevance


def docs_of_id(name: str) -> Iterator[dict[str, Any]]:
    """Each document by names of a corpus; where no field is its text, what the library takes for that."""
    for doc in _items(name, "docs"):
        fields = {field: getattr(doc, field) for field in doc._fields if field in _DOCUMENT}
        texts = [value for field, value in fields.items() if field in DOCUMENT["text"] and isinstance(value, str)]
        yield {"_id": doc.doc_id, **(fields if any(texts) else {**fields, "text": _text(doc)})}


def check_docs(name: str) -> None:
    """Refuse a dataset without documents in the cache."""
    next(docs_of_id(name), None)


def version() -> str:
    """The version of ir_datasets."""
    return str(_library().__version__)


def _text(item: Any) -> str:
    return str(item.default_text() if hasattr(item, "default_text") else item.text)


def _library() -> Any:
    try:
        import ir_datasets
    except ImportError:
        raise UsageError(
            f"{IR_DATASETS} names a dataset of ir_datasets, which is not installed. "
            "Run: pip install 'karat[ir-datasets]'."
        ) from None
    return ir_datasets


def _items(name: str, part: str) -> Iterator[Any]:
    """What a dataset holds of a kind: all that the library does is done without the network."""
    library, id_ = _library(), name.removeprefix(IR_DATASETS)
    with _errors_named(name, part, library):
        try:
            dataset = library.load(id_)
        except KeyError:
            known = [str(one) for one in library.registry]
            beside = [one for one in known if one.startswith(id_.split("/")[0])] or known
            raise InputError(
                "is no dataset of ir_datasets",
                place=name,
                remedy=f"{did_you_mean(id_, beside)} `ir_datasets list` names all.".strip(),
            ) from None
        if not getattr(dataset, f"has_{part}")():
            subsets = [one for one in map(str, library.registry) if one.startswith(f"{id_}/")][:6]
            more = f" Name a part of it: {', '.join(subsets)}." if subsets else ""
            raise InputError(f"has no {part}", place=name, remedy=f"Name a dataset that has.{more}")
        items = iter(getattr(dataset, f"{part}_iter")())
        first = next(items, None)
    yield from chain([] if first is None else [first], _each(items, name, part, library))


def _each(items: Iterator[Any], name: str, part: str, library: Any) -> Iterator[Any]:
    while True:
        with _errors_named(name, part, library):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item


@contextmanager
def _errors_named(name: str, part: str, library: Any) -> Iterator[None]:
    """No download begins; one that would, and what the library says against a file, becomes an InputError."""
    try:
        with _offline(library):
            yield
    except InputError:
        raise
    except _NotCachedError:
        home = library.util.home_path()
        id_ = name.removeprefix(IR_DATASETS)
        raise InputError(
            f"its {part} are not in the cache of ir_datasets ({home}), and karat downloads nothing",
            place=name,
            remedy=f"Fill it: ir_datasets export {id_} {part} > {os.devnull}",
        ) from None
    except MemoryError:
        raise
    except Exception as error:
        what = (str(error).strip().splitlines() or [""])[0][:160].rstrip(".")
        raise InputError(
            f"ir_datasets could not read its {part} ({type(error).__name__}: {what})",
            place=name,
            remedy="Try `ir_datasets export`, which says more.",
        ) from None


@contextmanager
def _offline(library: Any) -> Iterator[None]:
    """Streams of the network closed, and the log silent, until the end; a local file is none of these streams."""
    logger = library.log.easy().logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    kinds = [kind for kind in _below(library.util.BaseDownload) if not issubclass(kind, library.util.LocalDownload)]
    streams: dict[Any, Callable[..., Any]] = {kind: kind.__dict__["stream"] for kind in kinds if "stream" in vars(kind)}

    def refuse(*_: Any) -> Any:
        raise _NotCachedError

    for kind in streams:
        kind.stream = refuse
    try:
        yield
    finally:
        logger.setLevel(level)
        for kind, stream in streams.items():
            kind.stream = stream


def _below(kind: type) -> list[type]:
    kinds: list[type] = kind.__subclasses__()
    return [below for one in kinds for below in (one, *_below(one))]
