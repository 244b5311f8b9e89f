"""Markdown: an evaluation as headings and pipe tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.report import answered
from karat.report._escape import markdown as escape
from karat.report._numbers import NONE, amount, deviation, figure, interval, number, percent
from karat.report._output import Output
from karat.report._spread import spread
from karat.report._view import Marks, View
from karat.results.evaluation import Usage

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.evaluation import Evaluation, Summary


def render(evaluation: Evaluation) -> str:
    """The whole report; the best mean of a row is bold and starred, ~ marks intervals that overlap the best's."""
    return "\n".join(_lines(View(evaluation))).rstrip() + "\n"


def table(evaluation: Evaluation) -> str:
    """The table of means alone, a row per measure and a column per system."""
    return "\n".join(_scores(View(evaluation))) + "\n"


def _lines(view: View) -> Iterator[str]:
    evaluation = view.evaluation
    yield "# Evaluation"
    yield ""
    for taken in evaluation.taken:
        yield f"- {escape(taken.place)}: taken for {escape(taken.format)}, {escape(taken.what)}"
        yield from (f"  - {escape(note)}" for note in taken.notes)
    if evaluation.dialect != "karat":
        yield f"- dialect: {escape(evaluation.dialect)}"
    matching = evaluation.matching
    if matching is not None:
        yield f"- matched by {escape(matching.matcher)} ({escape(matching.unit)}): {escape(matching.why)}"
        if matching.unmatchable:
            yield f"  - {escape(matching.unmatchable_line)}"
        yield from (
            f"  - {escape(system)}: {percent(share)} of the relevant gold found among its hits"
            for system, share in matching.share.items()
        )
        if matching.suggestion:
            yield f"  - {escape(matching.suggestion)}"
    yield ""
    if evaluation.verdicts:
        yield "## Verdict"
        yield ""
        yield from (f"- {escape(line)}" for line in (*evaluation.verdicts.values(), *view.leaders))
        yield ""
    yield "## Scores"
    yield ""
    yield from _scores(view)
    yield ""
    yield from _legend(view)
    yield from _counts(view)
    yield from _spread(view)
    yield from _targets(view)
    for name, values in view.slices.items():
        yield f"## By {escape(name)}"
        yield ""
        yield from _slice(view, name, values)
        yield ""
    yield from answered.lines(evaluation)
    if evaluation.refusals:
        yield "## Refusals"
        yield ""
        found = [
            [escape(r.system), f"{r.n:,}", f"{r.unanswerable:,}", f"{r.declined:,}", f"{r.right:,}",
             number(r.precision), number(r.recall), number(r.f1)]
            for r in evaluation.refusals.values()
        ]  # fmt: skip
        heads = ["system", "asked", "unanswerable", "declined", "rightly", "precision", "recall", "F1"]
        yield from pipes(heads, found, right=range(1, 8))
        yield ""
    if evaluation.usage:
        yield "## Usage"
        yield ""
        rows = [[escape(u.system), escape(u.what), *map(amount, u.figures), f"{u.n:,}"] for u in evaluation.usage]
        yield from pipes(["system", "what", *Usage.FIGURES, "n"], rows, right=range(2, 9))
        yield ""
    if evaluation.notes:
        yield "## Notes"
        yield ""
        for note in sorted(evaluation.notes, key=lambda n: n.level != "warning"):
            guard = f" ({escape(note.guard)})" if note.guard else ""
            yield f"- {note.level}{guard}: {escape(note.text)}"


def pipes(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """A pipe table of texts already escaped, padded so that its source reads well."""
    widths = [max(3, *(len(row[i]) for row in (titles, *rows))) for i in range(len(titles))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "| " + " | ".join(padded) + " |"

    yield line(titles)
    yield "| " + " | ".join("-" * (w - 1) + ":" if i in right else "-" * w for i, w in enumerate(widths)) + " |"
    yield from map(line, rows)


def _cell(measure: Measure, s: Summary | None, marks: Marks) -> str:
    if s is None or s.mean is None:
        return NONE
    mean = figure(measure, s.mean)
    if s.system in marks.best:
        mean = f"**{mean}**\\*"
    elif s.system in marks.near:
        mean += "\\~"
    parts = [mean, f"± {deviation(measure, s.std)}", escape(interval(measure, s.low, s.high)), s.band or ""]
    if s.note:
        parts.append(f"({escape(s.note)})")
    return " ".join(part for part in parts if part)


def _scores(view: View) -> Iterator[str]:
    rows = []
    for measure in view.measures:
        marks = view.marks(measure)
        rows.append([escape(measure.name), *(_cell(measure, view.summary(s, measure), marks) for s in view.systems)])
    yield from pipes(["measure", *(escape(s) for s in view.systems)], rows, right=range(1, len(view.systems) + 1))


def _legend(view: View) -> Iterator[str]:
    every = [view.marks(m) for m in view.measures]
    band = ", band" if any(s.band for s in view.evaluation.summaries) else ""
    words = [f"Mean ± standard deviation, 95% interval of the mean{band}."]
    if any(m.best for m in every):
        words.append("Bold with a star: the best mean of its measure.")
    if any(m.near for m in every):
        words.append("Tilde: its interval overlaps that of the best.")
    yield " ".join(words)
    yield ""


def _counts(view: View) -> Iterator[str]:
    for measures, counts in view.counts:
        names = "all measures" if len(measures) == len(view.measures) else ", ".join(escape(m.name) for m in measures)
        for system, n, undefined, failed in counts:
            yield f"- {escape(system)}, {names}: n {n:,}, {undefined:,} undefined, {failed:,} failed"
    yield ""
    rows = []
    for measure in view.measures:
        found = {
            s.system: f"{figure(measure, s.worst)} to {figure(measure, s.best)}"
            for s in view.row(measure)
            if s.n_failed
        }
        if found:
            rows.append([escape(measure.name), *(found.get(s, NONE) for s in view.systems)])
    if rows:
        yield "Means with every failed row at the worst to the best that its measure allows:"
        yield ""
        yield from pipes(["measure", *(escape(s) for s in view.systems)], rows, right=range(1, len(view.systems) + 1))
        yield ""


def _spread(view: View) -> Iterator[str]:
    for measure in view.key_measures[:1]:
        said = [f"- {escape(s.system)}: {escape(one)}." for s in view.row(measure) if (one := spread(s))]
        if said:
            yield f"## Spread of {escape(measure.name)}"
            yield ""
            yield from said
            yield ""


def _targets(view: View) -> Iterator[str]:
    if not view.evaluation.targets:
        return
    yield "## Targets"
    yield ""
    rows = [
        [
            escape(t.system),
            escape(f"{t.measure} > {t.threshold:g}"),
            number(t.value),
            "no value" if t.met is None else "met" if t.met else "not met",
            number(t.ceiling),
        ]
        for t in view.evaluation.targets
    ]
    yield from pipes(["system", "target", "mean", "met", "highest this gold allows"], rows, right=(2, 4))
    yield ""


def _slice(view: View, name: str, values: Sequence[str]) -> Iterator[str]:
    rows = []
    for measure in view.measures:
        for value in values:
            found = view.row(measure, name, value)
            marks = view.marks(measure, name, value)
            n = ", ".join(dict.fromkeys(f"{s.n:,}" for s in found))
            cells = [_cell(measure, view.summary(s, measure, name, value), marks) for s in view.systems]
            rows.append([escape(measure.name), escape(value), n, *cells])
    titles = ["measure", escape(name), "n", *(escape(s) for s in view.systems)]
    yield from pipes(titles, rows, right=range(2, len(titles)))


OUTPUT = Output(".md", render, {"report.md": render})
