"""Tokens read until the first relevant hit."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Judged, MeasureResult, measure
from karat.measures.steps._over_steps import over_steps, where, without_gold


@measure(
    name="TokensToGold",
    bounds=(0.0, np.inf),
    direction="lower",
    unit="count",
    needs_steps=True,
    formula="tokens of the hits down to the first relevant one",
    defined_by="karat",
    best_for="how much a system reads before it meets something useful",
    prefer="UnionRecall beside it: questions without a find have no value here",
)
def tokens_to_gold(judged: Judged) -> MeasureResult:
    """Tokens of the hits in order of steps and ranks, down to the first relevant one, which counts.

    Tokens are those that hits name, else the words of their texts. Undefined where nothing relevant is found, which
    flatters a system that finds little: read it beside UnionRecall.
    """
    values, lost, unknown = np.full(judged.pairs, np.nan), np.ones(judged.pairs, bool), np.zeros(judged.pairs, bool)
    if judged.steps is not None and judged.steps.counts_tokens:
        for pair, _, tokens in zip(*judged.steps.tokens_to_gold(judged.rel), strict=True):
            values[pair], lost[pair], unknown[pair] = np.nan if tokens is None else tokens, False, tokens is None
    return over_steps(
        judged,
        lambda steps: values,
        lambda steps: [
            without_gold(judged),
            steps.unmatchable,
            where(np.full(judged.pairs, not steps.counts_tokens), "unjudged hits are removed, so tokens mean nothing"),
            where(lost, "no step found any gold"),
            where(unknown, "hits down to the first gold have neither texts nor tokens"),
        ],
    )
