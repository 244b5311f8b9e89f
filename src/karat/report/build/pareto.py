"""Pareto fronts: what systems cost beside their means, which of them no other beats, and whether the best pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import NONE, amount, names, number, plural, probability
from karat.report.document import Cell, Column, Detail, Table, Value, write_cell
from karat.results.decisions import can_show_nothing
from karat.results.pareto import COSTS, STATISTIC

if TYPE_CHECKING:
    from karat.results.evaluation import Evaluation
    from karat.results.pareto import Cost, ParetoFront, ParetoSaving

PER_QUESTION = {"seconds": "seconds", "tokens": "tokens", "cost_usd": "US dollars"}
LEAST_TIMES = 1.1  # that a system must cost as a multiple of another to be worth a line: times vary by as much


def cost_columns(evaluation: Evaluation, systems: Sequence[str]) -> list[tuple[Column, Sequence[Cell]]]:
    """A column for each cost that is known of any of the systems; an unknown one is an empty cell, never 0."""
    columns: list[tuple[Column, Sequence[Cell]]] = []
    for cost in COSTS:
        usage = [evaluation.usage_of(system, cost) for system in systems]
        if any(usage):
            cells = [None if one is None else _rounded(one.typical) for one in usage]
            columns.append((Column(cost, "amount", hint=f"{STATISTIC[cost]} per question"), cells))
    return columns


def cost_rows(evaluation: Evaluation, systems: Sequence[str]) -> list[list[Cell]]:
    """The same as rows of a table that has a column for each system."""
    return [
        [f"{column.title} ({STATISTIC[column.title]})", *(write_cell(cell, "amount").text for cell in cells)]
        for column, cells in cost_columns(evaluation, systems)
    ]


def _rounded(cost: float) -> float:
    """The cost in three digits, which is more than times are worth."""
    return float(f"{cost:.3g}")


def cost_notes(columns: Sequence[tuple[Column, Sequence[Cell]]]) -> list[str]:
    """What stands for the costs of a system, where any are shown."""
    shown = [column.title for column, _ in columns]
    return [f"{names(shown, conjunction='and')}: {'; '.join(_statistics(shown))}, per question."] if shown else []


def _statistics(costs: Sequence[str]) -> Iterator[str]:
    if "seconds" in costs:
        yield "the median (p50) of seconds" if len(costs) > 1 else "the median (p50)"
    if others := [cost for cost in costs if cost != "seconds"]:
        yield f"the mean of {' and '.join(others)}" if len(costs) > 1 else "the mean"


def saving_lines(evaluation: Evaluation) -> Iterator[str]:
    """What the best system costs more than one that is not significantly worse: money first, then time, then tokens."""
    order: tuple[Cost, ...] = ("cost_usd", "seconds", "tokens")
    for front in sorted(evaluation.pareto, key=lambda front: order.index(front.cost)):
        best = front.front[-1]
        saving = next((one for one in front.savings if one.system == best), None)
        if saving is not None and (saving.times is None or saving.times >= LEAST_TIMES):
            yield saving_sentence(front, saving)
            return


def saving_sentence(front: ParetoFront, saving: ParetoSaving) -> str:
    """What a system costs as a multiple of another, for how little.

    "B costs 3.1 times A's seconds (0.31 against 0.1) for a difference of .014 in Recall@5 that is not significant".
    """
    cost = {point.system: point.cost for point in front.points}
    dear, cheap = (amount(_rounded(cost[name])) for name in (saving.system, saving.cheaper))
    much = f"{saving.times:,.3g} times" if saving.times is not None else "more than"
    few = "; so few questions can show none" if can_show_nothing(1, saving.n) else ""
    return (
        f"{saving.system} costs {much} {saving.cheaper}'s {front.cost} per question ({dear} against {cheap}) for a "
        f"difference in {front.measure} that is not significant ({number(saving.difference, 3)}, p "
        f"{probability(saving.adjusted)}, {plural(saving.n, 'question')}{few})."
    )


def front_table(front: ParetoFront) -> Table:
    """Systems of a front and those behind it, the cheapest first."""
    rows: list[list[Cell]] = [
        [
            point.system, Value(point.value, point.low, point.high, best=point.on_front), _rounded(point.cost),
            "yes" if point.on_front else "no", names(point.dominated_by, 2) or NONE,
        ]
        for point in front.points
    ]  # fmt: skip
    columns = [
        Column("system"), Column(front.measure, "value"),
        Column(front.cost, "amount", hint=f"{front.statistic} per question"),
        Column("on front", pick=True), Column("dominated by"),
    ]  # fmt: skip
    caption = f"Pareto front ({front.measure} against {PER_QUESTION[front.cost]} per question, {front.statistic})"
    notes = [
        "On the front: no other system is at least as good in both and better in one.",
        *(saving_sentence(front, saving) for saving in front.savings),
        *left_out_sentences(front),
    ]
    return Table(caption, columns, rows, footnotes=notes, detail=Detail.FULL)


def left_out_sentences(front: ParetoFront) -> Iterator[str]:
    """The systems that are no points of a front, and why."""
    for why, systems in (
        (f"{PER_QUESTION[front.cost]} per question not known", front.without_cost),
        (f"no mean {front.measure}", front.without_value),
        ("not ranked with the others", front.not_ranked),
    ):
        if systems:
            yield f"Left out, {why}: {names(systems)}."
