"""Texts as vectors of the embedder at hand, each text once, and what chance makes of their similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import Floor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from karat.core.answered import Answered

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

SAMPLE = 500
"""How many questions the floor is taken over at most: all pairs of so many are plenty for two digits."""


def vectors(answered: Answered, texts: Sequence[str], prefix: str) -> Floats:
    """One row for each text, of length 1; zeros for an empty text and for one that the embedder makes nothing of."""
    assert answered.means.embedder is not None
    embedder: Any = answered.means.embedder()
    before = f"{prefix.rstrip(': ')}: " if prefix else ""
    if before and getattr(getattr(embedder, "settings", None), "passage_prefix", "").strip() == before.strip():
        before = ""
    known: dict[str, NDArray[np.float32]] = answered.once(("embedded", embedder.fingerprint, before), dict)
    new = [text for text in dict.fromkeys(texts) if text and text not in known]
    if new:
        known.update(zip(new, embedder.embed([before + text for text in new], "passage"), strict=True))
    some = next(iter(known.values()), np.zeros(1, np.float32))
    return np.array([known[text] if text else np.zeros_like(some) for text in texts], np.float64).reshape(
        len(texts), len(some)
    )


def similarities(ours: Floats, theirs: Floats) -> Floats:
    """The cosine of each row with the row beside it, clipped to 0 to 1."""
    cosines: Floats = np.clip((ours * theirs).sum(axis=1), 0.0, 1.0)
    return cosines


def floors(systems: int, owners: Ints, ours: Floats, theirs: Floats) -> dict[int, Floor]:
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
