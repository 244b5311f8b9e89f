"""Evaluation: every system by every measure, in all and by slices, with what must be known to read the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.core.measure import Measure
from karat.core.text.words import NONE, estimate, figure, names, number, percent
from karat.report.answers import Answers
from karat.report.build._parts import input_items, notes_of, value_of
from karat.report.build.answers import counted, refusals, worst_items
from karat.report.build.labelled import labelled_table
from karat.report.build.outcomes import outcome_blocks
from karat.report.build.pareto import cost_columns, cost_notes, cost_rows, front_table, saving_lines
from karat.report.build.spread import spread
from karat.report.document import (
    Block,
    Cell,
    Column,
    Detail,
    Document,
    Heading,
    Listing,
    ListItem,
    Table,
    Text,
    bullets,
    facts,
)
from karat.report.lookups import EvaluationView
from karat.results.decisions import BARRED, BestSystems, headlines, is_out_of_reach, overlap
from karat.results.evaluation import Evaluation, Matching, Summary, Usage

COLUMNS = 5  # systems as columns; more stand as rows
VERDICTS = 4  # lines in brief
MEASURES = 6  # columns in brief
ROWS = 12  # so few are all shown in brief
SHARES = 8  # systems or matchers in a line
QUIET, FULL = Detail.QUIET, Detail.FULL


def document(evaluation: Evaluation) -> Document:
    """The verdict, the scores, what was read and matched, then everything else."""
    view = EvaluationView(evaluation)
    lines = [*leaders(view), *saving_lines(evaluation), *evaluation.verdicts.values()]
    return Document(
        "Evaluation",
        [
            Heading("Verdict"),
            bullets(lines, most=VERDICTS),
            Heading("Scores", detail=QUIET),
            means(view),
            *labelled_table(view),
            *map(front_table, evaluation.pareto),
            *reach(view),
            *bands(view),
            *spreads(view),
            *targets(evaluation),
            *(slice_table(view, name) for name in view.slices),
            *_answers(evaluation),
            *refusals(evaluation),
            *outcome_blocks(evaluation),
            *usage(evaluation),
            *notes_of(evaluation.notes),
            Heading("Inputs"),
            Listing([*input_items(evaluation.taken), *about(view)]),
        ],
    )


def leaders(view: EvaluationView) -> list[str]:
    """A sentence per headline measure on who leads, where several systems are compared."""
    heads = headlines(view.measures, view.evaluation.dialect)
    return [line for head in heads if (line := leader(head, view.row(head), view.best_systems(head))) is not None]


def leader(head: Measure, row: Sequence[Summary], best: BestSystems) -> str | None:
    """Which system leads in a measure, and whose intervals overlap with its own."""
    leading = [s.system for s in row if s.system in best.best]
    close = [s.system for s in row if s.system in best.near]
    if not leading:
        return None
    first = next(s for s in row if s.system in best.best)
    how = "highest" if head.spec.direction == "higher" else "lowest"
    note = f" ({first.note})" if first.note else ""
    mean = estimate(first.mean, first.low, first.high, unit=head.spec.unit)
    stands = f"{how} {head.name}: {', '.join(leading)}, {mean}{note}"
    if len(leading) == len(row):
        return f"{stands}; all systems tie."
    lacking = [s.system for s in row if s.system in best.barred]
    if close:
        stands += f"; its interval overlaps that of {', '.join(close)}"
    elif (others := [s for s in row if s.system not in (*leading, *lacking)]) and not any(
        s.low is None or overlap(s, first) for s in others
    ):
        stands += "; no other interval overlaps"
    return f"{stands}; not ranked for want of values: {', '.join(lacking)}." if lacking else f"{stands}."


def means(view: EvaluationView) -> Table:
    """The table of means: systems by column while they are few, the main measures first."""
    measures = view.ordered_measures
    if len(view.systems) == 1:
        return _one_system(view, measures)
    if len(view.systems) > COLUMNS:
        return by_system(view, measures, view.systems)
    rows = [[m.name, *(value_of(view, s, m, std=True) for s in view.systems), *_ceiling(view, m)] for m in measures]
    columns = [Column("measure"), *(Column(s, "value") for s in view.systems), *_ceiling_column(view)]
    most, notes = _with_costs(view, rows, columns), legend(view, std=True)
    return Table(_caption(view), columns, rows, most=most, footnotes=notes, detail=QUIET)


def _one_system(view: EvaluationView, measures: Sequence[Measure]) -> Table:
    """A row per measure with its spread, and its band where it has one."""
    system = view.systems[0]
    columns = [Column("measure"), Column(system, "value"), *_ceiling_column(view), Column("±std", "score")]
    columns += [Column(title, "score", detail=FULL) for title in ("25%", "50%", "75%")]
    columns += [Column("worst to best", optional=True), Column("band", optional=True)]
    columns += [Column("meaning", optional=True, detail=FULL)]
    rows: list[list[Cell]] = []
    for measure in measures:
        s, unit = view.summary(system, measure), measure.spec.unit
        if s is not None:
            row: list[Cell] = [measure.name, value_of(view, system, measure), *_ceiling(view, measure)]
            row += [figure(v, unit, 3) for v in (s.std, s.q25, s.q50, s.q75)]
            reached = f"{figure(s.worst, unit, 3)} to {figure(s.best, unit, 3)}" if s.n_failed else ""
            rows.append([*row, reached, s.band or "", s.meaning or ""])
    count = len([m for m in view.key_measures if view.summary(system, m) is not None])
    most = _with_costs(view, rows, columns, count)
    return Table(_caption(view), columns, rows, most=most, footnotes=legend(view), detail=QUIET)


def _with_costs(
    view: EvaluationView, rows: list[list[Cell]], columns: Sequence[Column], key: int | None = None
) -> int | None:
    """Put what the systems cost behind the rows of the key measures; how many rows stand in brief."""
    key = len(view.key_measures) if key is None else key
    costs = [row + [""] * (len(columns) - len(row)) for row in cost_rows(view.evaluation, view.systems)]
    most = _brief(len(rows), key)
    place = len(rows) if most is None else key
    rows[place:place] = costs
    return None if most is None else most + len(costs)


def _ceiling_column(view: EvaluationView) -> list[Column]:
    hint = "the highest mean that any ranking could reach with this gold"
    return [Column("ceiling", "score", hint=hint)] if view.evaluation.ceilings else []


def _ceiling(view: EvaluationView, measure: Measure) -> list[Cell]:
    ceilings = view.evaluation.ceilings
    return [number(ceilings[measure.name], 3) if measure.name in ceilings else ""] if ceilings else []


def _brief(rows: int, main: int) -> int | None:
    """How many rows stand in brief: all while they are few, else those of the main measures."""
    return main if rows > ROWS else None


def by_system(
    view: EvaluationView,
    measures: Sequence[Measure],
    systems: Sequence[str],
    brief: int | None = None,
    more: Sequence[tuple[Column, Sequence[Cell]]] = (),
) -> Table:
    """A row per system; measures beyond the first `brief` wait for more detail. `more` are columns beside them."""
    costs = cost_columns(view.evaluation, systems)
    brief = min(len(view.key_measures), MEASURES - len(costs)) if brief is None else brief
    more = [*costs, *more]
    columns = [Column("system")]
    columns += [
        Column(m.name, "value", detail=QUIET if i < brief else FULL, hint=m.spec.summary)
        for i, m in enumerate(measures)
    ]
    rows: list[list[Cell]] = []
    for place, system in enumerate(systems):
        values = [value_of(view, system, m) for m in measures]
        rows.append([system, *values, *(cells[place] for _, cells in more)])
    columns += [column for column, _ in more]
    notes = [*legend(view), *cost_notes([column.title for column, _ in costs])]
    return Table(_caption(view), columns, rows, footnotes=notes, detail=QUIET)


def _caption(view: EvaluationView) -> str:
    sizes = sorted({s.n for m in view.measures for s in view.row(m)})
    many = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}" if sizes else "no"
    return f"Means over {many} questions with 95% intervals (Wilson or ABC)"


def legend(view: EvaluationView, *, std: bool = False) -> list[str]:
    """What the figures and marks mean."""
    every = [view.best_systems(m) for m in view.measures]
    lines = ["Mean ±standard deviation [95% interval of the mean]."] if std else []
    if any(m.best for m in every):
        lines.append("*: best mean of its measure (all that tie).")
    if any(m.near for m in every):
        lines.append("~: its interval overlaps that of the best.")
    if any(m.barred for m in every):
        lines.append(BARRED)
    if view.evaluation.ceilings and (std or len(view.systems) == 1):
        lines.append("ceiling: the highest mean that any ranking could reach with this gold.")
    return lines


def reach(view: EvaluationView) -> Iterator[Block]:
    """What failed rows could make of the means."""
    rows: list[list[Cell]] = [
        [
            measure.name,
            s.system,
            s.n_failed,
            figure(s.worst, measure.spec.unit, 3),
            figure(s.best, measure.spec.unit, 3),
        ]
        for measure in view.key_measures
        for s in view.row(measure)
        if s.n_failed
    ]
    columns = [Column("measure", pick=True), Column("system"), Column("failed", "count")]
    columns += [Column("lowest mean", "score"), Column("highest mean", "score")]
    caption = "Means if every failed row scored the worst, or the best, there is"
    yield Table(caption, columns, rows, most=len(view.systems), detail=FULL)


def bands(view: EvaluationView) -> Iterator[Block]:
    """The band of each measure that has one, and what the bands mean; one system has them in its table."""
    rows_of = [(m, view.row(m)) for m in view.measures]
    banded = [(m, row) for m, row in rows_of if any(s.band for s in row)]
    if len(view.systems) == 1 or not banded:
        return
    meanings = {f"{m.spec.name} {s.band}": s.meaning for m, row in banded for s in row if s.band and s.meaning}
    rows: list[list[Cell]] = []
    for system in view.systems:
        by_measure = {m.name: s.band for m, row in banded for s in row if s.system == system}
        rows.append([system, *(by_measure.get(m.name) or NONE for m, _ in banded)])
    key = view.key_measures
    columns = [Column("system"), *(Column(m.name, detail=QUIET if m in key else FULL) for m, _ in banded)]
    yield Table("Bands", columns, rows)
    yield facts(((name, str(meaning)) for name, meaning in meanings.items()))


def spreads(view: EvaluationView) -> Iterator[Block]:
    """The sentence on spread and skew, for the headline measure."""
    for measure in view.key_measures[:1]:
        yield Heading(f"Spread of {measure.name}", detail=FULL)
        yield facts(((s.system, f"{line}.") for s in view.row(measure) if (line := spread(s))), detail=FULL)


def targets(evaluation: Evaluation) -> Iterator[Block]:
    """Each target, whether it was met, and whether this gold allows that."""
    rows: list[list[Cell]] = []
    for t in evaluation.targets:
        met = "out of reach" if is_out_of_reach(t) else {True: "met", False: "not met", None: "no value"}[t.met]
        rows.append([t.system, f"{t.measure} > {number(t.threshold, 3).rstrip('0')}", t.value, met, t.ceiling])
    columns = [Column("system"), Column("target", pick=True), Column("mean", "score"), Column("reached", pick=True)]
    yield Table("Targets", [*columns, Column("highest this gold allows", "score")], rows)


def slice_table(view: EvaluationView, name: str) -> Table:
    """A slice: rows by measure and value with a column per system, or by measure and system with one per value."""
    values, wide = view.slices[name], len(view.systems) > COLUMNS
    rows: list[list[Cell]] = []
    for measure in view.ordered_measures:
        cells = {(s, v): value_of(view, s, measure, name, v) for s in view.systems for v in values}
        if wide:
            rows += [[measure.name, system, *(cells[system, v] for v in values)] for system in view.systems]
            continue
        for value in values:
            sizes = dict.fromkeys(f"{s.n:,}" for s in view.row(measure, name, value))
            rows.append([measure.name, value, ", ".join(sizes), *(cells[s, value] for s in view.systems)])
    columns = [Column("measure", pick=True)]
    if wide:
        columns += [Column("system"), *(Column(value, "value") for value in values)]
    else:
        columns += [Column(name, pick=True), Column("n", "count"), *(Column(s, "value") for s in view.systems)]
    return Table(f"By {name}", columns, rows, most=_brief(len(rows), len(view.systems) if wide else len(values)))


def _answers(evaluation: Evaluation) -> Iterator[Block]:
    """The answers of each system counted, and its worst ones."""
    answers = Answers(evaluation)
    for system in answers.systems:
        yield Heading(f"Answers of {system}", depth=3, detail=FULL)
        yield Text(f"{counted(answers, system)}.", detail=FULL)
        yield Listing(worst_items(answers, system), detail=FULL)


def usage(evaluation: Evaluation) -> Iterator[Block]:
    """Seconds, tokens and cost, of what was measured."""
    columns = [Column("system"), Column("what", pick=True), *(Column(title, "amount") for title in Usage.FIGURES)]
    rows = [[u.system, u.what, *u.figures, u.n] for u in evaluation.usage]
    yield Table("Usage per question", [*columns, Column("n", "count")], rows, detail=FULL)


def about(view: EvaluationView) -> Iterator[ListItem]:
    """The dialect, how gold was matched, and how many questions count."""
    evaluation = view.evaluation
    if evaluation.dialect != "karat":
        yield ListItem("dialect", evaluation.dialect)
    if evaluation.matching is not None:
        matching = evaluation.matching
        text = f"{matching.matcher} ({matching.unit}): {matching.why}"
        brief = [matching.unmatchable_line] if matching.unmatchable else []
        brief += [matching.suggestion] if matching.suggestion else []
        yield ListItem("match", text, tuple(brief), more=tuple(_matching(matching)))
    yield from (ListItem("scored", line) for line in _counts(view) or ["no measure was computed"])


def _matching(matching: Matching) -> Iterator[str]:
    if matching.unmatchable:
        yield matching.unmatchable_line
    if matching.share:
        shares = names({system: percent(share) for system, share in matching.share.items()}, SHARES)
        yield f"relevant gold found among the hits: {shares}"
    if matching.others:
        others = names({matcher: percent(share) for matcher, share in matching.others.items()}, SHARES)
        yield f"other matchers would find: {others}"
    if matching.suggestion:
        yield matching.suggestion


def _counts(view: EvaluationView) -> list[str]:
    """n, undefined and failed, once for all measures and systems that share them."""
    lines = []
    for measures, counts in view.counts:
        alike: dict[tuple[int, int, int], list[str]] = {}
        for system, *three in counts:
            alike.setdefault((three[0], three[1], three[2]), []).append(system)
        parts = [
            f"{', '.join(systems) + ': ' if len(alike) > 1 else ''}n {n:,}, {undefined:,} undefined, {failed:,} failed"
            for (n, undefined, failed), systems in alike.items()
        ]
        which = "" if len(measures) == len(view.measures) else f"{_families(view, measures)}: "
        lines.append(which + " · ".join(parts))
    return lines


def _families(view: EvaluationView, measures: Sequence[Measure]) -> str:
    """Names of measures, whole families by their name alone."""
    short: list[str] = []
    for family in view.families:
        inside = [m for m in family if m in measures]
        whole = len(inside) == len(family) > 1
        short += [f"{family[0].spec.name}@*"] if whole else [m.name for m in inside]
    return ", ".join(short)
