"""SemanticSimilarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.core.measure import AnswerTable, Floats, measure
from karat.core.scores import Floor, MeasureResult
from karat.core.text import Norm, drop_blocks, normalise
from karat.core.text.citations import comparable
from karat.measures.answer._compared import Referred, best_of, referred

SAMPLE = 500
"""How many questions the floor is taken over at most: all pairs of so many are plenty for two digits."""


def floors(answered: AnswerTable, values: Floats, *, prefix: str = "", norm: Norm = "unicode") -> dict[int, Floor]:
    """For each system, the mean similarity of its answers with the references of other questions, the best of each,
    beside that with their own.

    Over all pairs of questions, or those of a sample with a fixed seed. A system with fewer than two questions that
    have both sides has no floor.
    """
    by_system: dict[int, Floor] = {}
    for system, of_system in enumerate(values.reshape(len(answered.systems), -1)):
        usable = np.flatnonzero(of_system == of_system)
        doubtful = np.flatnonzero(of_system == 0)  # what is like nothing may have said nothing
        part = answered.select([system], doubtful.tolist())
        usable = np.setdiff1d(usable, doubtful[~_answers(answered, part, prefix, norm).any(axis=1)])
        if len(usable) > SAMPLE:
            usable = np.sort(np.random.default_rng(0).choice(usable, SAMPLE, replace=False))
        if len(usable) < 2:
            continue
        part = answered.select([system], usable.tolist())
        beside, theirs = _references(answered, part, prefix, norm)
        cosines = np.clip(_answers(answered, part, prefix, norm) @ theirs.T, 0.0, 1.0)
        starts = np.searchsorted(beside.owners, np.arange(len(usable)))  # grouped by question, as owners rise
        best = np.maximum.reduceat(cosines, starts, axis=1)
        own = np.eye(len(usable), dtype=bool)
        by_system[system] = Floor(float(best[~own].mean()), float(best[own].mean()), len(usable))
    return by_system


@measure(
    name="SemanticSimilarity",
    aliases=("SBERT", "sbert_similarity", "answer_similarity", "embedding_similarity"),
    needs_gold=False,
    needs_reference=True,
    needs=("embedder",),
    floors=floors,
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
    beside, theirs = _references(answered, answered, prefix, norm)
    ours = _answers(answered, answered, prefix, norm)
    if not len(theirs):
        return best_of(theirs[:, 0], beside.owners, len(answered), beside.undefined)
    values = _similarities(ours[beside.owners], theirs)
    outcome = best_of(values, beside.owners, len(answered), beside.undefined)
    return replace(outcome, floors=floors(answered, outcome.values, prefix=prefix, norm=norm))


def _references(whole: AnswerTable, part: AnswerTable, prefix: str, norm: Norm) -> tuple[Referred, Floats]:
    """The references of a part of a table that the embedder makes something of, and their vectors."""
    beside = referred(part, norm)
    theirs = _vectors(whole, [normalise(text, norm) for text in comparable(beside.texts, norm)], prefix)
    meant = np.asarray(theirs.any(axis=1))
    return beside.only(meant, "the embedder makes nothing of the reference answer"), theirs[meant]


def _answers(whole: AnswerTable, part: AnswerTable, prefix: str, norm: Norm) -> Floats:
    """The vectors of the answers of a part of a table."""
    texts = [text if text and drop_blocks(text).strip() else "" for text in part.answers]
    return _vectors(whole, [normalise(text, norm) for text in comparable(texts, norm)], prefix)


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
