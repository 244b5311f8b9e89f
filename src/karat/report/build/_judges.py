"""Judges compared: each with people and with each other, in one table, and what each leans to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import NONE, interval, number, plural, signed
from karat.report.document import Block, Cell, Column, Detail, Table, Value, bullets

if TYPE_CHECKING:
    from karat.results.calibration import Agreement, Calibration, MeasureCalibration, Slant, SystemOrder

_FEW = 10  # systems shown in brief
_METRICS = ("nominal", "ordinal", "interval", "ratio")


def judge_tables(calibration: Calibration) -> Iterator[Block]:
    """All judges in a few tables, where judges were compared: agreement, the order of systems, corrected means."""
    measures, pairs = calibration.measures, calibration.pairs
    if pairs or any(one.slants for one in measures):
        yield bullets(judge_sentences(calibration), detail=Detail.QUIET)
    if not pairs:
        return
    rows = [
        (f"{one.measure}, people", one.agreement, one.order, (one.bias, one.bias_low, one.bias_high))
        for one in measures
    ]
    rows += [
        (f"{pair.b}, {pair.a}", pair.agreement, pair.order, (pair.difference, pair.low, pair.high)) for pair in pairs
    ]
    yield Table("Agreement", _COLUMNS, [_row(*row) for row in rows], detail=Detail.QUIET)
    yield Table(
        "Krippendorff's alpha",
        [Column(""), *(Column(metric, "value") for metric in _METRICS)],
        [[name, *(Value(agreement.alphas.get(metric)) for metric in _METRICS)] for name, agreement, *_ in rows],
    )
    if measures:
        yield _corrected(measures)


def _corrected(measures: Sequence[MeasureCalibration]) -> Table:
    """The mean of each system by people, and by each judge corrected by them."""
    systems = dict.fromkeys(system.system for one in measures for system in one.systems)
    means = [{system.system: system for system in one.systems} for one in measures]
    rows: list[list[Cell]] = []
    for name in systems:
        alone = next(of[name] for of in means if name in of)
        judged = [of.get(name) for of in means]
        rows.append(
            [
                name,
                Value(alone.people_mean, alone.people_low, alone.people_high),
                *(None if mean is None else Value(mean.mean, mean.low, mean.high) for mean in judged),
            ]
        )
    titles = ["people alone", *(f"{one.measure}, corrected" for one in measures)]
    return Table("Means of systems", [Column("system"), *(Column(title, "value") for title in titles)], rows, most=_FEW)


_COLUMNS = [
    Column(""),
    Column("answers", "count"),
    *(Column(title, "value") for title in ("kappa", "linear", "quadratic", "tau of systems", "mean difference")),
]


def _row(
    name: str,
    agreement: Agreement,
    order: SystemOrder | None,
    gap: tuple[float | None, float | None, float | None],
) -> Sequence[Cell]:
    return [
        name,
        agreement.n,
        Value(agreement.kappa, agreement.low, agreement.high),
        Value(agreement.linear),
        Value(agreement.weighted, agreement.weighted_low, agreement.weighted_high),
        NONE if order is None else Value(order.tau, order.low, order.high),
        NONE if gap[0] is None else f"{signed(gap[0], 2)} {interval(gap[1], gap[2], 2)}".rstrip(),
    ]


def judge_sentences(calibration: Calibration) -> list[str]:
    """Which judge agrees with people most, and what of the figures is not to be had."""
    sentences = []
    known = [one for one in calibration.measures if one.agreement.alpha is not None]
    if len(known) > 1:
        best = max(known, key=lambda one: one.agreement.alpha or 0.0)
        sentences.append(
            f"Highest alpha with people: {best.measure}, {number(best.agreement.alpha, 3)} "
            f"({best.agreement.metric}) on {plural(best.agreement.n, 'answer')}."
        )
    for one in calibration.measures:
        sentences += _reasons(f"{one.measure} and people", one.agreement, one.order)
        sentences += [slant_sentence(one, slant) for slant in one.slants if _is_sure(slant)]
    for pair in calibration.pairs:
        sentences += _reasons(f"{pair.a} and {pair.b}", pair.agreement, pair.order)
    return list(dict.fromkeys(sentences))


def _reasons(who: str, agreement: Agreement, order: SystemOrder | None) -> list[str]:
    reasons = [f"{who}: {reason}." for reason in agreement.why]
    if order is not None and order.why and agreement.n:
        reasons.append(f"Tau, {who}: {order.why}.")
    return reasons


def _is_sure(slant: Slant) -> bool:
    """Whether the interval of the difference leaves 0 out."""
    return slant.low is not None and slant.high is not None and not slant.low <= 0 <= slant.high


def slant_sentence(one: MeasureCalibration, slant: Slant) -> str:
    """How much more a judge leans to long answers, or to those in the last position, than people do."""
    gap = f"{signed(slant.difference, 2)} {interval(slant.low, slant.high, 2)}".rstrip()
    ends = f"{slant.groups[-1].name} against {slant.groups[0].name}"
    return f"{one.measure} is biased by {slant.by}: judge - people differs by {gap}, {ends}."


def slant_tables(one: MeasureCalibration) -> Iterator[Table]:
    """The bias of a judge by the length of the answer, and by its position."""
    rows: list[Sequence[Cell]] = [
        [
            group.name, group.n, Value(group.judge_mean), Value(group.people_mean),
            f"{signed(group.bias, 2)} {interval(group.low, group.high, 2)}".rstrip(),
        ]
        for slant in one.slants
        for group in slant.groups
    ]  # fmt: skip
    if rows:
        titles = [Column(title, "value") for title in ("judge", "people", "judge - people")]
        yield Table(
            f"{one.measure} by length and position",
            [Column(""), Column("answers", "count"), *titles],
            rows,
            detail=Detail.FULL,
        )
