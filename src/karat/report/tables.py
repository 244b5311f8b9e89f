"""Tables: pairs, comparisons, sweeps and calibrations as CSV, for spreadsheets and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.report.outputs.csv import written
from karat.results.serial import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.results.calibration import AppliedCalibration, Calibration
    from karat.results.comparison import Comparison, Pair
    from karat.results.study import SweepView

PAIR = ("measure", "a", "b", "n", "difference", "low", "high", "p", "adjusted", "wins", "ties", "losses")
COMPARED = (
    "measure", "a", "b", "n", "mean_a", "mean_b", "difference", "low", "high", "p", "adjusted", "permutation",
    "wilcoxon", "t", "mcnemar", "tukey", "d", "biserial", "wins", "ties", "losses", "spread", "detectable", "over",
)  # fmt: skip
TESTS = ("p", "adjusted", "permutation", "wilcoxon", "t", "mcnemar", "tukey")
"""What a pair has no value of where no question has one for both."""
MEAN = ("system", "measure", "n", "n_undefined", "n_failed", "mean", "low", "high", "over")
_SETTINGS = ("chunk", "embedder", "engine", "fusion", "alpha", "normalise", "rrf_k", "depth")
_CORRECTED = (
    "system", "n", "n_scored", "measure_mean", "people_mean", "people_low", "people_high", "mean", "low", "high",
    "weight", "effective",
)  # fmt: skip
_NAMES = ("measure", "system", "a", "b")
_COUNTS = ("n", "n_scored", "raters", "wins", "ties", "losses")


def rows_of(results: Sequence[Any], names: Sequence[str]) -> list[list[Any]]:
    """A row for each result, with the fields of these names; none of a test without a question."""
    return [[None if name in TESTS and not one.n else getattr(one, name) for name in names] for one in results]


def pairs(result: Sequence[Pair]) -> str:
    """comparisons.csv: b - a over the questions both have, its interval, p and p after Holm, wins, ties, losses."""
    return _fields(result, PAIR)


def comparison(result: Comparison) -> str:
    """Every pair by every measure."""
    return _fields(result.pairs, COMPARED)


def _fields(results: Sequence[Any], names: Sequence[str]) -> str:
    return _written([dict(zip(names, row, strict=True)) for row in rows_of(results, names)], names)


def calibration(result: Calibration) -> str:
    """One row per measure and system: the mean by the measure, by people, and corrected, with the agreement beside."""
    rows = [
        {
            "measure": one.measure,
            **{name: getattr(system, name) for name in _CORRECTED},
            "raters": len(one.raters),
            "kappa": one.agreement.kappa,
            "kappa_linear": one.agreement.linear,
            "kappa_weighted": one.agreement.weighted,
            "alpha": one.agreement.alpha,
            **{f"alpha_{metric}": alpha for metric, alpha in one.agreement.alphas.items()},
            "alpha_people": one.people.alpha,
            "spearman": one.spearman,
            "tau": None if one.order is None else one.order.tau,
            "bias": one.bias,
            "bias_low": one.bias_low,
            "bias_high": one.bias_high,
            "flips": one.flips,
        }
        for one in result.measures
        for system in one.systems
    ]
    return _written(rows, list(rows[0]) if rows else ["measure", *_CORRECTED])


def applied(result: AppliedCalibration) -> str:
    """One row per measure and system: the mean by the measure, and corrected by labels of other answers."""
    names = [name for name in _CORRECTED if not name.startswith("people")]
    rows = [
        {"measure": one.measure, **{name: getattr(system, name) for name in names}}
        for one in result.measures
        for system in one.systems
    ]
    return _written(rows, ["measure", *names])


def _written(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Rows as CSV; a number that does not exist is an empty cell."""
    import polars as pl

    kinds: dict[str, Any] = dict.fromkeys(_NAMES, pl.String) | dict.fromkeys(_COUNTS, pl.Int64)
    return written(pl.DataFrame(plain(rows), schema={name: kinds.get(name, pl.Float64) for name in names}))


def sweep(view: SweepView) -> str:
    """A row a configuration and cut-off: settings, mean with interval, whether it is best there or equal to it."""
    import polars as pl

    settings = {c.name: c.settings for c in view.configurations}
    equals = {id(choice): {pair.a for pair in choice.equals} for choice in view.choices}
    cells = [(choice, cell) for choice in view.choices for cell in choice.cells]
    rows: dict[str, list[Any]] = {"system": [cell.system for _, cell in cells]}
    for name in _SETTINGS:
        rows[name] = [settings[cell.system].get(name) for _, cell in cells]
    for name in ("measure", "k", "mean", "low", "high", "n"):
        rows[name] = [getattr(cell, name) for _, cell in cells]
    rows["best"] = [cell == choice.best for choice, cell in cells]
    rows["equal"] = [cell.system in equals[id(choice)] for choice, cell in cells]
    return written(pl.DataFrame(plain(rows), strict=False))
