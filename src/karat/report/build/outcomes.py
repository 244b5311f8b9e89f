"""Outcomes: right, abstained or wrong by whether contexts suffice, and how right the surest answers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.core.text.words import number, percent, plural
from karat.report.document import Block, Cell, Column, Table, Value, text_columns
from karat.results.evaluation import Evaluation, OutcomeShare, OutcomeTable, SelectiveAccuracy

_SUFFICIENT = {True: "sufficient", False: "not sufficient", None: "not known"}
ROWS = 6  # in brief
_OUTCOMES = ("right", "abstained", "wrong")


def outcome_blocks(evaluation: Evaluation, systems: Sequence[str] | None = None) -> Iterator[Block]:
    """Tables of outcomes, one for each pair of measures, and the selective accuracy; nothing where there is none."""
    place = {system: i for i, system in enumerate(evaluation.scores.systems if systems is None else systems)}
    tables = sorted((one for one in evaluation.outcomes if one.system in place), key=lambda one: place[one.system])
    for measures in dict.fromkeys((one.sufficient_by, one.outcome_by) for one in tables):
        yield _outcomes([one for one in tables if (one.sufficient_by, one.outcome_by) == measures])
    curves = sorted((one for one in evaluation.selective if one.system in place), key=lambda one: place[one.system])
    if curves:
        yield selective_table(curves)


def _outcomes(tables: Sequence[OutcomeTable]) -> Table:
    first = tables[0]
    rows: list[list[Cell]] = [
        [
            table.system,
            _SUFFICIENT[row.sufficient],
            row.n,
            *(cell for one in row.shares for cell in (one.n, _share(one))),
        ]
        for table in tables
        for row in table.rows
    ]
    columns = [*text_columns("system", "contexts"), Column("n", "count")]
    for name in _OUTCOMES:
        columns += [Column(name, "count"), Column(f"share {name}", "value", hint="of the row, with its 95% interval")]
    left = sum(table.n_left_out for table in tables)
    notes = [
        f"Contexts by {first.sufficient_by}, outcomes by {first.outcome_by}. Shares are of the row [95% interval]."
    ]
    if left:
        notes.append(f"{plural(left, 'answer')} without an outcome, or with repeats evenly divided, left out.")
    return Table("Outcomes by sufficiency of the contexts", columns, rows, most=ROWS, footnotes=notes)


def _share(one: OutcomeShare) -> Cell:
    return Value(one.share, one.low, one.high) if one.share is not None else None


def selective_table(curves: Sequence[SelectiveAccuracy]) -> Table:
    """How many questions each system answers, how many of these rightly, and the area under its curve."""
    rows: list[list[Cell]] = [
        [c.system, c.n, c.answered, c.right, _accuracy(c), number(c.area, 3), _range(c), c.correct_by] for c in curves
    ]
    columns = [
        Column("system"), Column("n", "count", hint="questions with an outcome"),
        Column("answered", "count", hint="the others abstain"), Column("right", "count"),
        Column("right of answered", "percent"),
        Column("area", "score", hint="under accuracy against coverage, the surest answers first"),
        Column("over coverage"), Column("right by", optional=True),
    ]  # fmt: skip
    footnotes = [sentence for curve in curves if (sentence := _said(curve))]
    return Table("Selective accuracy", columns, rows, most=ROWS, footnotes=footnotes)


def _accuracy(curve: SelectiveAccuracy) -> float | None:
    return curve.right / curve.answered if curve.answered else None


def _range(curve: SelectiveAccuracy) -> str:
    end = number(curve.coverage, 3)
    return f"0 to {end}" if curve.area is not None else f"{end} alone"


def _said(curve: SelectiveAccuracy) -> str:
    """What should be known of a curve; nothing where all answers have a confidence."""
    if not curve.answered:
        return f"{curve.system} answers nothing, so there is no accuracy."
    if curve.area is None:
        return f"{curve.system}: no confidences to rank its answers by, so one point instead of a curve."
    if curve.n_without:
        return f"{curve.system}: {plural(curve.n_without, 'answer')} without a confidence stand last, as ties."
    return ""


def selective_sentence(curve: SelectiveAccuracy) -> str:
    """How right the answers of a system are, all of them and the surest first."""
    if not curve.answered:
        return f"{curve.system} abstains from all {plural(curve.n, 'question')}. Right is {curve.correct_by}."
    base = (
        f"{curve.system} answers {curve.answered:,} of {plural(curve.n, 'question')} (coverage "
        f"{number(curve.coverage, 3)}), {percent(_accuracy(curve))} of them rightly"
    )
    if curve.area is None:
        return f"{base}; it gives no confidence to rank them by. Right is {curve.correct_by}."
    mean = number(curve.area / curve.coverage, 3)
    return (
        f"{base}; with the surest first, the area under accuracy is {number(curve.area, 3)} over coverage "
        f"{_range(curve)}, a mean accuracy of {mean}. Right is {curve.correct_by}."
    )
