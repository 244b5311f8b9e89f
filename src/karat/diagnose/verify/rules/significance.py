"""Tests of significance: printed F, t and p against what the rows give."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from karat.diagnose.verify.names import measure_of, spelled
from karat.diagnose.verify.printed import PrintedFigure
from karat.diagnose.verify.rows import Bools, Floats, QuestionRows
from karat.results.verification import Figure
from karat.stats.anova import anova
from karat.stats.paired_tests import paired_t
from karat.stats.tails import t_tail

PAIRS = (("a", "b"), ("system_a", "system_b"), ("first", "second"), ("baseline", "system"), ("group1", "group2"))


def check_test(rows: QuestionRows, one: PrintedFigure) -> Figure:
    """A printed statistic of a test: of the score that its row names, or the only one there is."""
    labels = {spelled(column): value for column, value in one.labels}
    column = _score(rows, labels)
    if column is None:
        return one.figure("unchecked", "which score it is of is not said.")
    candidates = [(how, value) for how, name, value in _candidates(rows, column, labels) if name == one.statistic]
    for how, value in candidates:
        if one.number.agrees(value) or (one.statistic == "t" and one.number.agrees(-value)):
            return one.figure("ok", f"{how} of {column}.", recomputed=value)
    if not candidates:
        return one.figure("unchecked", "the rows have no such factor or pair.")
    how, value = candidates[0]
    others = f"; so do {len(candidates) - 1} other tests" if len(candidates) > 1 else ""
    return one.figure("mismatch", f"{how} of {column} gives another{others}.", recomputed=value)


def _score(rows: QuestionRows, labels: dict[str, str]) -> str | None:
    for key in ("score", "measure", "metric", "dependent"):
        if key in labels:
            return rows.column_of(labels[key])
    for value in labels.values():
        if measure_of(value, rows.k) is not None and (column := rows.column_of(value)) is not None:
            return column
    measured = [c for c in rows.measured if measure_of(c, rows.k) is not None] or list(rows.measured)
    return measured[0] if len(measured) == 1 else None


def _candidates(rows: QuestionRows, column: str, labels: dict[str, str]) -> Iterator[tuple[str, str, float]]:
    """Each test that the labels may mean: its name, which statistic of it, and the value."""
    values = rows.values(column)
    known = np.flatnonzero(np.isfinite(values)).tolist()
    wanted = {spelled(value) for value in labels.values()}
    for factor, all_levels in rows.labels.items():
        levels = [all_levels[i] for i in known]
        if spelled(factor) not in wanted or len(set(levels)) < 2:
            continue
        designs = [("one-way analysis of variance", list[str]())]
        if rows.id_column is not None:
            designs.append(("the same with questions as blocks,", [rows.ids[i] for i in known]))
        for how, blocks in designs:
            effect = anova(values[known], {factor: levels}, blocks=blocks).effects[0]
            if effect.f is not None and effect.p is not None:
                yield f"{how} by {factor}", "F", effect.f
                yield f"{how} by {factor}", "p", effect.p
        if len(set(levels)) == 2:
            first, second = (np.array([one == level for one in all_levels]) for level in dict.fromkeys(levels))
            yield from _t_tests(rows, values, first, second)
    for left, right in PAIRS:
        if left in labels and right in labels:
            a, b = (rows.choose((("", labels[side]),)) for side in (left, right))
            if not a.problem and not b.problem:
                yield from _t_tests(rows, values, a.mask, b.mask)


def _t_tests(rows: QuestionRows, values: Floats, first: Bools, second: Bools) -> Iterator[tuple[str, str, float]]:
    """Paired, Student's and Welch's t of two groups of rows, and the p of each."""
    known = np.isfinite(values)
    mine, theirs = ({rows.ids[i]: values[i] for i in np.flatnonzero(side & known)} for side in (first, second))
    paired = paired_t(np.array([[theirs[q] - mine[q] for q in mine if q in theirs]]))
    if np.isfinite(paired.t[0]):
        yield "the paired t test", "t", float(paired.t[0])
        yield "the paired t test", "p", float(paired.p[0])
    a, b = values[first & known], values[second & known]
    if len(a) < 2 or len(b) < 2 or a.var() + b.var() <= 0:
        return
    freedom = len(a) + len(b) - 2
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / freedom
    squares = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    welch = sum(squares) ** 2 / (squares[0] ** 2 / (len(a) - 1) + squares[1] ** 2 / (len(b) - 1))
    for how, variance, df in (
        ("Student's t test", pooled * (1 / len(a) + 1 / len(b)), freedom), ("Welch's t test", sum(squares), welch),
    ):  # fmt: skip
        t = float((b.mean() - a.mean()) / math.sqrt(variance))
        yield how, "t", t
        yield how, "p", float(t_tail(t, df))
