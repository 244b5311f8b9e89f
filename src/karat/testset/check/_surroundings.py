"""Surroundings: the chunks that drafts are asked about, made ready to be searched. Built once for a generation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from karat.core.asked import AnswerRequest, Context
from karat.core.errors import UsageError
from karat.core.text import sentences
from karat.testset.lexicon import ChunkSentence, one_line
from karat.testset.once import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.answer import Answerer
    from karat.core.docs import Chunks
    from karat.core.models import EmbeddingModel, Models
    from karat.core.types import Answer, Question
    from karat.results.drafts import Draft
    from karat.retrieve.engines.bm25 import BM25Engine
    from karat.retrieve.engines.dense import DenseEngine

DEPTH = 20  # chunks that are looked at by words, and as many by vectors
_TOGETHER = 256


class Surroundings:
    """All chunks, searchable by words and by vectors, and an extractive answerer.

    `before` are questions that exist already, which a draft must not repeat. `index_bm25`, whose terms are stems, and
    `index_dense` are engines of the index; one that it lacks is built here, of vectors by the embedder of `models` or
    karat's own. Everything is worked out when it is first needed and kept.
    """

    def __init__(
        self,
        chunks: Chunks,
        models: Models,
        before: Sequence[Question] = (),
        *,
        index_bm25: BM25Engine | None = None,
        index_dense: DenseEngine | None = None,
    ) -> None:
        if not len(chunks):
            raise UsageError("there are no chunks to ask about. Index documents first.")
        self.chunks, self.models, self.before = chunks, models, tuple(before)
        self._index_bm25, self._index_dense = index_bm25, index_dense
        self._stems: dict[str, frozenset[str]] = {}
        self._near: dict[str, tuple[int, ...]] = {}
        self._asked: dict[str, NDArray[np.float32]] = {}
        self._accepted = EarlierQuestions(self.stems)
        self._noted: list[Draft] = []  # the accepted drafts in it

    @cached_property
    def bm25(self) -> BM25Engine:
        """The chunks by the stems of their words: the index's own engine, or one built here, titles included."""
        from karat.retrieve.engines.bm25 import BM25Engine

        if self._index_bm25 is not None:
            return self._index_bm25
        return BM25Engine.build([self._searched(row) for row in range(len(self.chunks))], {}, lambda *_: None)

    @cached_property
    def _embedder(self) -> EmbeddingModel:
        from karat.models import EmbedderSettings, embedder_named

        return self.models.embedder() if self.models.embedder is not None else embedder_named(EmbedderSettings())

    @cached_property
    def dense(self) -> DenseEngine:
        """The chunks by their vectors: the index's own engine, or one built here."""
        from karat.retrieve.engines.dense import DenseEngine

        return self._index_dense or DenseEngine.made_by(self._embedder, self.chunks.texts)

    @once
    def weight(self, stem: str) -> float:
        """How telling a stem is: the rarer among the chunks, the more (as in BM25)."""
        (held,) = self.bm25.holders_of([stem]).tolist()
        return math.log(1 + (len(self.chunks) - held + 0.5) / (held + 0.5))

    def share(self, wanted: Iterable[str], held: frozenset[str]) -> float:
        """How much of these stems' weight is held; 1 where there are none."""
        whole = known = 0.0
        for stem in sorted(wanted):
            weight = self.weight(stem)
            whole += weight
            known += weight if stem in held else 0.0
        return known / whole if whole else 1.0

    def stems(self, text: str) -> frozenset[str]:
        """The stems of a text's content words and its numbers."""
        if text not in self._stems:
            self._learn([text])
        return self._stems[text]

    def _learn(self, texts: Sequence[str]) -> None:
        """Work out the stems of many texts together."""
        new = list(dict.fromkeys(text for text in texts if text not in self._stems))
        self._stems.update(zip(new, map(frozenset, self.bm25.terms_of_each(new)), strict=True))

    def row_stems(self, row: int) -> frozenset[str]:
        """The stems of a chunk and its title."""
        return self.stems(self._searched(row))

    @once
    def sentences(self, row: int) -> tuple[ChunkSentence, ...]:
        """The sentences of a chunk."""
        texts = sentences(self.chunks[row].text)
        self._learn(texts)
        return tuple(ChunkSentence(text, self.stems(text)) for text in texts)

    @once
    def line(self, row: int) -> str:
        """A chunk on one line."""
        return one_line(self.chunks[row].text)

    def prepare(self, drafts: Sequence[Draft]) -> None:
        """Search and embed what these drafts need, together."""
        new = list(dict.fromkeys(draft.text for draft in drafts if draft.text not in self._near))
        for start in range(0, len(new), _TOGETHER):
            self._search(new[start : start + _TOGETHER])

    def _search(self, questions: Sequence[str]) -> None:
        by_words = self.bm25.search(questions, DEPTH)
        asked = self.dense.embedder.embed(questions, "query")
        self._asked.update(zip(questions, asked, strict=True))
        by_vectors = self.dense.search_vectors(asked, DEPTH)
        for i, question in enumerate(questions):
            rows_of = (ranked.of(i)[0].tolist() for ranked in (by_words, by_vectors))
            self._near[question] = tuple(dict.fromkeys(chain.from_iterable(rows_of)))
        rows = {row for question in questions for row in self._near[question]}
        self._learn([*questions, *map(self._searched, sorted(rows))])

    def near(self, question: str) -> tuple[int, ...]:
        """The rows nearest to a question: by its words, best first, then by its vector."""
        if question not in self._near:
            self._search([question])
        return self._near[question]

    def alike(self, question: str, other: str) -> float:
        """The cosine of two questions."""
        missing = [text for text in dict.fromkeys((question, other)) if text not in self._asked]
        if missing:
            self._asked.update(zip(missing, self.dense.embedder.embed(missing, "query"), strict=True))
        return round(float(self._asked[question] @ self._asked[other]), 5)

    def nearness(self, question: str, row: int) -> float:
        """The cosine of a question and a chunk."""
        self.near(question)
        (vector,) = self.dense.vectors_of(np.array([row]))
        return round(float(self._asked[question] @ vector), 5) if len(vector) else 0.0

    @once
    def usual(self, question: str) -> float:
        """The median cosine of a question with all chunks."""
        self.near(question)
        return self.dense.median_cosine(self._asked[question])

    @cached_property
    def existing(self) -> EarlierQuestions:
        """The questions that existed before, to be looked up."""
        earlier = EarlierQuestions(self.stems)
        for question in self.before:
            earlier.add(question.text)
        return earlier

    def accepted(self, drafts: Sequence[Draft]) -> EarlierQuestions:
        """The accepted drafts, to be looked up: noted as their list grows, anew where another list is given."""
        if self._noted != list(drafts[: len(self._noted)]):
            self._accepted, self._noted = EarlierQuestions(self.stems), []
        for draft in drafts[len(self._noted) :]:
            self._accepted.add(draft.text, {fragment.row for fragment in draft.fragments})
            self._noted.append(draft)
        return self._accepted

    @cached_property
    def _extractive(self) -> Answerer:
        from karat.answer import AnswererSettings, answerer_named

        return answerer_named(AnswererSettings("extractive", contexts=2 * DEPTH), self.models)

    def reply(self, question: str, rows: Sequence[int]) -> Answer:
        """What the extractive answerer says to a question from these chunks alone."""
        contexts = tuple(
            Context(self.chunks[row].id, self.chunks[row].text, self.chunks[row].title or "") for row in rows
        )
        answers: list[Answer] = []
        self._extractive.answer([AnswerRequest("draft", question, contexts)], lambda _, answer: answers.append(answer))
        return answers[0]

    def _searched(self, row: int) -> str:
        chunk = self.chunks[row]
        return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


