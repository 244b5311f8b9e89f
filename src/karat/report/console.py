"""Console: an evaluation as a person reads it in a terminal.

Readable without colour, in a pipe and at 80 columns; where a terminal cannot show a character, a plain one stands in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from karat.report._escape import clean
from karat.report._figures import bands, by_slice, legend, one, several
from karat.report._grid import NAME, listing, named, plain_table, texts, title
from karat.report._numbers import amount, deviation, number, percent, short
from karat.report._screen import as_text, put
from karat.report._spread import spread
from karat.report._view import View
from karat.results.evaluation import Usage

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core.measure import Measure
    from karat.report._screen import Blocks
    from karat.results.evaluation import Evaluation


def show(evaluation: Evaluation, stream: TextIO, *, full: bool = False, quiet: bool = False) -> None:
    """Write to a stream what it can show."""
    put(_made(evaluation, full, quiet), stream)


def render(
    evaluation: Evaluation,
    *,
    width: int = 100,
    colour: bool = False,
    encoding: str = "utf-8",
    full: bool = False,
    quiet: bool = False,
) -> str:
    """The whole report as text.

    `full` shows every measure of every slice, not the main ones only; `quiet` the scores and the warnings alone.
    """
    return as_text(_made(evaluation, full, quiet), width=width, colour=colour, encoding=encoding)


def _made(evaluation: Evaluation, full: bool, quiet: bool) -> Blocks:
    view = View(evaluation)
    return lambda width: _few_blocks(view, width) if quiet else _blocks(view, width, full)


def _blocks(view: View, width: int, full: bool) -> Iterator[RenderableType]:
    evaluation = view.evaluation
    yield _head(view)
    yield ""
    yield from _scores(view, width)
    yield from _targets(view)
    for name in view.slices:
        yield from by_slice(view, name, width, full)
    yield from _refusals(view)
    yield from _usage(view)
    yield from _verdicts(view)
    yield from notes(evaluation)


def _few_blocks(view: View, width: int) -> Iterator[RenderableType]:
    yield from _scores(view, width)
    yield from notes(view.evaluation, least="warning")


def _head(view: View) -> RenderableType:
    """What each input was taken for, how ids were matched, how many questions count."""
    rows = [*_taken(view.evaluation), *_matching(view.evaluation), *_counts(view)]
    return listing(*rows)


def _taken(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    for taken in evaluation.taken:
        place = clean(taken.place)
        head = place if len(place) <= NAME else "…" + place[1 - NAME :]  # the end of a path says more
        yield head, f"taken for {clean(taken.format)}: {clean(taken.what)}"
        yield from (("", clean(note)) for note in taken.notes)
    if evaluation.dialect != "karat":
        yield "dialect", clean(evaluation.dialect)


def _matching(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    matching = evaluation.matching
    if matching is None:
        return
    yield "match", f"{clean(matching.matcher)} ({clean(matching.unit)}): {clean(matching.why)}"
    if matching.unmatchable:
        yield "", clean(matching.unmatchable_line)
    found = " · ".join(f"{named(system)} {percent(share)}" for system, share in matching.share.items())
    if found:
        yield "", f"relevant gold found among the hits: {found}"
    others = " · ".join(f"{clean(matcher)} {percent(share)}" for matcher, share in matching.others.items())
    if others:
        yield "", f"other matchers would find: {others}"
    if matching.suggestion:
        yield "", clean(matching.suggestion)


def _counts(view: View) -> Iterator[tuple[str, str]]:
    """n, undefined and failed, once for all measures and systems that share them."""
    head = "scored"
    for measures, counts in view.counts:
        alike: dict[tuple[int, int, int], list[str]] = {}
        for system, *three in counts:
            alike.setdefault((three[0], three[1], three[2]), []).append(named(system))
        said = " · ".join(
            f"{', '.join(systems) + ': ' if len(alike) > 1 else ''}n {n:,}, {undefined:,} undefined, {failed:,} failed"
            for (n, undefined, failed), systems in alike.items()
        )
        which = "" if len(measures) == len(view.measures) else f"{_brief(view, measures)}: "
        yield head, which + said
        head = ""


def _brief(view: View, measures: list[Measure]) -> str:
    """Names of measures, whole families by their name alone."""
    names = []
    for family in view.families:
        inside = [m for m in family if m in measures]
        if len(inside) == len(family) > 1:
            names.append(f"{clean(family[0].spec.name)}@*")
        else:
            names.extend(clean(m.name) for m in inside)
    return ", ".join(names)


def _scores(view: View, width: int) -> Iterator[RenderableType]:
    if len(view.systems) == 1:
        yield one(view, width)
        yield from _failed(view)
        yield from _spread(view)
        return
    yield from several(view, width)
    yield listing(*legend(view))
    yield from _failed(view)
    yield from _spread(view)
    yield from bands(view, width)


def _spread(view: View) -> Iterator[RenderableType]:
    """The sentence on spread and skew, for the headline measure."""
    for measure in view.key_measures[:1]:
        rows = [(named(s.system), f"{said}.") for s in view.row(measure) if (said := spread(s))]
        if rows:
            yield title(f"Spread of {clean(measure.name)}")
            yield listing(*rows)


def _failed(view: View) -> Iterator[RenderableType]:
    """What failed rows could make of the means, in the headline measure where there are several systems."""
    if len(view.systems) == 1:
        if any(s.n_failed for s in view.evaluation.summaries):
            yield "worst to best: the mean if every failed row scored the worst, or the best, that the measure allows"
        return
    for measure in view.key_measures[:1]:
        reach = [
            f"{named(s.system)} {deviation(measure, s.worst)} to {deviation(measure, s.best)} ({s.n_failed} failed)"
            for s in view.row(measure)
            if s.n_failed
        ]
        if reach:
            yield f"{clean(measure.name)} with every failed row at its worst to best: {' · '.join(reach)}"


def _targets(view: View) -> Iterator[RenderableType]:
    targets = view.evaluation.targets
    if not targets:
        return
    yield title("Targets")
    table = plain_table("system", "target", "mean", "", "highest this gold allows", right=(2, 4))
    for t in targets:
        reached = {True: "met", False: "not met", None: "no value"}[t.met]
        if t.met is False and t.ceiling <= t.threshold:
            reached = "out of reach"
        aim = f"{clean(t.measure)} > {short(t.threshold).rstrip('0')}"
        table.add_row(*texts([named(t.system), aim, number(t.value), reached, number(t.ceiling)]))
    yield table


def _usage(view: View) -> Iterator[RenderableType]:
    usage = view.evaluation.usage
    if not usage:
        return
    yield title("Usage")
    table = plain_table("system", "", *Usage.FIGURES, "n", right=range(2, 9))
    for u in usage:
        table.add_row(*texts([named(u.system), clean(u.what), *map(amount, u.figures), f"{u.n:,}"]))
    yield table


def _refusals(view: View) -> Iterator[RenderableType]:
    """How well each system tells what cannot be answered."""
    refusals = view.evaluation.refusals
    if not refusals:
        return
    yield title("Refusals")
    heads = ("system", "asked", "unanswerable", "declined", "rightly", "precision", "recall", "F1")
    table = plain_table(*heads, right=tuple(range(1, len(heads))))
    for r in refusals.values():
        counts = [f"{n:,}" for n in (r.n, r.unanswerable, r.declined, r.right)]
        table.add_row(*texts([named(r.system), *counts, number(r.precision), number(r.recall), number(r.f1)]))
    yield table


def notes(evaluation: Evaluation, least: str = "info") -> Iterator[RenderableType]:
    """Every note of a level, warnings first."""
    levels = ("warning",) if least == "warning" else ("warning", "info")
    found = [note for level in levels for note in evaluation.notes if note.level == level]
    if not found:
        return
    yield title("Notes")
    for note in found:
        head = "!" if note.level == "warning" else "-"
        guard = f"{clean(note.guard)}: " if note.guard else ""
        yield listing((head, guard + clean(note.text)))


def _verdicts(view: View) -> Iterator[RenderableType]:
    lines = [clean(line) for line in view.evaluation.verdicts.values()]
    lines += [clean(line) for line in view.leaders]
    if lines:
        yield title("Verdict")
        yield from lines
