"""What the stores of other tools have in common: their records as chunks, and scores where higher is better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.docs import Chunk, Chunks
from karat.core.errors import KaratError
from karat.core.ranked import Ranked
from karat.models import EmbedderSettings, embedder_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_IDS = ("id", "_id", "chunk_id", "ids")
_TEXTS = ("text", "content", "page_content", "document", "contents")
_DOCS = ("doc", "doc_id", "document_id", "source", "file_path", "file_name", "filename", "file")
_URLS = ("url", "source_url", "link", "uri")
_TITLES = ("title",)
_PAGES = ("page_number", "page", "page_label")


def first_of(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of some fields that holds text or a number, as text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def id_of(record: Mapping[str, Any]) -> str | None:
    """The id of a record."""
    return first_of(record, _IDS)


def chunk_of(id_: str, record: Mapping[str, Any], text: str | None = None) -> Chunk:
    """A record of a store as a chunk."""
    text = text if text is not None else first_of(record, _TEXTS)
    url = first_of(record, _URLS)
    used = {*_IDS, *_TEXTS, *_DOCS, *_URLS, *_TITLES, *_PAGES}
    page, label = page_of(record)
    return Chunk(
        id_,
        first_of(record, _DOCS) or url or id_,
        text or "",
        title=first_of(record, _TITLES),
        url=url,
        pages=(page,) if page else (),
        labels=(label,) if label else (),
        meta={name: str(value) for name, value in record.items() if name not in used and value is not None},
    )


def page_of(record: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """The page, from 1, and its printed label.

    `page_number` counts from 1 and wins. LangChain's loaders write a number `page` beside `source`: it counts from 0.
    Any other `page` is taken as it stands.

    >>> page_of({"page_number": "34", "page": 33}), page_of({"source": "a.pdf", "page": 33}), page_of({"page": "34"})
    ((34, None), (34, None), (34, None))
    """
    label = first_of(record, ("page_label",))
    number = _whole(record.get("page_number"))
    if number is None:
        page = record.get("page")
        number = _whole(page)
        if number is not None and counts_from_0(record):
            number += 1
    return (number if number and number > 0 else None), label


def counts_from_0(record: Mapping[str, Any]) -> bool:
    """Whether a record's page is LangChain's, which counts from 0."""
    page = record.get("page")
    numeric = isinstance(page, (int, float)) and not isinstance(page, bool)
    return record.get("page_number") is None and numeric and "source" in record


def pages_note(records: Iterable[Mapping[str, Any] | None]) -> tuple[str, ...]:
    """Says that pages were counted from 1, where any record counts them from 0."""
    if any(counts_from_0(record) for record in records if record):
        return ("page numbers beside `source` count from 0, as LangChain writes them: 1 was added.",)
    return ()


def _whole(value: Any) -> int | None:
    try:
        number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None
        return int(number) if number is not None and number == int(number) else None
    except (ValueError, OverflowError):
        return None


def asked_of(embedder: Embedder | None) -> Embedder:
    """The embedder, or the default one."""
    return embedder or embedder_named(EmbedderSettings())


def check_size(embedder: Embedder, asked: NDArray[np.float32], dimension: int | None, place: str) -> None:
    """Refuse queries of another size than a store's vectors."""
    if asked.any() and dimension is not None and asked.shape[1] != dimension:
        raise KaratError(
            f"{place} holds vectors of {dimension} numbers, the embedder {embedder.settings.label} makes vectors of "
            f"{asked.shape[1]}. Name the embedder that made the store with --embedder."
        )


def from_l2(squared: NDArray[Any]) -> NDArray[Any]:
    """Squared distances as scores: the cosine where both vectors have length 1, and higher is nearer in any case.

    >>> from_l2(np.array([0.0, 2.0, 4.0])).tolist()
    [1.0, 0.0, -1.0]
    """
    return 1.0 - squared / 2.0


def lengths_note(vectors: NDArray[Any], scores: str) -> tuple[bool, str | None]:
    """Whether vectors of a sample have length 1, and what to say where they do not.

    Zeros, which models make of blank texts, have not: by L2 they would stand at .5, above most passages.
    """
    lengths = np.linalg.norm(np.asarray(vectors, np.float64), axis=1)
    if np.allclose(lengths, 1.0, atol=1e-3):
        return True, None
    return False, (
        f"the vectors of this store are not of length 1 (from {lengths.min():.4g} to {lengths.max():.4g}): "
        f"scores are {scores}, not cosines. Higher is still better."
    )


def collected(
    queries: int, query: Sequence[int], ids: Sequence[str], scores: Sequence[float], make: Callable[[str], Chunk]
) -> tuple[Chunks, Ranked]:
    """The chunks that a search found, in the order of rows, and the hits that refer to them."""
    chunks = Chunks.ordered([make(id_) for id_ in dict.fromkeys(ids)])
    rows = np.fromiter((chunks.row_of[id_] for id_ in ids), np.int64, len(ids))
    found = np.asarray(scores, np.float64)
    kept = np.isfinite(found)
    return chunks, Ranked.ordered(queries, np.asarray(query, np.int64)[kept], rows[kept], found[kept])