class EarlierQuestions:
    """Texts in the order in which they were asked, by their stems and by the rows they are about."""

    def __init__(self, stems: Callable[[str], frozenset[str]]) -> None:
        self._stems = stems
        self._count = 0
        self._bare: list[int] = []
        self._by_stem: dict[str, list[int]] = {}
        self._by_row: dict[int, list[int]] = {}

    def add(self, text: str, rows: Collection[int] = ()) -> None:
        """Note one more text."""
        stems = self._stems(text)
        if not stems:
            self._bare.append(self._count)
        for stem in stems:
            self._by_stem.setdefault(stem, []).append(self._count)
        for row in rows:
            self._by_row.setdefault(row, []).append(self._count)
        self._count += 1

    def candidates(self, text: str, share: float, rows: Collection[int] = ()) -> list[int]:
        """The places of texts that can have this share of all stems in common with it, or are about one of the rows.

        Who shares so many misses few of its stems: of the rarest, one more than may be missed, it has at least one.
        """
        stems = self._stems(text)
        by_rarity = sorted((self._by_stem.get(stem, ()) for stem in stems), key=len)
        places = set(() if stems else self._bare)
        places.update(*by_rarity[: len(stems) - math.ceil(share * len(stems)) + 1])
        places.update(*(self._by_row.get(row, ()) for row in rows))
        return sorted(places)
