"""Outcomes of answers: counts by whether contexts suffice, and accuracy over the surest answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from karat.results.evaluation import OutcomeRow, OutcomeShare, OutcomeTable, SelectiveAccuracy
from karat.stats.arrays import Floats, Ints, finite
from karat.stats.intervals import mean_intervals

Outcome = Literal["right", "abstained", "wrong"]
_WORTH: dict[Outcome, float] = {"right": 1.0, "abstained": 0.0, "wrong": -1.0}


def outcome_table(
    system: str,
    sufficient: Floats,
    outcome: Floats,
    *,
    sufficient_by: str,
    outcome_by: str,
    clusters: Sequence[int] | None = None,
) -> OutcomeTable:
    """Counts, shares and intervals of right (1), abstained (0) and wrong (-1) by sufficient (1) or not (0).

    NaN stands for not known. A value between, the mean of repeats that differ, goes to the nearer one; halfway it is
    left out, and counted. `clusters` is the number of each question's conversation.
    """
    groups = np.arange(len(outcome)) if clusters is None else np.array(clusters)
    nearest = [np.where(np.abs(column * 2 % 2 - 1) < 1e-9, np.nan, np.rint(column)) for column in (sufficient, outcome)]
    enough = np.where(np.isnan(sufficient), -1.0, nearest[0])
    known = ~np.isnan(nearest[1]) & ~np.isnan(enough)
    rows = []
    for is_sufficient, value in ((True, 1.0), (False, 0.0), (None, -1.0)):
        chosen = known & (enough == value)
        here = nearest[1][chosen]
        if len(here) or is_sufficient is not None:
            rows.append(OutcomeRow(sufficient=is_sufficient, n=len(here), shares=_shares(here, groups[chosen])))
    return OutcomeTable(
        system=system,
        sufficient_by=sufficient_by,
        outcome_by=outcome_by,
        n=int(known.sum()),
        n_left_out=int((~known).sum()),
        rows=tuple(rows),
    )


def _shares(outcome: Floats, clusters: Ints) -> tuple[OutcomeShare, ...]:
    """The share of each outcome with its interval."""
    is_it = np.array([outcome == _WORTH[name] for name in get_args(Outcome)], np.float64).reshape(len(_WORTH), -1)
    if not is_it.size:
        return tuple(OutcomeShare(outcome=name, n=0) for name in get_args(Outcome))
    ends = zip(*mean_intervals(is_it, (0.0, 1.0), clusters=clusters), strict=True)
    return tuple(
        OutcomeShare(outcome=name, n=int(row.sum()), share=float(row.mean()), low=finite(low), high=finite(high))
        for name, row, (low, high) in zip(get_args(Outcome), is_it, ends, strict=True)
    )


def selective_accuracy(
    system: str, right: Floats, confidence: Floats | None, *, n: int, correct_by: str
) -> SelectiveAccuracy:
    """Accuracy over the surest answers, for each number of them; `right` and `confidence` are of the answered rows.

    Answers of equal confidence stand in any order: a value is the mean over all orders. Those without a confidence
    (NaN) stand last. Each answer is a step of 1 / n: the area is the sum of all values over n.
    """
    answered, hits = len(right), int(right.sum())
    about = SelectiveAccuracy(system=system, correct_by=correct_by, n=n, answered=answered, right=hits)
    if not answered:
        return about
    if confidence is None or np.isnan(confidence).all():
        return replace(about, accuracy=(hits / answered,))
    sure = np.where(np.isnan(confidence), -np.inf, confidence)
    _, group = np.unique(-sure, return_inverse=True)
    expected = (np.bincount(group, right) / np.bincount(group))[np.sort(group)]
    accuracy = np.cumsum(expected) / np.arange(1, answered + 1)
    accuracy[-1] = hits / answered
    return replace(
        about,
        n_without=int(np.isnan(confidence).sum()),
        accuracy=tuple(accuracy.tolist()),
        area=float(accuracy.sum() / n),
    )
