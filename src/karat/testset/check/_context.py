"""CheckContext: a test set and the chunks it is asked of, with what several checks need worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.docs import Chunks
from karat.core.text import guess_language, sentences
from karat.match import Pages, resolve
from karat.models.terms import terms
from karat.testset.lexicon import ChunkSentence, Weights, content_of, spoken
from karat.testset.modes import MODES
from karat.testset.once import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Doc, Problem
    from karat.core.judged import Ints
    from karat.core.ranked import Ranked
    from karat.core.run import Run
    from karat.core.types import Gold, Question, TestSet
    from karat.match import Resolution, Unresolved
    from karat.retrieve import Engine
    from karat.retrieve.engines.dense import DenseEngine

    Vectors = NDArray[np.float32]

SEMANTIC = frozenset(kind for kind, mode in MODES.items() if mode == "semantic")
"""Kinds of question that promise other words than the text's."""
DEPTH = 20  # chunks that each engine is asked for


@dataclass(frozen=True)
class CheckContext:
    """What a check sees; `index_chunks` None: there is no index, and there are no chunks.

    `docs` are the documents the chunks were cut from: with them quotes are found where chunks split them, and pages
    that hold no text are known. `problems` are files that could not be read, `runs` results over these chunks.
    `index_bm25` and `index_dense` are engines of the index; one that it lacks is built here.
    """

    testset: TestSet
    index_chunks: Chunks | None = None
    docs: Sequence[Doc] | None = None
    _: KW_ONLY
    problems: Sequence[Problem] = ()
    runs: Sequence[Run] = ()
    by: str = "auto"
    page_offset: int = 0
    pages: Pages = "physical"
    index_bm25: Engine | None = None
    index_dense: DenseEngine | None = None

    @cached_property
    def chunks(self) -> Chunks:
        return Chunks([]) if self.index_chunks is None else self.index_chunks

    @once
    def resolved(self, by: str, pages: Pages | None = None, page_offset: int | None = None) -> Resolution:
        """The gold resolved in another way than asked for."""
        offset = self.page_offset if page_offset is None else page_offset
        return resolve(self.testset, self.chunks, self.docs, by=by, page_offset=offset, pages=pages or self.pages)

    @property
    def resolution(self) -> Resolution:
        return self.resolved(self.by)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return self.testset.questions

    @property
    def has_corpus(self) -> bool:
        return len(self.chunks) > 0

    @cached_property
    def missing_gold(self) -> list[Unresolved]:
        """Relevant gold that no chunk holds."""
        return [u for u in self.resolution.unresolved if u.gold.grade >= 1] if self.index_chunks is not None else []

    @cached_property
    def golds(self) -> list[Gold]:
        """All relevant gold entries."""
        return [gold for question in self.questions for gold in question.gold if gold.grade >= 1]

    @cached_property
    def gold_rows(self) -> list[Ints]:
        """For each question the rows that hold a relevant unit of it."""
        if not self.has_corpus:
            return [np.zeros(0, np.int64)] * len(self.questions)
        return [self.resolution.gold_rows(q) for q in range(len(self.questions))]

    @cached_property
    def gold_sets(self) -> list[frozenset[int]]:
        return [frozenset(rows.tolist()) for rows in self.gold_rows]

    @cached_property
    def doc_of(self) -> Sequence[str]:
        """The document of each chunk."""
        return self.chunks.column("doc")

    @cached_property
    def title_of(self) -> Sequence[str | None]:
        """The title of each chunk."""
        return self.chunks.column("title")

    def language_of(self, row: int) -> str | None:
        """The language of a chunk, guessed once a document: it tells more than a question does."""
        return self._languages[row]

    @cached_property
    def _languages(self) -> list[str | None]:
        """Of each chunk, that of the first of its document that begins in ASCII, or not, as it does."""
        of_first: dict[tuple[str, bool], str | None] = {}
        languages = []
        for doc, text in zip(self.doc_of, self.chunks.texts, strict=True):
            key = doc, text[:200].isascii()
            if key not in of_first:
                of_first[key] = guess_language(text)
            languages.append(of_first[key])
        return languages

    @cached_property
    def languages(self) -> list[str | None]:
        """The language in which each question is read: that of its gold where both are in Latin script."""
        return [
            spoken(question.text, self.language_of(int(rows[0])) if len(rows) else "en")
            for question, rows in zip(self.questions, self.gold_rows, strict=True)
        ]

    @once
    def terms_of(self, text: str, language: str | None) -> frozenset[str]:
        """Stems of the content words of a text in a language."""
        return terms(text, language)

    def row_terms(self, row: int) -> frozenset[str]:
        """Stems of the content words of a chunk."""
        return self.terms_of(self.chunks.texts[row], self.language_of(row))

    @cached_property
    def asked_sets(self) -> list[frozenset[str]]:
        """The stems of the content words of each question."""
        pairs = zip(self.questions, self.languages, strict=True)
        return [frozenset(content_of(question.text, language)) for question, language in pairs]

    @cached_property
    def answers(self) -> list[tuple[frozenset[str], ...]]:
        """The stems of the content words of each reference answer of each question."""
        return [
            tuple(frozenset(content_of(answer, language)) for answer in question.answers)
            for question, language in zip(self.questions, self.languages, strict=True)
        ]

    @cached_property
    def held(self) -> list[frozenset[str]]:
        """The stems of the content words of each chunk and its title."""
        rows = zip(self.title_of, self.chunks.texts, self._languages, strict=True)
        return [frozenset(content_of(f"{title or ''} {text}", language)) for title, text, language in rows]

    @once
    def sentences(self, row: int) -> list[ChunkSentence]:
        """The sentences of a chunk."""
        language = self.language_of(row)
        texts = sentences(self.chunks.texts[row])
        return [ChunkSentence(text, frozenset(content_of(text, language))) for text in texts]

    @cached_property
    def weights(self) -> Weights:
        """How much each stem tells: over the chunks, or over the questions where there are none."""
        return Weights(self.held if self.has_corpus else self.asked_sets)

    @cached_property
    def bm25(self) -> Engine:
        """The words of the chunks: the index's own engine, or one built here."""
        from karat.retrieve.engines.bm25 import BM25Engine

        return self.index_bm25 or BM25Engine.build(self._titled, {}, lambda what, done, total: None)

    @cached_property
    def dense(self) -> DenseEngine:
        """The vectors of the chunks: the index's own engine, or one built here with karat's own embedder."""
        from karat.retrieve.engines.dense import DenseEngine

        return self.index_dense or DenseEngine.build(self._titled, {}, lambda what, done, total: None)

    @property
    def _titled(self) -> list[str]:
        rows = zip(self.title_of, self.chunks.texts, strict=True)
        return [f"{title}\n{text}" if title else text for title, text in rows]

    @cached_property
    def vectors(self) -> Vectors:
        """A row a chunk; zeros where the embedder makes nothing of its text."""
        vectors = self.dense.row_vectors
        return vectors if vectors.size else np.zeros((len(self.chunks), self.question_vectors.shape[1]), np.float32)

    @cached_property
    def question_vectors(self) -> Vectors:
        return self.dense.embedder.embed([question.text for question in self.questions], "query")

    @cached_property
    def ranked(self) -> dict[str, Ranked]:
        """What BM25 and dense retrieval find for each question; nothing without chunks."""
        if not self.has_corpus:
            return {}
        return {
            "bm25": self.bm25.search([question.text for question in self.questions], DEPTH),
            "dense": self.dense.search_vectors(self.question_vectors, DEPTH),
        }
