"""Found: the hits of one search, as a person reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import texts
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core.docs import Chunk

_SNIPPET = 240


def show(hits: Sequence[tuple[float, Chunk]], notes: Sequence[str], stream: TextIO, *, full: bool = False) -> None:
    """Write hits to a stream, best first; `full` shows their whole texts."""
    put(lambda width: _blocks(hits, notes, full), stream)


def render(hits: Sequence[tuple[float, Chunk]], notes: Sequence[str] = (), *, full: bool = False) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(hits, notes, full))


def as_json(about: Mapping[str, Any], hits: Sequence[tuple[float, Chunk]]) -> str:
    """One JSON object: how it was searched, and the hits with all that is known of them."""
    rows = [{"rank": rank, "score": score, **plain(chunk)} for rank, (score, chunk) in enumerate(hits, 1)]
    return json.dumps({**about, "hits": rows}, ensure_ascii=False, indent=2)


def plain(chunk: Chunk) -> dict[str, Any]:
    """A chunk as JSON values, without what is not known."""
    values = {
        "id": chunk.id, "doc": chunk.doc, "title": chunk.title, "url": chunk.url, "pages": list(chunk.pages),
        "labels": list(chunk.labels), "span": chunk.span and list(chunk.span), "tokens": chunk.tokens,
        "text": chunk.text,
    }  # fmt: skip
    return {name: value for name, value in values.items() if value not in (None, [])}


def place_of(chunk: Chunk) -> str:
    """Where a chunk stands, in words: page, printed page where it differs, url."""
    parts = []
    if chunk.pages:
        parts.append(("page " if len(chunk.pages) == 1 else "pages ") + _spread([str(p) for p in chunk.pages]))
        if chunk.labels and list(chunk.labels) != [str(p) for p in chunk.pages]:
            parts.append("printed " + _spread(list(chunk.labels)))
    if chunk.url:
        parts.append(clean(chunk.url, 80))
    return ", ".join(parts)


def _spread(values: Sequence[str]) -> str:
    return clean(values[0] if len(values) == 1 else f"{values[0]}-{values[-1]}")


def _blocks(hits: Sequence[tuple[float, Chunk]], notes: Sequence[str], full: bool) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    yield from texts([clean(note) for note in notes])
    if not hits:
        yield Text("Nothing found: no chunk shares a term with the query.")
    for rank, (score, chunk) in enumerate(hits, 1):
        head = Text(f"\n{rank}. {clean(chunk.id, 80)}", style="bold")
        head.append(f"  {score:.4f}  {place_of(chunk)}".rstrip(), style="dim")
        yield head
        if chunk.title:
            yield Padding(Text(clean(chunk.title, 100), style="italic"), (0, 0, 0, 3))
        yield Padding(Text(clean(" ".join(chunk.text.split()), None if full else _SNIPPET)), (0, 0, 0, 3))
