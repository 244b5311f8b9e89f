"""Differences: printed F, t and p against what the rows give."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose.verify.names import measure_of, spelled
from karat.results.verification import Figure
from karat.stats.anova import anova
from karat.stats.paired_tests import paired_t
from karat.stats.tails import t_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.diagnose.verify.figures import Printed
    from karat.diagnose.verify.rows import Rows

    Floats = NDArray[np.float64]

PAIR = (("a", "b"), ("system_a", "system_b"), ("first", "second"), ("baseline", "system"), ("group1", "group2"))


def check_test(rows: Rows, one: Printed) -> Figure:
    """A printed statistic of a test: of the score that its row names, or the only one there is."""
    name, where = one.statistic, one.where
    labels = {spelled(column): value for column, value in one.labels}
    column = _score(rows, labels)
    if column is None:
        return Figure(where, name, name, "unchecked", one.value, why="which score it is of is not said.")
    candidates = list(_candidates(rows, column, labels, one.statistic))
    for how, value in candidates:
        if one.number.agrees(value) or (one.statistic == "t" and one.number.agrees(-value)):
            return Figure(where, name, name, "ok", one.value, value, why=f"{how} of {column}.")
    if not candidates:
        return Figure(where, name, name, "unchecked", one.value, why="the rows have no such factor or pair.")
    how, value = candidates[0]
    others = f"; so do {len(candidates) - 1} other tests" if len(candidates) > 1 else ""
    why = f"{how} of {column} gives another{others}."
    return Figure(where, name, name, "mismatch", one.value, value, "", why, 1, 1)


def _score(rows: Rows, labels: dict[str, str]) -> str | None:
    for key in ("score", "measure", "metric", "dependent"):
        if key in labels:
            return rows.column_of(labels[key])
    for value in labels.values():
        if measure_of(value, rows.k) is not None and (column := rows.column_of(value)) is not None:
            return column
    measured = [c for c in rows.measured if measure_of(c, rows.k) is not None] or list(rows.measured)
    return measured[0] if len(measured) == 1 else None


def _candidates(rows: Rows, column: str, labels: dict[str, str], statistic: str) -> Iterator[tuple[str, float]]:
    values = rows.values(column)
    known = np.isfinite(values)
    factors = [f for f in rows.labels if spelled(f) in {spelled(v) for v in labels.values()}]
    for factor in factors:
        levels = [level for level, kept in zip(rows.labels[factor], known, strict=True) if kept]
        if len(set(levels)) < 2:
            continue
        found = anova(values[known], {factor: levels}).effects[0]
        if statistic in ("F", "p") and found.f is not None and found.p is not None:
            yield f"one-way analysis of variance by {factor}", found.f if statistic == "F" else found.p
        if statistic in ("F", "p") and rows.id_column is not None:
            ids = [qid for qid, kept in zip(rows.ids, known, strict=True) if kept]
            blocked = anova(values[known], {factor: levels}, blocks=ids).effects[0]
            if blocked.f is not None and blocked.p is not None:
                yield f"the same with questions as blocks, by {factor}", blocked.f if statistic == "F" else blocked.p
        if statistic in ("t", "p") and len(set(levels)) == 2:
            first, second = dict.fromkeys(levels)
            yield from _tests(
                rows, values, _mask(rows.labels[factor], first), _mask(rows.labels[factor], second), statistic
            )
    for left, right in PAIR:
        if left in labels and right in labels:
            sides = [rows.choose((("", labels[side]),)) for side in (left, right)]
            if not any(side.problem for side in sides):
                yield from _tests(rows, values, sides[0].mask, sides[1].mask, statistic)


def _mask(levels: list[str], level: str) -> NDArray[np.bool_]:
    return np.array([one == level for one in levels])


def _tests(
    rows: Rows, values: Floats, first: NDArray[np.bool_], second: NDArray[np.bool_], statistic: str
) -> Iterator[tuple[str, float]]:
    """Paired, Student's and Welch's t of two groups of rows."""
    mine, theirs = (
        {q: v for q, v, kept in zip(rows.ids, values, side, strict=True) if kept and np.isfinite(v)}
        for side in (first, second)
    )
    paired = paired_t(np.array([[theirs[q] - mine[q] for q in mine if q in theirs]]))
    if np.isfinite(paired.t[0]):
        yield "the paired t test", float(paired.t[0] if statistic == "t" else paired.p[0])
    a, b = (values[side & np.isfinite(values)] for side in (first, second))
    if len(a) < 2 or len(b) < 2 or a.var() + b.var() <= 0:
        return
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(a) + len(b) - 2)
    t = float((b.mean() - a.mean()) / math.sqrt(pooled * (1 / len(a) + 1 / len(b))))
    yield "Student's t test", t if statistic == "t" else float(t_tail(t, len(a) + len(b) - 2))
    t, freedom = welch(a, b)
    yield "Welch's t test", t if statistic == "t" else float(t_tail(t, freedom))


def welch(a: Floats, b: Floats) -> tuple[float, float]:
    """Welch's t of b - a, and its degrees of freedom."""
    parts = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
    return float((b.mean() - a.mean()) / math.sqrt(sum(parts))), float(freedom)
