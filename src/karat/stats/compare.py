"""Compare: every figure between pairs of systems over the same questions, for many pairs and measures at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from karat.results.comparison import Pair
from karat.stats.arrays import TIE, DistinctRows, Floats, Ints, finite, grouped, known_sums
from karat.stats.corrections import Correction, adjust
from karat.stats.paired_tests import is_all_or_nothing, mcnemar, paired_t, wilcoxon
from karat.stats.permutation import DRAWS, differences_of, drawn_pairs
from karat.stats.tukey import tukey

Test = Literal["permutation", "wilcoxon", "t", "tukey"]
TESTS: tuple[Test, ...] = get_args(Test)
MOST_DRAWS = 100_000
_HELD = 2**20  # differences held at once


@dataclass(frozen=True, kw_only=True)
class PairFigures:
    """Measures x pairs of each figure of b - a; NaN where there is no such number, or it was not asked for.

    `wins` are questions on which b is better, by the direction of the measure.
    """

    n: Ints
    difference: Floats
    spread: Floats  # standard deviation of the differences
    effective: Floats  # that of as many independent differences with the same standard error
    low: Floats
    high: Floats
    permutation: Floats
    wilcoxon: Floats
    t: Floats
    mcnemar: Floats
    tukey: Floats
    d: Floats
    biserial: Floats
    wins: Ints
    losses: Ints

    def p(self, test: Test) -> Floats:
        """p of a test; where it has none (t of constant differences, Tukey of two systems), that of the permutation."""
        p: Floats = getattr(self, test)
        return np.where(np.isnan(p), self.permutation, p)

    def adjusted(self, test: Test, method: Correction) -> Floats:
        """p of a test corrected over all pairs and measures with a question in common; of others it is 1.

        Tukey's p is corrected over the pairs of its measure already: it is multiplied by the number of measures.
        """
        p, tested = self.p(test), self.n > 0
        if test == "tukey":
            return p if method == "none" else np.minimum(p * int(tested.any(axis=1).sum()), 1.0)
        adjusted = np.ones_like(p)
        adjusted[tested] = adjust(p[tested], method)
        return adjusted


def compare_systems(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    lower: Sequence[bool] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    tests: Collection[str] = TESTS,
    clusters: Sequence[int] | Ints | None = None,
) -> PairFigures:
    """Compare pairs (a, b) of systems; `values` are measures x systems x questions, in an order of the questions' own.

    What is not finite is no value: a question counts for a pair where both have one. `lower` says by which measures
    less is better. Of `tests` the permutation test is always there, with its interval; McNemar's where all values of a
    measure are 0 or 1, Tukey's of more than two systems. With `clusters`, the number of each question's conversation,
    tests are of whole conversations, and McNemar's, which counts questions, is left out.
    """
    groups = grouped(clusters)
    measures, systems, questions = values.shape
    # systems with the same values, as most of a fine grid have, are compared once
    distinct = DistinctRows(values.transpose(1, 0, 2).reshape(systems, -1))
    (first, second), pair = np.unique(
        distinct.place[np.array(pairs, np.int64).reshape(-1, 2).T], axis=1, return_inverse=True
    )
    compared = distinct.rows.reshape(-1, measures, questions).transpose(1, 0, 2)
    drawn = drawn_pairs(
        compared, list(zip(first.tolist(), second.tolist(), strict=True)), draws=draws, seed=seed, clusters=groups
    )
    shape = (measures, len(first))
    names = ("difference", "spread", "effective", "t", "d", "wilcoxon", "biserial", "mcnemar", "tukey")
    figures = {name: np.full(shape, np.nan) for name in names}
    n, wins, losses = (np.zeros(shape, np.int64) for _ in range(3))
    step = max(1, _HELD // max(questions, 1))
    for measure, scores in enumerate(compared):
        sign = -1.0 if lower is not None and lower[measure] else 1.0
        for start in range(0, len(first), step):
            part = (measure, slice(start, start + step))
            apart = differences_of(scores, first[part[1]], second[part[1]])
            student = paired_t(apart, groups)
            n[part], figures["difference"][part], figures["spread"][part] = student.n, student.mean, student.spread
            figures["t"][part], figures["d"][part], figures["effective"][part] = student.p, student.d, student.effective
            wins[part], losses[part] = (sign * apart > TIE).sum(axis=1), (sign * apart < -TIE).sum(axis=1)
            if "wilcoxon" in tests:
                units = apart if groups is None else known_sums(apart, groups)
                figures["wilcoxon"][part], figures["biserial"][part] = wilcoxon(units)
        if groups is None and is_all_or_nothing(scores):
            figures["mcnemar"][measure] = mcnemar(wins[measure], losses[measure])
        if "tukey" in tests and systems > 2:
            every = tukey(values[measure], draws=draws, seed=seed, clusters=groups)
            figures["tukey"][measure] = every[distinct.first[first], distinct.first[second]]
    figures |= {"permutation": drawn.p, "low": drawn.low, "high": drawn.high}
    counts = {"n": n, "wins": wins, "losses": losses}
    return PairFigures(**{name: figure[:, pair] for name, figure in (figures | counts).items()})


def pairs(
    measure: str,
    names: Sequence[str],
    values: Floats,
    chosen: Sequence[tuple[int, int]] | None = None,
    *,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    higher_is_better: bool = True,
    clusters: Sequence[int] | None = None,
) -> tuple[Pair, ...]:
    """Each chosen pair (a, b) of rows of `values` (systems x questions): b - a over the questions both have.

    All pairs without `chosen`, in the order of the names. Holm's correction is over the pairs of this call. What is not
    finite is no value; of a pair without a common question there is no difference and p is 1. Signs are drawn in the
    order of the questions' `ids`, so that p and interval are those of `karat compare`. Conversations are tested whole,
    where `clusters` numbers them.
    """
    asked = list(combinations(range(len(names)), 2)) if chosen is None else list(chosen)
    order = np.arange(values.shape[1]) if ids is None else np.argsort(np.array(ids))
    figures = compare_systems(
        values[None, :, order], asked, lower=[not higher_is_better], draws=draws_for(len(asked)), seed=seed,
        tests=(), clusters=None if clusters is None else np.array(clusters)[order],
    )  # fmt: skip
    return pairs_of(
        figures, 0, measure, [(names[a], names[b]) for a, b in asked], figures.adjusted("permutation", "holm")
    )


def pairs_of(
    figures: PairFigures, row: int, measure: str, named: Sequence[tuple[str, str]], adjusted: Floats
) -> tuple[Pair, ...]:
    """One row of the figures, by the permutation test, as a pair for each of the systems that are `named`."""
    columns = (figures.difference, figures.low, figures.high)
    difference, low, high = (list(map(finite, column[row].tolist())) for column in columns)
    n, wins, losses = (column[row].tolist() for column in (figures.n, figures.wins, figures.losses))
    p, corrected = figures.permutation[row].tolist(), adjusted[row].tolist()
    return tuple(
        Pair(
            measure=measure,
            a=a,
            b=b,
            n=n[i],
            difference=difference[i],
            low=low[i],
            high=high[i],
            p=p[i],
            adjusted=corrected[i],
            wins=wins[i],
            ties=n[i] - wins[i] - losses[i],
            losses=losses[i],
        )
        for i, (a, b) in enumerate(named)
    )


def draws_for(many: int) -> int:
    """Draws enough for so many tests at once.

    The smallest p that draws can give is 1 / (draws + 1), and a correction multiplies it by the number of tests: from
    250 tests on, 10,000 draws could hardly tell anything apart.
    """
    return min(max(DRAWS, 40 * many), MOST_DRAWS)
