"""View: a test set and the chunks it is asked of, with what several checks need worked out once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.docs import Chunks
from karat.core.text import guess_language
from karat.diagnose.check import Case
from karat.testset.audit._lexicon import Weights, content_of, spoken
from karat.testset.audit._overlap import Overlap, overlap_of
from karat.testset.audit._reached import DEPTH, Found, attained, found_by, nearest
from karat.testset.modes import MODES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Doc
    from karat.core.judged import Ints
    from karat.core.ranked import Ranked
    from karat.core.types import Question, TestSet
    from karat.match import Pages, Resolution
    from karat.results.audit import Attained, Coverage, Detectable
    from karat.retrieve import Engine
    from karat.testset.audit._support import Told

    Vectors = NDArray[np.float32]

SEMANTIC = frozenset(kind for kind, mode in MODES.items() if mode == "semantic")
"""Kinds of question that promise other words than the text's."""


@dataclass(frozen=True)
class View:
    """What a check sees. `chunks` is empty where no corpus was given.

    `engines` are those over the chunks (`bm25`, `dense`), fewer where some cannot be had; `vectors` has a row a chunk
    and `question_vectors` one a question: None where there is no embedder.
    """

    testset: TestSet
    chunks: Chunks
    docs: Sequence[Doc] | None = None
    engines: Mapping[str, Engine] = field(default_factory=dict)
    vectors: Vectors | None = None
    question_vectors: Vectors | None = None
    seed: int = 0
    by: str = "auto"
    pages: Pages = "physical"
    page_offset: int = 0

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return self.testset.questions

    @property
    def has_corpus(self) -> bool:
        return len(self.chunks) > 0

    @cached_property
    def resolution(self) -> Resolution:
        case = Case(self.testset, self.chunks, self.docs, (), (), self.by, self.page_offset, self.pages)
        return case.resolution

    @cached_property
    def gold(self) -> list[Ints]:
        """For each question the rows that hold a relevant unit of it."""
        if not self.has_corpus:
            return [np.zeros(0, np.int64)] * len(self.questions)
        return [self.resolution.gold_rows(q) for q in range(len(self.questions))]

    @cached_property
    def gold_sets(self) -> list[frozenset[int]]:
        return [frozenset(rows.tolist()) for rows in self.gold]

    @cached_property
    def chunk_languages(self) -> list[str | None]:
        """The language of each chunk, guessed from its text; of words in Latin script once a document."""
        known: dict[tuple[str, bool], str | None] = {}
        made = []
        for chunk in self.chunks:
            plain = chunk.text[:200].isascii()
            if (chunk.doc, plain) not in known:
                known[chunk.doc, plain] = guess_language(chunk.text)
            made.append(known[chunk.doc, plain])
        return made

    @cached_property
    def languages(self) -> list[str | None]:
        """The language in which each question is read: that of its gold where both are in Latin script."""
        return [
            spoken(question.text, self.chunk_languages[int(rows[0])] if len(rows) else "en")
            for question, rows in zip(self.questions, self.gold, strict=True)
        ]

    @cached_property
    def asked(self) -> list[tuple[str, ...]]:
        """The stems of the content words of each question, in order."""
        return [
            tuple(content_of(question.text, language))
            for question, language in zip(self.questions, self.languages, strict=True)
        ]

    @cached_property
    def asked_sets(self) -> list[frozenset[str]]:
        return [frozenset(stems) for stems in self.asked]

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
            frozenset(content_of(f"{chunk.title or ''} {chunk.text}", language))
            for chunk, language in zip(self.chunks, self.chunk_languages, strict=True)
        ]

    @cached_property
    def weights(self) -> Weights:
        """How much each stem tells: over the chunks, or over the questions where there are none."""
        return Weights(self.held if self.has_corpus else self.asked_sets)

    @cached_property
    def ranked(self) -> dict[str, Ranked]:
        """What each engine finds for each question; `dense` by the vectors where the index has no such engine."""
        texts = [question.text for question in self.questions]
        made = {"bm25": self.engines["bm25"].search(texts, DEPTH)} if "bm25" in self.engines else {}
        if self.question_vectors is not None and self.vectors is not None:
            dense = self.engines.get("dense")
            search = getattr(dense, "search_vectors", None)
            made["dense"] = (
                search(self.question_vectors, DEPTH)
                if search is not None
                else dense.search(texts, DEPTH)
                if dense is not None
                else nearest(self.vectors, self.question_vectors, DEPTH)
            )
        return made

    @cached_property
    def ranked_answers(self) -> list[Ranked]:
        """What BM25 finds for each question with its first reference answer, and for the sentence that answers it."""
        from karat.testset.audit._support import answering

        if "bm25" not in self.engines:
            return []
        asked = [" ".join((q.text, *q.answers[:1])) for q in self.questions]
        told = [one.text if one is not None else "" for one in answering(self)]
        return [self.engines["bm25"].search(texts, DEPTH) for texts in (asked, told)]

    @cached_property
    def told(self) -> list[Told | None]:
        """What answers each question in its gold, once it was looked for: see `_support.answering`."""
        return []

    @cached_property
    def sentences(self) -> dict[int, list[Told]]:
        """The sentences of chunks read so far: see `_support.sentences_of`."""
        return {}

    @cached_property
    def found(self) -> dict[str, Found]:
        """How well each engine finds the gold."""
        return {name: found_by(ranked, self.resolution) for name, ranked in self.ranked.items()}

    @cached_property
    def hybrid(self) -> Found:
        """How well both engines together find the gold, fused by rank."""
        from karat.fuse.rrf import fusion

        return found_by(fusion.fuse([self.ranked["bm25"], self.ranked["dense"]]), self.resolution)

    @cached_property
    def overlaps(self) -> list[Overlap | None]:
        """How much of each question's wording stands in its gold; None without gold."""
        return [overlap_of(self, q) for q in range(len(self.questions))]

    @cached_property
    def pairs(self) -> list[tuple[int, int, float]]:
        """Pairs of questions that ask the same, with their likeness."""
        from karat.testset.audit._pairs import alike

        return alike(self)

    @cached_property
    def attained(self) -> tuple[Attained, ...]:
        """Recall of the engines by kind, beside what any ranking could reach."""
        return attained(self.questions, self.resolution, self.found) if self.has_corpus else ()

    @cached_property
    def coverage(self) -> Coverage:
        """How the questions lie over the corpus."""
        from karat.testset.audit._topics import coverage_of

        return coverage_of(self)

    @cached_property
    def detectable(self) -> tuple[Detectable, ...]:
        """What so many questions can tell."""
        from karat.testset.audit._tables import detectable_by

        return detectable_by(self)

    def label(self, row: int) -> str:
        return self.chunks.ids[row]
