"""Compare: every figure between pairs of systems over the same questions, for many pairs and measures at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from karat.stats.common_draws import differences, drawn_pairs
from karat.stats.corrections import Correction, adjust
from karat.stats.mcnemar import is_all_or_nothing, mcnemar
from karat.stats.paired_t import paired_t
from karat.stats.permutation import DRAWS, TIE
from karat.stats.tukey import tukey
from karat.stats.wilcoxon import wilcoxon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Test = Literal["permutation", "wilcoxon", "t", "tukey"]
TESTS: tuple[Test, ...] = get_args(Test)
_HELD = 2**22


@dataclass(frozen=True)
class Compared:
    """Measures x pairs of each figure of b - a; NaN where there is no such number.

    `wins` are questions on which b is better, by the direction of the measure.
    """

    n: Ints
    difference: Floats
    spread: Floats  # standard deviation of the differences
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
        found: Floats = getattr(self, test)
        return np.where(np.isnan(found), self.permutation, found)

    def adjusted(self, test: Test, method: Correction) -> Floats:
        """p of a test corrected over all pairs and measures.

        Tukey's p is corrected over the pairs of its measure already: it is multiplied by the number of measures.
        """
        p = self.p(test)
        if test == "tukey":
            return p if method == "none" else np.minimum(p * len(p), 1.0)
        return adjust(p.ravel(), method).reshape(p.shape)


def compare_systems(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    lower: Sequence[bool] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    with_tukey: bool = True,
) -> Compared:
    """Compare pairs (a, b) of systems; `values` are measures x systems x questions, in an order of the questions' own.

    What is not finite is no value: a question counts for a pair where both have one. `lower` says by which measures
    less is better. McNemar's test is there where all values of a measure are 0 or 1, Tukey's of more than two systems.
    """
    measures, systems, questions = values.shape
    shape = (measures, len(pairs))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    drawn = drawn_pairs(values, pairs, draws=draws, seed=seed)
    numbers = {name: np.full(shape, np.nan) for name in ("difference", "spread", "wilcoxon", "t", "d", "biserial")}
    more = {name: np.full(shape, np.nan) for name in ("mcnemar", "tukey")}
    counts = {name: np.zeros(shape, np.int64) for name in ("n", "wins", "losses")}
    step = max(1, _HELD // max(questions, 1))
    for measure in range(measures):
        ours = -1.0 if lower is not None and lower[measure] else 1.0
        for start in range(0, len(pairs), step):
            part = (measure, slice(start, start + step))
            apart = differences(values[measure], first[part[1]], second[part[1]])
            student, ranked = paired_t(apart), wilcoxon(apart)
            counts["n"][part] = student.n
            counts["wins"][part] = (ours * apart > TIE).sum(axis=1)
            counts["losses"][part] = (ours * apart < -TIE).sum(axis=1)
            numbers["difference"][part], numbers["spread"][part] = student.mean, student.spread
            numbers["t"][part], numbers["d"][part] = student.p, student.d
            numbers["wilcoxon"][part], numbers["biserial"][part] = ranked.p, ranked.biserial
        if is_all_or_nothing(values[measure]):
            more["mcnemar"][measure] = mcnemar(counts["wins"][measure], counts["losses"][measure])
        if with_tukey and systems > 2:
            more["tukey"][measure] = tukey(values[measure], draws=draws, seed=seed)[first, second]
    return Compared(
        counts["n"], numbers["difference"], numbers["spread"], drawn.low, drawn.high, drawn.p, numbers["wilcoxon"],
        numbers["t"], more["mcnemar"], more["tukey"], numbers["d"], numbers["biserial"], counts["wins"],
        counts["losses"],
    )  # fmt: skip
