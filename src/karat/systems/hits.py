"""Hits: what one query retrieves from an index or a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from karat.core.errors import KaratError, UsageError
from karat.core.glance import NotebookView, Table
from karat.core.text.words import clean, plural

if TYPE_CHECKING:
    from karat.core.docs import Chunk
    from karat.systems.system import System


@dataclass(frozen=True, repr=False)
class Hits(NotebookView, Sequence[tuple[float, "Chunk"]]):
    """What one query found: score and chunk of each hit, best first; `about` says how it was searched."""

    about: Mapping[str, Any]
    hits: Sequence[tuple[float, Chunk]]

    @overload
    def __getitem__(self, rank: int) -> tuple[float, Chunk]: ...
    @overload
    def __getitem__(self, rank: slice) -> Sequence[tuple[float, Chunk]]: ...
    def __getitem__(self, rank: int | slice) -> tuple[float, Chunk] | Sequence[tuple[float, Chunk]]:
        return self.hits[rank]

    def __len__(self) -> int:
        return len(self.hits)

    def _line(self) -> str:
        query = clean(self.about["query"], 80)
        return f"{query!r}, {self.about['system']}, {plural(len(self), 'hit')}"

    def _table(self) -> Table:
        from karat.report.build.explanation import place_of

        rows = ((rank, score, c.id, place_of(c), c.text) for rank, (score, c) in enumerate(self.hits, 1))
        return ("rank", "score", "chunk", "place", "text"), rows


def search_one(system: System, query: str, k: int) -> Hits:
    """What a query finds, best first, and how it was searched in plain values."""
    if not query.strip():
        raise UsageError("the query is empty. Write what to search for.")
    retrieved = system.search([query], k)
    if retrieved.failed:
        raise KaratError(retrieved.failed[0])
    (rewritten,) = retrieved.rewritten
    notes = list(retrieved.notes)
    if system.settings.rewrite and not rewritten.changes:
        notes.append("--rewrite changed nothing in the query.")
    about = {
        "query": query,
        "system": system.settings.name,
        "k": k,
        "queries": list(rewritten.queries),
        "changes": [str(change) for change in rewritten.changes],
        "notes": notes,
    }
    return Hits(about, retrieved.hits(0))
