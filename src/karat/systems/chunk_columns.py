"""Chunk columns: what runs say of their hits, by row of the chunks, shared by all runs over the same chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.run import HitColumn, Run

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.ranked import Ranked
    from karat.match import Pages


class ChunkColumns:
    """The fields of some chunks. `pages` says whether pages go by physical number or as printed."""

    def __init__(self, chunks: Chunks, pages: Pages) -> None:
        self.chunks, self.pages = chunks, pages

    @cached_property
    def by_row(self) -> dict[str, Sequence[Any]]:
        """Of each field its value for each row, None where there is none; texts and tokens are read when asked for."""
        pages = self.chunks.column("pages" if self.pages == "physical" else "labels")
        named = {value: tuple(map(str, value)) or None for value in set(pages)}
        return {
            "doc": self.chunks.column("doc"),
            "page": [named[value] for value in pages],
            "url": self.chunks.column("url"),
            "text": self.chunks.texts,
            "span": self.chunks.column("span"),
            "tokens": _Tokens(self.chunks),
        }

    def run(
        self, name: str, question_ids: Sequence[str], ranked: Ranked, failed: Mapping[int, str] | None = None
    ) -> Run:
        """A ranking of the chunks as a run; `failed` are questions by number that have none."""
        failed = failed or {}
        done = [i for i in range(len(question_ids)) if i not in failed]
        ranked = ranked.take(np.array(done, np.int64)) if failed else ranked
        fields = {field: HitColumn(column, ranked.rows) for field, column in self.by_row.items()}
        return Run(
            name,
            question_ids=[question_ids[i] for i in done],
            offsets=ranked.offsets,
            _docs=HitColumn(self.chunks.ids, ranked.rows),
            _scores=ranked.scores,
            fields={field: column for field, column in fields.items() if any(v is not None for v in column)},
            failed={question_ids[i]: reason for i, reason in failed.items()},
            unique=True,
            complete=True,
        )


class _Tokens(Sequence[int | None]):
    """How many tokens each chunk has, as it says; each is read once."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._read: dict[int, int | None] = {}

    def __getitem__(self, row: Any) -> Any:
        if row not in self._read:
            self._read[row] = self._chunks[row].tokens
        return self._read[row]

    def __len__(self) -> int:
        return len(self._chunks)


def check_pages(pages: str) -> Pages:
    """A way of counting pages, checked."""
    if pages not in ("physical", "printed"):
        raise UsageError(f"--pages {pages}: write physical (counted from 1) or printed (as on the page).")
    return "physical" if pages == "physical" else "printed"
