"""SemanticSimilarity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.measure import measure
from karat.core.text import Norm, drop_blocks, normalise
from karat.core.text.citations import comparable
from karat.measures.answer._compared import best_of
from karat.measures.answer._embedded import floors, similarities, vectors
from karat.measures.answer._referred import referred

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.scores import Outcome


@measure(
    name="SemanticSimilarity",
    aliases=("SBERT", "sbert_similarity", "answer_similarity", "embedding_similarity"),
    needs_gold=False,
    needs=("embedder",),
    variants=("SemanticSimilarity(prefix=passage)",),
    best_for="right answers in other words than the reference's",
    prefer="Correctness (a judge) where one wrong figure or a missing 'not' makes an answer wrong",
)
def semantic_similarity(answered: Answered, *, prefix: str = "", norm: Norm = "unicode") -> Outcome:
    """Cosine of the embeddings of the normalised answer and reference, clipped to 0 to 1.

    By the embedder of the index that was searched, else wordllama. `prefix=passage` puts "passage: " before both texts,
    as models of the e5 kind want it, unless the embedder puts it there itself. An empty answer scores 0. Texts that
    have nothing to do with each other are above 0 with most embedders: compare with the floor that is printed beside
    it, the mean over answers and references of other questions.
    """
    beside = referred(answered, norm)
    theirs = vectors(answered, [normalise(text, norm) for text in comparable(beside.texts, norm)], prefix)
    meant = np.asarray(theirs.any(axis=1))
    beside = beside.only(meant, "the embedder makes nothing of the reference answer")
    theirs = theirs[meant]
    said = [text if text and drop_blocks(text).strip() else "" for text in answered.answers]
    ours = vectors(answered, [normalise(text, norm) for text in comparable(said, norm)], prefix)
    if not len(theirs):
        return best_of(theirs[:, 0], beside.owners, len(answered), beside.undefined)
    values = similarities(ours[beside.owners], theirs)
    outcome = best_of(values, beside.owners, len(answered), beside.undefined)
    return replace(outcome, floors=floors(len(answered.systems), beside.owners, ours, theirs))
