"""Pareto fronts: what systems cost beside their means, which of them no other beats, and whether the best pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10
from typing import TYPE_CHECKING

from karat.core.text.words import NONE, amount, names, number, plural, probability
from karat.report.document import Cell, Column, Detail, Table, Value, write_cell
from karat.results.decisions import can_show_nothing, is_full
from karat.results.pareto import COSTS, STATISTIC

if TYPE_CHECKING:
    from karat.results.comparison import Pair
    from karat.results.evaluation import Evaluation, Usage
    from karat.results.pareto import Cost, ParetoFront, ParetoSaving

PER_QUESTION = {"seconds": "seconds", "tokens": "tokens", "cost_usd": "US dollars"}
LEAST_TIMES = 1.1  # that a system must cost as a multiple of another to be worth a line: times vary by as much
LEAST_SECONDS = 0.1  # that it must take longer for a question: who waits for an answer does not notice less


def cost_columns(evaluation: Evaluation, systems: Sequence[str]) -> list[tuple[Column, Sequence[Cell]]]:
    """A column for each cost that is known of any of the systems; an unknown one is an empty cell, never 0."""
    columns: list[tuple[Column, Sequence[Cell]]] = []
    for cost in COSTS:
        usage = [evaluation.usage_of(system, cost) for system in systems]
        if any(usage):
            cells = cost_cells(usage)
            columns.append((Column(cost, "amount", hint=f"{STATISTIC[cost]} per question"), cells))
    return columns


def cost_cells(usage: Sequence[Usage | None]) -> list[Cell]:
    """What stands for each system; with n where that is of too few questions to be held against the others."""
    most = max((one.n for one in usage if one is not None), default=0)
    return [
        None if one is None else one.typical if is_full(one.n, most) else f"{amount(one.typical)} (n {one.n:,})"
        for one in usage
    ]


def cost_rows(evaluation: Evaluation, systems: Sequence[str]) -> list[list[Cell]]:
    """The same as rows of a table that has a column for each system."""
    return [
        [f"{column.title} ({STATISTIC[column.title]})", *(write_cell(cell, "amount").text for cell in cells)]
        for column, cells in cost_columns(evaluation, systems)
    ]


def cost_notes(costs: Sequence[str]) -> list[str]:
    """What stands for the costs of a system, where any are shown.

    >>> cost_notes(["seconds", "tokens"])
    ['Per question: median (p50) seconds, mean tokens.']
    """
    words = {"p50": "median (p50)", "mean": "mean"}
    shown = [f"{words[STATISTIC[cost]]} {cost}" for cost in costs]
    return [f"Per question: {', '.join(shown)}."] if shown else []


def cost_difference(pair: Pair) -> Value:
    """The mean difference in a cost with its interval, in three digits of the largest of them.

    >>> from karat.results.comparison import Pair
    >>> figures = dict(n=9, p=0.01, adjusted=0.01, wins=9, ties=0, losses=0)
    >>> cost_difference(Pair(measure="tokens", a="a", b="b", difference=1234.5, low=1100.0, high=1300.0, **figures))
    Value(value=1234.5, low=1100.0, high=1300.0, std=None, unit='', signed=True, best=False, mark='', note='', digits=0, share=None)
    """  # noqa: E501
    most = max((abs(one) for one in (pair.difference, pair.low, pair.high) if one), default=1.0)
    digits = max(0, 2 - floor(log10(most)))
    return Value(pair.difference, pair.low, pair.high, signed=True, digits=digits)


def saving_lines(evaluation: Evaluation) -> Iterator[str]:
    """What the best system costs more than one that is not significantly worse: money first, then time, then tokens."""
    order: tuple[Cost, ...] = ("cost_usd", "seconds", "tokens")
    for front in sorted(evaluation.pareto, key=lambda front: order.index(front.cost)):
        best = front.front[-1]
        saving = next((one for one in front.savings if one.system == best), None)
        if saving is not None and _is_worth_telling(front, saving):
            yield saving_sentence(front, saving)
            return


def _is_worth_telling(front: ParetoFront, saving: ParetoSaving) -> bool:
    cost = {point.system: point.cost for point in front.points}
    more = cost[saving.system] - cost[saving.cheaper]
    least = LEAST_SECONDS if front.cost == "seconds" else 0.0
    return more >= least and (saving.times is None or saving.times >= LEAST_TIMES)


def saving_sentence(front: ParetoFront, saving: ParetoSaving) -> str:
    """What a system costs as a multiple of another, for how little.

    "B costs 3.1 times A's seconds (0.31 against 0.1) for a difference of .014 in Recall@5 that is not significant".
    """
    cost = {point.system: point.cost for point in front.points}
    dear, cheap = (amount(cost[name]) for name in (saving.system, saving.cheaper))
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
            point.system, Value(point.value, point.low, point.high, best=point.on_front), point.n, point.cost,
            "yes" if point.on_front else "no", names(point.dominated_by, 2) or NONE,
        ]
        for point in front.points
    ]  # fmt: skip
    columns = [
        Column("system"), Column(front.measure, "value"), Column("n", "count"),
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
        (f"{PER_QUESTION[front.cost]} per question not known, or of too few questions", front.without_cost),
        (f"no mean {front.measure}", front.without_value),
        ("not ranked with the others", front.not_ranked),
    ):
        if systems:
            yield f"Left out, {why}: {names(systems)}."
