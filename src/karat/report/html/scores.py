"""Scores: every system by every measure with intervals, then cut-offs, targets and times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.report._numbers import NONE, amount, deviation, figure, interval, number
from karat.report.html._markup import Box, Column, Row, section, table, text
from karat.report.html._shown import Shown, probability
from karat.results.evaluation import Usage

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.report._view import Marks
    from karat.results.evaluation import Summary
    from karat.results.study import Choice


def make(shown: Shown) -> str:
    """The tables of figures."""
    return section("scores", "Scores", "".join(_parts(shown)), _legend(shown))


def cell(measure: Measure, s: Summary | None, marks: Marks) -> str | Box:
    """A mean with its mark and interval, and a bar for its place in the measure's range."""
    if s is None or s.mean is None:
        return NONE
    sign, word = ("*", "best") if s.system in marks.best else ("~", "near") if s.system in marks.near else ("", "")
    mean = f"{figure(measure, s.mean)}{sign}"
    mean = f"<b>{mean}</b>" if word == "best" else mean
    low, high = measure.bounds
    share = (s.mean - low) / (high - low) if 0 < high - low < float("inf") else None
    bar = f'<i style="--v:{min(max(share, 0), 1):.3f}"></i>' if share is not None else ""
    note = f" <small>{text(s.note)}</small>" if s.note else ""
    return Box(f"{mean} <small>{interval(measure, s.low, s.high)}</small>{note}{bar}", s.mean, word)


def _legend(shown: Shown) -> str:
    several = len(shown.view.systems) > 1
    marks = " * marks the best mean of a measure, ~ one whose interval overlaps that of the best." if several else ""
    return f"Means over the questions with their 95% intervals.{marks} Click a column's title to sort by it."


def _parts(shown: Shown) -> Iterator[str]:
    yield _systems(shown)
    choice = shown.study.choice
    if choice is not None and len(choice.cells) > 1:
        yield _configurations(shown, choice)
    yield _targets(shown)
    yield _times(shown)


def _systems(shown: Shown) -> str:
    key = shown.key_measures
    measures = [*key, *(m for m in shown.view.measures if m not in key)]
    marks = {m.name: shown.view.marks(m) for m in measures}
    alphas = any(shown.alpha(s) is not None for s in shown.view.systems)
    columns = [Column("system")]
    if alphas:
        columns.append(Column("alpha", number=True, hint="weight of the dense leg: 1 is dense alone, 0 is words alone"))
    columns += [Column(text(m.name), number=True, extra=m not in key, hint=text(m.spec.summary)) for m in measures]
    columns += [
        Column("n", number=True, hint="questions with a value, by the main measure"),
        Column("undefined", number=True, hint="questions where the main measure has no meaning"),
        Column("failed", number=True, hint="questions where something broke"),
    ]
    rows: list[Row] = []
    for system in shown.ranking:
        row: list[str | Box] = [_name(shown, system)]
        if alphas:
            alpha = shown.alpha(system)
            row.append(NONE if alpha is None else f"{alpha:g}")
        row += [cell(m, shown.view.summary(system, m), marks[m.name]) for m in measures]
        whole = shown.view.summary(system, shown.main) if shown.main is not None else None
        row += [NONE] * 3 if whole is None else [f"{n:,}" for n in (whole.n, whole.n_undefined, whole.n_failed)]
        rows.append(row)
    return table("Systems by measure", columns, rows) + _reach(shown)


def _name(shown: Shown, system: str) -> str:
    found = shown.configuration_of.get(system)
    said = " ".join(text(part) for part in (found.description, found.use_case) if part) if found is not None else ""
    return f'<span title="{said}">{text(system)}</span>' if said else text(system)


def _reach(shown: Shown) -> str:
    """What failed rows could make of the means."""
    measure = shown.main
    found = [s for s in shown.view.row(measure) if s.n_failed] if measure is not None else []
    if measure is None or not found:
        return ""
    rows = [[text(s.system), f"{s.n_failed:,}", deviation(measure, s.worst), deviation(measure, s.best)] for s in found]
    columns = [Column("system"), *(Column(t, number=True) for t in ("failed", "lowest mean", "highest mean"))]
    return table(f"{text(measure.name)} if every failed row scored the worst, or the best, there is", columns, rows)


def _configurations(shown: Shown, choice: Choice) -> str:
    best = choice.best
    against = {}
    standings = {
        "not significantly different": choice.equals,
        "behind": choice.beaten,
        "ahead, but barred": choice.ahead,
    }
    for word, pairs in standings.items():
        for pair in pairs:
            gap = shown.difference(pair).lstrip("+-")
            against[pair.a] = f"{word}: {gap}, p {probability(pair.adjusted)}"
    rows: list[Row] = []
    place = {system: i for i, system in enumerate(shown.ranking)}
    for c in sorted(choice.cells, key=lambda c: place[c.system]):
        alpha = shown.alpha(c.system)
        measure = shown.measure_of(c)
        low, high = measure.bounds if measure is not None else (0.0, 1.0)
        bar = f'<i style="--v:{(c.mean - low) / (high - low):.3f}"></i>' if 0 < high - low < float("inf") else ""
        mean = shown.value(c.measure, c.mean)
        rows.append(
            [
                text(c.system),
                NONE if alpha is None else f"{alpha:g}",
                Box(f"{mean} <small>{shown.ends(c.measure, c.low, c.high)}</small>{bar}", c.mean),
                f"{c.n:,}",
                "<b>best</b>" if c.system == best.system else against.get(c.system, NONE),
            ]
        )
    columns = [
        Column("system"),
        Column("alpha", number=True),
        Column(text(choice.measure), number=True),
        Column("n", number=True),
        Column("against the best"),
    ]
    caption = f"Systems by {text(choice.measure)}: the best, and each other one against it"
    return table(caption, columns, rows)


def _targets(shown: Shown) -> str:
    if not shown.evaluation.targets:
        return ""
    rows = []
    for t in shown.evaluation.targets:
        met = {True: "met", False: "not met", None: "no value"}[t.met]
        if t.met is False and t.ceiling <= t.threshold:
            met = "out of reach"
        rows.append([text(t.system), text(f"{t.measure} > {t.threshold:g}"), number(t.value), met, number(t.ceiling)])
    columns = [
        Column("system"),
        Column("target", pick=True),
        Column("mean", number=True),
        Column("reached", pick=True),
        Column("highest this gold allows", number=True),
    ]
    return table("Targets", columns, rows)


def _times(shown: Shown) -> str:
    """Seconds, tokens and cost, of what was measured."""
    usage = shown.evaluation.usage
    if not usage:
        return ""
    rows: list[Row] = [[text(u.system), text(u.what), *map(amount, u.figures), f"{u.n:,}"] for u in usage]
    columns = [
        Column("system"),
        Column("what", pick=True),
        *(Column(t, number=True) for t in (*Usage.FIGURES, "n")),
    ]
    return table("Usage a question", columns, rows)
