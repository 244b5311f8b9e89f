"""Calibration: how far a measure agrees with people, in words first, then the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.text.words import NONE, interval, number, percent, plural, signed
from karat.report.build._parts import inputs_of, notes_of
from karat.report.build.outcomes import selective_sentence, selective_table
from karat.report.document import (
    Block,
    Cell,
    Column,
    Detail,
    Document,
    Heading,
    Table,
    Value,
    bullets,
    count_columns,
    text_columns,
)

if TYPE_CHECKING:
    from karat.results.calibration import (
        Agreement,
        Calibration,
        Confusion,
        CorrectedMean,
        MeasureCalibration,
        Reliability,
        Slant,
        SystemOrder,
    )

_FEW = 5  # answers that people and the measure part on, shown in brief
_SYSTEMS = 10  # shown in brief where judges are compared
_METRICS = ("nominal", "ordinal", "interval", "ratio")
_NEAR = 0.005  # differences below this are none
_SURE = 0.02  # a system whose confidence is this near to how often it is right is about as sure as it is right


def document(calibration: Calibration) -> Document:
    """Each measure against people, judges against each other, then whether systems are as often right as they say."""
    blocks: list[Block] = [inputs_of([calibration.taken, *calibration.others]), *notes_of(calibration.notes)]
    several = len(calibration.measures) > 1 and bool(calibration.pairs)
    blocks += _judge_tables(calibration)
    for one in calibration.measures:
        words = [*agreement_sentences(one), *(mean_sentence(one, system) for system in one.systems)]
        brief = Detail.FULL if several else Detail.QUIET
        blocks += [Heading(f"{one.measure} against people", detail=brief), bullets(words, detail=brief)]
        tables = [_figures(one), *_confusion(one.confusion, "people", "measure"), _means(one), *_parted(one)]
        blocks += [*notes_of(one.notes), *_slant_tables(one)]
        blocks += [replace(table, detail=Detail.FULL) for table in tables] if several else tables
    for pair in calibration.pairs:
        shown = _confusion(pair.confusion, pair.a, pair.b)
        blocks += [replace(table, caption=f"{pair.a} and {pair.b}", detail=Detail.FULL) for table in shown]
    if calibration.reliability:
        words = [confidence_sentence(reliability) for reliability in calibration.reliability]
        blocks += [Heading("Confidence", detail=Detail.QUIET), bullets(words, detail=Detail.QUIET)]
        blocks += [_bins(reliability) for reliability in calibration.reliability]
    if calibration.selective:
        words = [selective_sentence(curve) for curve in calibration.selective]
        blocks += [Heading("Selective accuracy", detail=Detail.QUIET), bullets(words, detail=Detail.QUIET)]
        blocks += [selective_table(calibration.selective)]
    return Document(f"{calibration.run} against people", blocks)


def _figures(one: MeasureCalibration) -> Table:
    """Agreement of the measure with people beside that of people with each other."""
    both = (one.agreement, one.people)
    rows: list[list[Cell]] = [["answers rated by both", *(f"{a.n:,}" for a in both)]]
    rows.append(["Cohen's kappa", *(Value(a.kappa, a.low, a.high) for a in both)])
    if any(a.weighted is not None for a in both):
        rows.append(["kappa, linear weights", *(Value(a.linear, a.linear_low, a.linear_high) for a in both)])
        rows.append(["kappa, quadratic weights", *(Value(a.weighted, a.weighted_low, a.weighted_high) for a in both)])
    rows += [["alpha", *map(_alpha, both)], ["Spearman", Value(one.spearman), NONE]]
    bias = f"{signed(one.bias, 3)} {interval(one.bias_low, one.bias_high, 3)}".rstrip()
    rows.append(["bias (measure - people)", bias, NONE])
    if one.order is not None and one.order.n > 1:
        rows.append([f"tau of {one.order.n} systems", Value(one.order.tau, one.order.low, one.order.high), NONE])
    if one.n_repeated:
        rows.append([f"flips over {one.n_repeated:,} repeated", percent(one.flips), NONE])
    titles = ("measure and people", "people and people")
    return Table("Agreement", [Column(""), *(Column(title, "value") for title in titles)], rows)


def _alpha(agreement: Agreement) -> Cell:
    return Value(agreement.alpha, note=f"({agreement.metric})") if agreement.alpha is not None else None


def _confusion(confusion: Confusion | None, rows: str, columns: str) -> Iterator[Table]:
    if confusion is not None:
        titles = [Column(""), *count_columns(*(f"{columns} {name}" for name in confusion.names))]
        named = zip(confusion.names, confusion.counts, strict=True)
        yield Table("Answers by category", titles, [[f"{rows} {name}", *counts] for name, counts in named])


def _means(one: MeasureCalibration) -> Table:
    rows: list[list[Cell]] = [
        [
            system.system, f"{system.n:,} of {system.n_scored:,}", Value(system.measure_mean),
            Value(system.people_mean, system.people_low, system.people_high),
            Value(system.mean, system.low, system.high),
            None if system.effective is None else round(system.effective),
        ]
        for system in one.systems
    ]  # fmt: skip
    figures = [Column(title, "value") for title in ("labelled", "measure alone", "people alone", "corrected")]
    columns = [Column("system"), *figures, Column("worth labels", "count")]
    return Table(f"Mean {one.measure}", columns, rows, detail=Detail.QUIET)


def _parted(one: MeasureCalibration) -> Iterator[Table]:
    """The answers that people and the measure put into different categories, the farthest apart first."""
    off = sorted(one.confusion.off if one.confusion else (), key=lambda answer: -abs(answer.people - answer.score))
    rows = [(a.system, a.question, number(a.people, 3), number(a.score, 3)) for a in off]
    columns = [*text_columns("system", "question"), Column("people", "score"), Column("measure", "score")]
    yield Table("Answers in different categories", columns, rows, most=_FEW)


def _bins(bins: Reliability) -> Table:
    rows = [
        (f"{one.low:.1f} to {one.high:.1f}", one.n, number(one.confidence, 3), number(one.accuracy, 3))
        for one in bins.bins
    ]
    columns = [Column("confidence"), Column("answers", "count"), Column("mean confidence", "score")]
    return Table(f"Confidence of {bins.system}", [*columns, Column("right", "score")], rows)


def agreement_sentences(one: MeasureCalibration) -> list[str]:
    """How many labels there are, how far people agree, how far the measure agrees with them, and by what cut."""
    raters = plural(len(one.raters), "rater")
    sentences = [
        f"{plural(one.n_labels, 'label')} by {raters} of {plural(one.n_items, 'answer')}, {one.n_scored:,} of them "
        "with a score."
    ]
    if one.people.n:
        kappa = "" if one.people.kappa is None else f", kappa {number(one.people.kappa, 3)}"
        alpha = number(one.people.alpha, 3)
        sentences.append(f"People agree with each other: alpha {alpha}{kappa} on {one.people.n:,} answers.")
    sentences += [f"Among people {reason}." for reason in one.people.why]
    sentences += [f"Measure and people: {reason}." for reason in one.agreement.why]
    if one.confusion is not None and one.agreement.n:
        sentences.append(_same(one.confusion))
    if one.order is not None and one.order.n > 1 and one.order.why:
        sentences.append(f"Tau of systems: {one.order.why}.")
    if one.agreement.alpha is not None and one.people.alpha is not None:
        if one.agreement.alpha >= one.people.alpha:
            sentences.append("The measure agrees with people no less than they do with each other.")
        else:
            sentences.append("People agree with each other more than the measure does with them.")
    return sentences


def _same(table: Confusion) -> str:
    total = sum(sum(row) for row in table.counts)
    same = sum(row[i] for i, row in enumerate(table.counts))
    cuts = ", ".join(f"{number(cut, 3)} for {name}" for cut, name in zip(table.cuts, table.names[1:], strict=True))
    how = "" if table.is_exact else f"; its scores are cut halfway between the labels, from {cuts}"
    return f"The measure puts {same:,} of {total:,} answers ({percent(same / total)}) where people do{how}."


def mean_sentence(one: MeasureCalibration, system: CorrectedMean) -> str:
    """What the measure says of a system, and what it is corrected by people."""
    says = f"{system.system}: {one.measure} says {number(system.measure_mean, 3)}"
    if system.mean is None or system.measure_mean is None:
        return f"{says}; not corrected: {system.why}."
    mean = f"{number(system.mean, 3)} {interval(system.low, system.high, 3)}".rstrip()
    corrected = f"{says}; corrected by {plural(system.n, 'label')}: {mean}"
    return f"{corrected}; {_correction(system.measure_mean - system.mean, system)}{_worth(system)}."


def _correction(gap: float, system: CorrectedMean) -> str:
    if abs(gap) < _NEAR:
        return "it needs no correction"
    towards = "too high" if gap > 0 else "too low"
    sure = system.low is not None and system.high is not None and system.measure_mean is not None
    inside = sure and (system.low or 0.0) <= (system.measure_mean or 0.0) <= (system.high or 0.0)
    return f"the measure is {number(abs(gap), 3)} {towards}" + (", which may be chance" if inside else "")


def _worth(system: CorrectedMean) -> str:
    if system.low is None or system.high is None:
        return "; all labels are the same, so there is no interval"
    if system.effective is None:
        return ""
    if system.n >= system.n_scored:
        return "; every scored answer is labelled, so the measure adds nothing"
    if system.effective < 1.05 * system.n:
        return "; the measure adds nothing to the labels alone"
    return f"; as sure as {system.effective:,.0f} labels alone would be"


def confidence_sentence(bins: Reliability) -> str:
    """Whether a system is as often right as it says."""
    gap = bins.confidence - bins.accuracy
    how = "about as sure as it is right" if abs(gap) < _SURE else "too sure of itself" if gap > 0 else "not sure enough"
    left = f"; {bins.n_left_out:,} answers with a confidence are left out" if bins.n_left_out else ""
    return (
        f"{bins.system} is {how}: mean confidence {number(bins.confidence, 3)}, right in {percent(bins.accuracy)} of "
        f"{plural(bins.n, 'answer')}; expected calibration error {number(bins.ece_width, 3)} (bins of equal width), "
        f"{number(bins.ece_mass, 3)} (of equal size); Brier {number(bins.brier, 3)}. Right is {bins.correct_by}{left}."
    )


def _judge_tables(calibration: Calibration) -> Iterator[Block]:
    """All judges in a few tables, where judges were compared: agreement, the order of systems, corrected means."""
    measures, pairs = calibration.measures, calibration.pairs
    if pairs or any(one.slants for one in measures):
        yield bullets(_judge_sentences(calibration), detail=Detail.QUIET)
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
    return Table(
        "Means of systems", [Column("system"), *(Column(title, "value") for title in titles)], rows, most=_SYSTEMS
    )


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


def _judge_sentences(calibration: Calibration) -> list[str]:
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
        sentences += [_slant_sentence(one, slant) for slant in one.slants if _is_sure(slant)]
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


def _slant_sentence(one: MeasureCalibration, slant: Slant) -> str:
    """How much more a judge leans to long answers, or to those in the last position, than people do."""
    gap = f"{signed(slant.difference, 2)} {interval(slant.low, slant.high, 2)}".rstrip()
    ends = f"{slant.groups[-1].name} against {slant.groups[0].name}"
    return f"{one.measure} is biased by {slant.by}: judge - people differs by {gap}, {ends}."


def _slant_tables(one: MeasureCalibration) -> Iterator[Table]:
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
