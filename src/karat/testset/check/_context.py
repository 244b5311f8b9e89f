"""CheckContext: a test set and the chunks it is asked of, with what several checks need worked out once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from karat.core.text import guess_language, sentences
from karat.match import Pages, resolve
from karat.models.terms import terms
from karat.testset.lexicon import ChunkSentence, Weights, content_of, spoken
from karat.testset.modes import MODES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Chunks, Doc, Problem
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
Result = TypeVar("Result")
DEPTH = 20  # chunks that each engine is asked for


def once(compute: Callable[[CheckContext], Result]) -> Callable[[CheckContext], Result]:
    """What is worked out of a context once, whoever asks first."""

    @wraps(compute)
    def remembered(context: CheckContext) -> Result:
        if compute not in context._results:
            context._results[compute] = compute(context)
        result: Result = context._results[compute]
        return result

    return remembered


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """What a check sees. Without an index (`has_index`) there are no chunks.

    `problems` are files that could not be read, `runs` results over these chunks. `index_bm25` and `index_dense` are
    engines of the index; one that it lacks is built here.
    """

    testset: TestSet
    chunks: Chunks
    has_index: bool = True
    docs: Sequence[Doc] | None = None
    problems: Sequence[Problem] = ()
    runs: Sequence[Run] = ()
    by: str = "auto"
    page_offset: int = 0
    pages: Pages = "physical"
    index_bm25: Engine | None = None
    index_dense: DenseEngine | None = None
    _resolutions: dict[tuple[str, Pages, int], Resolution] = field(default_factory=dict, init=False, repr=False)
    _languages: dict[tuple[str, bool], str | None] = field(default_factory=dict, init=False, repr=False)
    _terms: dict[tuple[str, str | None], frozenset[str]] = field(default_factory=dict, init=False, repr=False)
    _results: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    _sentences: dict[int, list[ChunkSentence]] = field(default_factory=dict, init=False, repr=False)

    def resolved(self, by: str, *, pages: Pages | None = None, page_offset: int | None = None) -> Resolution:
        """The gold resolved in another way than asked for."""
        key = (by, pages or self.pages, self.page_offset if page_offset is None else page_offset)
        if key not in self._resolutions:
            self._resolutions[key] = resolve(
                self.testset, self.chunks, self.docs, by=by, page_offset=key[2], pages=key[1]
            )
        return self._resolutions[key]

    @cached_property
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
        return [u for u in self.resolution.unresolved if u.gold.grade >= 1] if self.has_index else []

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

    def language_of(self, row: int) -> str | None:
        """The language of a chunk, guessed once a document: it tells more than a question does."""
        text = self.chunks.texts[row]
        key = (self.chunks[row].doc, text[:200].isascii())
        if key not in self._languages:
            self._languages[key] = guess_language(text)
        return self._languages[key]

    @cached_property
    def languages(self) -> list[str | None]:
        """The language in which each question is read: that of its gold where both are in Latin script."""
        return [
            spoken(question.text, self.language_of(int(rows[0])) if len(rows) else "en")
            for question, rows in zip(self.questions, self.gold_rows, strict=True)
        ]

    def terms_like(self, text: str, row: int) -> frozenset[str]:
        """Stems of the content words of a text in the language of a chunk."""
        key = (text, self.language_of(row))
        if key not in self._terms:
            self._terms[key] = terms(*key)
        return self._terms[key]

    def row_terms(self, row: int) -> frozenset[str]:
        """Stems of the content words of a chunk."""
        return self.terms_like(self.chunks.texts[row], row)

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
        return [
            frozenset(content_of(f"{chunk.title or ''} {chunk.text}", self.language_of(row)))
            for row, chunk in enumerate(self.chunks)
        ]

    def sentences(self, row: int) -> list[ChunkSentence]:
        """The sentences of a chunk, each read once."""
        if row not in self._sentences:
            language = self.language_of(row)
            self._sentences[row] = [
                ChunkSentence(text, frozenset(content_of(text, language))) for text in sentences(self.chunks.texts[row])
            ]
        return self._sentences[row]

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
        return [f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text for chunk in self.chunks]

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
