"""SemanticSimilarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.core.measure import AnswerTable, Floats, Ints, measure
from karat.core.scores import Floor, MeasureResult
from karat.core.text import Norm, drop_blocks, normalise
from karat.core.text.citations import comparable
from karat.measures.answer._compared import best_of, referred

SAMPLE = 500
"""How many questions the floor is taken over at most: all pairs of so many are plenty for two digits."""


@measure(
    name="SemanticSimilarity",
    aliases=("SBERT", "sbert_similarity", "answer_similarity", "embedding_similarity"),
    needs_gold=False,
    needs_reference=True,
    needs=("embedder",),
    variants=("SemanticSimilarity(prefix=passage)",),
    formula="max(0, cosine of the embeddings of answer and reference)",
    defined_by="Reimers and Gurevych (2019) for sentence embeddings; the clip is karat's",
    best_for="right answers in other words than the reference's",
    prefer="Correctness (a judge) where one wrong figure or a missing 'not' makes an answer wrong",
)
def semantic_similarity(answered: AnswerTable, *, prefix: str = "", norm: Norm = "unicode") -> MeasureResult:
    """Cosine of the embeddings of the normalised answer and reference, clipped to 0 to 1.

    By the embedder of the index that was searched, else wordllama. `prefix=passage` puts "passage: " before both texts,
    as models of the e5 kind want it, unless the embedder puts it there itself. An empty answer scores 0. Texts that
    have nothing to do with each other are above 0 with most embedders: compare with the floor that is printed beside
    it, the mean over answers and references of other questions.
    """
    beside = referred(answered, norm)
    theirs = _vectors(answered, [normalise(text, norm) for text in comparable(beside.texts, norm)], prefix)
    meant = np.asarray(theirs.any(axis=1))
    beside = beside.only(meant, "the embedder makes nothing of the reference answer")
    theirs = theirs[meant]
    said = [text if text and drop_blocks(text).strip() else "" for text in answered.answers]
    ours = _vectors(answered, [normalise(text, norm) for text in comparable(said, norm)], prefix)
    if not len(theirs):
        return best_of(theirs[:, 0], beside.owners, len(answered), beside.undefined)
    values = _similarities(ours[beside.owners], theirs)
    outcome = best_of(values, beside.owners, len(answered), beside.undefined)
    return replace(outcome, floors=_floors(len(answered.systems), beside.owners, ours, theirs))


def _vectors(answered: AnswerTable, texts: Sequence[str], prefix: str) -> Floats:
    """One row for each text, of length 1; zeros for an empty text and for one that the embedder makes nothing of."""
    assert answered.models.embedder is not None
    embedder: Any = answered.models.embedder()
    before = f"{prefix.rstrip(': ')}: " if prefix else ""
    if before and getattr(getattr(embedder, "settings", None), "passage_prefix", "").strip() == before.strip():
        before = ""
    known: dict[str, Any] = answered.once(("embedded", embedder.fingerprint, before), dict)
    new = [text for text in dict.fromkeys(texts) if text and text not in known]
    if new:
        known.update(zip(new, embedder.embed([before + text for text in new], "passage"), strict=True))
    some = next(iter(known.values()), np.zeros(1, np.float32))
    return np.array([known[text] if text else np.zeros_like(some) for text in texts], np.float64).reshape(
        len(texts), len(some)
    )


def _similarities(ours: Floats, theirs: Floats) -> Floats:
    """The cosine of each row with the row beside it, clipped to 0 to 1."""
    cosines: Floats = np.clip((ours * theirs).sum(axis=1), 0.0, 1.0)
    return cosines


def _floors(systems: int, owners: Ints, ours: Floats, theirs: Floats) -> dict[int, Floor]:
    """For each system, the mean similarity of its answers with the references of other questions, the best of each,
    beside that with their own.

    Over all pairs of questions, or those of a sample with a fixed seed. `theirs` belong to the pairs `owners`; a
    system with fewer than two questions that have both sides has no floor.
    """
    questions = len(ours) // systems
    found: dict[int, Floor] = {}
    for system in range(systems):
        first = system * questions
        usable = np.unique(owners[(owners >= first) & (owners < first + questions)])
        usable = usable[ours[usable].any(axis=1)]
        if len(usable) > SAMPLE:
            usable = np.sort(np.random.default_rng(0).choice(usable, SAMPLE, replace=False))
        if len(usable) < 2:
            continue
        rows = np.flatnonzero(np.isin(owners, usable))  # grouped by question, as owners rise
        cosines = np.clip(ours[usable] @ theirs[rows].T, 0.0, 1.0)
        starts = np.searchsorted(owners[rows], usable)
        best = np.maximum.reduceat(cosines, starts, axis=1)
        own = np.eye(len(usable), dtype=bool)
        found[system] = Floor(float(best[~own].mean()), float(best[own].mean()), len(usable))
    return found
