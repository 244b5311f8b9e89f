"""What any ranking could reach at most, beside what systems reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.judged import Judged
    from karat.core.scores import Scores
    from karat.measures.dialects import Dialect


def reachable(judged: Judged | None, scores: Scores, dialect: Dialect) -> dict[str, float]:
    """The highest mean any list could reach under this gold: that of the perfect list.

    A hit that holds several units can do better than one unit a hit, so no ceiling is below what a system reached.
    """
    import numpy as np

    from karat.measures.compute import compute

    chosen = [
        i
        for i, m in enumerate(scores.measures)
        if m.spec.stage == "retrieval" and m.tokens is None and m.spec.direction == "higher"
    ]
    if judged is None or not chosen:
        return {}
    ranking = [scores.measures[i] for i in chosen]
    perfect = judged.perfect(max((m.k or 0 for m in ranking), default=0))
    best = compute(ranking, ["perfect"], judged.questions, judged=perfect, no_gold_is_zero=dialect.no_gold_is_zero)
    found = {}
    for place, i in enumerate(chosen):
        known = best.status[0, :, place] == 0
        reached = np.where(scores.status[:, :, i] == 0, scores.values[:, :, i], -np.inf).max(axis=0)
        if known.any():
            found[ranking[place].name] = float(np.maximum(best.values[0, known, place], reached[known]).mean())
    return found
