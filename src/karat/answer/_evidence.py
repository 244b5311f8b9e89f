"""Which sentence of the contexts answers a question best, and how strong the evidence is that it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text import guess_language
from karat.core.text.layout import page_sentences
from karat.models.terms import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.asked import Context
    from karat.core.models import EmbeddingModel

    Floats = NDArray[np.float64]

RANK = 0.1  # what a sentence of the first context is ahead of one far below, in strength of evidence
_MOST_CHARACTERS = 100_000  # of a context that are read
_MOST_SENTENCES = 2000  # of a context that are looked at
_MOST_KEPT = 20_000_000  # characters of contexts that are kept


@dataclass(eq=False)
class ReadContext:
    """The sentences of a context, the stems that stand in each or above it, the texts to embed and their vectors."""

    sentences: list[str]
    stems: list[frozenset[str]]
    headed: list[str]
    vectors: Floats | None = None


def _read(context: Context) -> ReadContext:
    text = context.text[:_MOST_CHARACTERS]
    language = guess_language(text)
    sentences = page_sentences(text, context.title)[:_MOST_SENTENCES]
    above = {heading: terms(f"{context.title} {heading}", language) for heading in {one.heading for one in sentences}}
    return ReadContext(
        [one.text for one in sentences],
        [terms(one.text, language) | above[one.heading] for one in sentences],
        [f"{one.heading} {one.text}" for one in sentences],
    )


class ContextMemory:
    """Contexts, each read and embedded once. All are forgotten when they become too many, which changes no answer."""

    def __init__(self, embedder: EmbeddingModel | None) -> None:
        self._embedder = embedder
        self._read: dict[tuple[str, str], ReadContext] = {}
        self._size = 0

    def read(self, contexts: Sequence[Context]) -> list[ReadContext]:
        """These contexts, those that are new embedded together."""
        if self._size > _MOST_KEPT:
            self._read.clear()
            self._size = 0
        for one in contexts:
            if (one.title, one.text) not in self._read:
                self._read[one.title, one.text] = _read(one)
                self._size += len(one.text)
        read = [self._read[one.title, one.text] for one in contexts]
        new = [one for one in dict.fromkeys(read) if one.vectors is None and one.sentences]
        if self._embedder is not None and new:
            vectors = self._embedder.embed([text for one in new for text in one.headed], "passage").astype(np.float64)
            ends = np.cumsum([len(one.headed) for one in new])[:-1]
            for context, rows in zip(new, np.split(vectors, ends), strict=True):
                context.vectors = rows
        return read

    def question_vectors(self, questions: Sequence[str]) -> list[Floats] | list[None]:
        """The vector of each question; None without an embedder."""
        if self._embedder is None:
            return [None] * len(questions)
        return list(self._embedder.embed(questions, "query").astype(np.float64))


def best_sentence(question: str, vector: Floats | None, contexts: Sequence[ReadContext]) -> tuple[str, float] | None:
    """The sentence with the strongest evidence, and how strong it is, from 0 to 1; None where there is no sentence.

    The evidence is the share of the question's words, by weight, that stand in the sentence or the headings above it;
    with a vector, the mean of that and the cosine. The rank of a context decides between sentences, and of equals the
    first is taken.
    """
    stems = [stems for context in contexts for stems in context.stems]
    if not stems:
        return None
    asked = sorted(terms(question))
    held = np.array([[stem in one for stem in asked] for one in stems], bool).reshape(len(stems), len(asked))
    # A stem weighs more the fewer sentences hold it.
    weights = np.array([math.log(1 + (len(stems) + 1) / (count + 1)) for count in held.sum(axis=0).tolist()])
    evidence = np.einsum("ij,j->i", held, weights) / (weights.sum() or 1.0)
    if vector is not None:
        rows = np.concatenate([context.vectors for context in contexts if context.vectors is not None])
        evidence = (evidence + np.clip(np.einsum("ij,j->i", rows, vector), 0, 1)) / 2
    ranks = np.concatenate([np.full(len(context.stems), 1 / rank) for rank, context in enumerate(contexts, 1)])
    best = int(np.argmax(np.round(evidence + RANK * ranks, 5)))
    sentences = [sentence for context in contexts for sentence in context.sentences]
    return sentences[best], round(float(evidence[best]), 5)
