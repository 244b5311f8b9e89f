"""Excluded documents: hits that do not count for a question, taken out before ranks are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.core.text.words import plural
from karat.match.matchers.doc import document_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Chunks
    from karat.core.run import Run
    from karat.core.types import TestSet

    Ints = NDArray[np.int64]


class Exclusions:
    """What the questions of a test set exclude. A hit is excluded by its id or by its document.

    The document is the one that the hit names; else its id less the suffix of a chunk. Gold that is excluded is
    refused.
    """

    def __init__(self, testset: TestSet) -> None:
        questions = () if testset.is_plain else testset.questions
        self._names = {number: frozenset(q.excluded) for number, q in enumerate(questions) if q.excluded}
        self._ids = {questions[number].id: names for number, names in self._names.items()}
        self._known: tuple[Chunks, dict[int, Ints]] | None = None
        for number in self._names:
            if (name := questions[number].excluded_gold) is not None:
                raise UsageError(
                    f"{testset.name}: question {questions[number].id!r} excludes {name!r}, which is its gold. Take it "
                    "out of one of the two."
                )

    def __bool__(self) -> bool:
        return bool(self._names)

    def without(self, run: Run) -> tuple[Run, int]:
        """The run less its excluded hits, and how many they are."""
        if not self or self._ids.keys().isdisjoint(run.question_ids):
            return run, 0
        ids, docs = run.doc_list, run.fields.get("doc")
        keep = np.ones(len(run), bool)
        for place, question in enumerate(run.question_ids):
            if question not in self._ids:
                continue
            for hit in range(run.offsets[place], run.offsets[place + 1]):
                keep[hit] = self._ids[question].isdisjoint(_names_of(ids[hit], docs[hit] if docs is not None else None))
        return (run, 0) if keep.all() else (run.with_hits(keep), int((~keep).sum()))

    def without_rows(self, ranked: Ranked, chunks: Chunks) -> Ranked:
        """The rankings of the questions, in their order, less rows that they exclude."""
        rows = self._rows(chunks)
        keep = np.ones(len(ranked.rows), bool)
        for number, excluded in rows.items():
            span = slice(int(ranked.offsets[number]), int(ranked.offsets[number + 1]))
            keep[span] = ~np.isin(ranked.rows[span], excluded)
        sizes = np.bincount(ranked.query[keep], minlength=len(ranked))
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return Ranked(offsets, ranked.rows[keep], ranked.scores[keep])

    def most(self, chunks: Chunks) -> int:
        """How many rows a question excludes at most: so much deeper a search goes to find as many as it would.

        The chunks of a store are known only once it was searched: it is taken to have one for each name.
        """
        return max(map(len, (*self._names.values(), *self._rows(chunks).values())), default=0)

    def note(self, chunks: Chunks) -> str:
        """How many chunks of an index are excluded, in words."""
        rows = self._rows(chunks)
        asked = f"{plural(len(self._names), 'question')} exclude{'s' * (len(self._names) == 1)} documents"
        if not rows:
            return f"{asked}, and no chunk of the index has their id or is of such a document."
        excluded = len(np.unique(np.concatenate(list(rows.values()))))
        return f"{asked}: {plural(excluded, 'chunk')} of the index cannot be found for them."

    def _rows(self, chunks: Chunks) -> dict[int, Ints]:
        """The rows that each question excludes, of questions that exclude any."""
        if self._known is None or self._known[0] is not chunks:
            self._known = (chunks, self._found(chunks.ids, chunks.column("doc")))
        return self._known[1]

    def _found(self, ids: Sequence[str], docs: Sequence[str | None]) -> dict[int, Ints]:
        wanted = frozenset[str]().union(*self._names.values())
        rows_of: dict[str, list[int]] = {}
        for row, (id_, doc) in enumerate(zip(ids, docs, strict=True)):
            for name in wanted.intersection(_names_of(id_, doc)):
                rows_of.setdefault(name, []).append(row)
        excluded = {
            number: np.unique(np.array([row for name in names for row in rows_of.get(name, ())], np.int64))
            for number, names in self._names.items()
        }
        return {number: rows for number, rows in excluded.items() if len(rows)}


def _names_of(id_: str, doc: str | None) -> tuple[str, str]:
    """What a hit can be excluded by: its id and its document."""
    return id_.strip(), document_of(id_) if doc is None else str(doc)
