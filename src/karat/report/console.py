"""Console: an evaluation as a person reads it in a terminal.

Readable without colour, in a pipe and at 80 columns; where a terminal cannot show a character, a plain one stands in.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from karat.report import _grid
from karat.report._escape import clean
from karat.report._grid import Cell, Row, plain_table
from karat.report._numbers import NONE, amount, deviation, figure, interval, number, percent, short
from karat.report._view import Marks, View

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from karat.core.evaluation import Evaluation, Summary
    from karat.core.measure import Measure

NAME = 28  # characters of a name before it is cut
SLICED = 4  # measures in the table of a slice, unless all are asked for
PLAIN = str.maketrans({"–": "-", "…": "~", "─": "-", "·": "|", "±": "/", "≤": "<", "’": "'"})


def show(evaluation: Evaluation, stream: TextIO) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    import shutil

    is_terminal = stream.isatty()
    columns = shutil.get_terminal_size((100, 24)).columns if is_terminal or "COLUMNS" in os.environ else 100
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    stream.write(render(evaluation, width=columns, colour=colour, encoding=stream.encoding or "utf-8"))


def render(
    evaluation: Evaluation, *, width: int = 100, colour: bool = False, encoding: str = "utf-8", full: bool = False
) -> str:
    """The whole report as text. `full` shows every measure of every slice, not the main ones only."""
    from rich.console import Console

    width = max(40, width)
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for block in _blocks(View(evaluation), width, full):
        console.print(block)
    text = "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
    text = re.sub("\n{3,}", "\n\n", text).strip("\n") + "\n"
    return _encodable(text, encoding)


def _encodable(text: str, encoding: str) -> str:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def _blocks(view: View, width: int, full: bool) -> Iterator[RenderableType]:
    evaluation = view.evaluation
    yield _head(view)
    yield ""
    yield from _scores(view, width)
    yield from _targets(view)
    for name in view.slices:
        yield from _slice(view, name, width, full)
    yield from _usage(view)
    yield from _verdicts(view)
    yield from _notes(evaluation)


def _name(text: str) -> str:
    return clean(text, NAME)


def _title(text: str) -> RenderableType:
    from rich.text import Text

    return Text("\n" + text, style="bold")


def _list(*rows: tuple[str, str]) -> Table:
    """Lines with a mark or a name in front, wrapped under themselves."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for head, text in rows:
        table.add_row(Text(head), Text(text))
    return table


def _head(view: View) -> RenderableType:
    """What each input was taken for, how ids were matched, how many questions count."""
    rows = [*_taken(view.evaluation), *_matching(view.evaluation), *_counts(view)]
    return _list(*rows)


def _taken(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    for taken in evaluation.taken:
        yield clean(taken.place, NAME), f"taken for {clean(taken.format)}: {clean(taken.what)}"
        yield from (("", clean(note)) for note in taken.notes)
    if evaluation.dialect != "karat":
        yield "dialect", clean(evaluation.dialect)


def _matching(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    matching = evaluation.matching
    if matching is None:
        return
    yield "match", f"{clean(matching.matcher)} ({clean(matching.unit)}): {clean(matching.why)}"
    found = " · ".join(f"{_name(system)} {percent(share)}" for system, share in matching.share.items())
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
            alike.setdefault((three[0], three[1], three[2]), []).append(_name(system))
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
        yield _one(view, width)
        yield from _failed(view)
        heads = [s for m in view.key_measures[:1] for s in view.row(m) if s.spread]
        yield from (f"{clean(s.measure)}: {s.spread}." for s in heads)
        return
    yield from _several(view, width)
    yield _list(*_legend(view))
    yield from _failed(view)
    yield from _bands(view, width)


def _one(view: View, width: int) -> Table:
    """One system: a row per measure with its spread, interval and band."""
    system = view.systems[0]
    found = [(m, family, view.summary(system, m)) for family in view.families for m in family]
    failed = any(s is not None and s.n_failed for _, _, s in found)
    quartiles = width >= 100
    titles = [_name(system), "mean", "±std", "95% interval", *(("25%", "50%", "75%") if quartiles else ())]
    titles += ["worst to best", "band"] if failed else ["band"]
    table = plain_table(*titles, right=range(1, len(titles) - 1))
    for measure, family, s in found:
        if s is None:
            continue
        shown = [figure(measure, s.mean), deviation(measure, s.std), interval(measure, s.low, s.high) or NONE]
        if quartiles:
            shown += [deviation(measure, q) for q in (s.q25, s.q50, s.q75)]
        if failed:
            shown.append(f"{deviation(measure, s.worst)} to {deviation(measure, s.best)}" if s.n_failed else NONE)
        band = f"{s.band}: {s.meaning}" if s.band and width >= 120 else s.band or ""
        ends = len(family) > 1 and measure is family[-1]
        table.add_row(*_cells([clean(measure.name), *shown, band]), end_section=ends)
    return table


def _cells(values: list[str]) -> list[RenderableType]:
    from rich.text import Text

    return [Text(v) for v in values]


def _cell(measure: Measure, s: Summary | None, marks: Marks, *, std: bool = True) -> Cell:
    if s is None or s.mean is None:
        return Cell(NONE + " ")
    best = s.system in marks.best
    mark = "*" if best else "~" if s.system in marks.near else " "
    main = f"{figure(measure, s.mean)}{mark}"
    if std:
        main += f" ±{deviation(measure, s.std)}"
    return Cell(main, interval(measure, s.low, s.high), best)


def _several(view: View, width: int) -> Iterator[Table]:
    """Several systems: a column each while they fit, else a block per family with a row each."""
    names = [_name(s) for s in view.systems]
    rows = []
    for family in view.families:
        for measure in family:
            marks = view.marks(measure)
            cells = [_cell(measure, view.summary(s, measure), marks) for s in view.systems]
            rows.append(Row(clean(measure.name), cells, ends=len(family) > 1 and measure is family[-1]))
    if _grid.fits("", names, rows, width, stacked=True):
        yield from _grid.grids("", names, rows, width)
        return
    blocks, singles = [], []
    for family in view.families:
        cut = [m for m in family if m.k is not None or m.tokens is not None]
        if len(cut) > 1:
            blocks.append(cut)
            singles += [m for m in family if m not in cut]
        else:
            singles += family
    for block in blocks:
        yield from _block(view, block[0].name.rpartition("@")[0], block, width)
    if singles:
        yield from _block(view, "", singles, width)


def _block(view: View, corner: str, measures: list[Measure], width: int) -> Iterator[Table]:
    """A row per system; under a family's name its cuts stand alone."""
    titles = [clean("@" + m.name.rpartition("@")[2] if corner else m.name) for m in measures]
    marked = [(m, view.marks(m)) for m in measures]
    rows = [Row(_name(s), [_cell(m, view.summary(s, m), marks) for m, marks in marked]) for s in view.systems]
    for table in _grid.grids(clean(corner), titles, rows, width):
        yield table
        yield _gap()


def _either(corner: str, systems: list[str], rows: list[Row], width: int) -> Iterator[Table]:
    """Systems as columns while they fit, else as rows."""
    if not _grid.fits(corner, systems, rows, width, stacked=True):
        turned = [Row(name, [row.cells[i] for row in rows]) for i, name in enumerate(systems)]
        systems, rows = [row.label for row in rows], turned
    yield from _grid.grids(corner, systems, rows, width)


def _gap() -> Table:
    """An empty line between tables."""
    from rich.table import Table

    table = Table.grid()
    table.add_row("")
    return table


def _legend(view: View) -> list[tuple[str, str]]:
    rows = [("", "mean ±standard deviation [95% interval of the mean]")]
    every = [view.marks(m) for m in view.measures]
    if any(m.best for m in every):
        rows.append(("*", "best mean of its measure (also in bold; all that tie)"))
    if any(m.near for m in every):
        rows.append(("~", "its interval overlaps that of the best: these questions alone do not set them apart"))
    return rows


def _failed(view: View) -> Iterator[RenderableType]:
    """What failed rows could make of the means, in the headline measure where there are several systems."""
    if len(view.systems) == 1:
        if any(s.n_failed for s in view.evaluation.summaries):
            yield "worst to best: the mean if every failed row scored the worst, or the best, that the measure allows"
        return
    for measure in view.key_measures[:1]:
        reach = [
            f"{_name(s.system)} {deviation(measure, s.worst)} to {deviation(measure, s.best)} ({s.n_failed} failed)"
            for s in view.row(measure)
            if s.n_failed
        ]
        if reach:
            yield f"{clean(measure.name)} with every failed row at its worst to best: {' · '.join(reach)}"


def _bands(view: View, width: int) -> Iterator[RenderableType]:
    found = [(m, view.row(m)) for m in view.measures]
    banded = [(m, row) for m, row in found if any(s.band for s in row)]
    if not banded:
        return
    yield _title("Bands")
    meanings = {(m.spec.name, s.band): s.meaning for m, row in banded for s in row if s.band and s.meaning}
    rows = []
    for measure, row in banded:
        by_system = {s.system: s.band or NONE for s in row}
        rows.append(Row(clean(measure.name), [Cell(by_system.get(s, NONE)) for s in view.systems]))
    yield from _either("", [_name(s) for s in view.systems], rows, width)
    yield _list(*((f"{name} {band}", str(meaning)) for (name, band), meaning in meanings.items()))


def _targets(view: View) -> Iterator[RenderableType]:
    targets = view.evaluation.targets
    if not targets:
        return
    yield _title("Targets")
    table = plain_table("system", "target", "mean", "", "highest this gold allows", right=(2, 4))
    for t in targets:
        reached = {True: "met", False: "not met", None: "no value"}[t.met]
        if t.met is False and t.ceiling <= t.threshold:
            reached = "out of reach"
        aim = f"{clean(t.measure)} > {short(t.threshold).rstrip('0')}"
        table.add_row(*_cells([_name(t.system), aim, number(t.value), reached, number(t.ceiling)]))
    yield table


def _slice(view: View, name: str, width: int, full: bool) -> Iterator[RenderableType]:
    """A slice: for one system its measures as columns, for several a table per measure."""
    values = view.slices[name]
    measures = list(view.measures) if full else view.key_measures[:SLICED]
    left = len(view.measures) - len(measures)
    yield _title(f"By {clean(name)}" + (f" (main measures; {left} more in the files and in --json)" if left else ""))
    if len(view.systems) == 1:
        system = view.systems[0]
        rows = []
        for value in values:
            found = [view.summary(system, m, name, value) for m in measures]
            cells = [_cell(m, s, Marks(), std=False) for m, s in zip(measures, found, strict=True)]
            rows.append(Row(_sized(value, [s.n for s in found if s is not None]), cells))
        yield from _grid.grids("", [clean(m.name) for m in measures], rows, width)
        return
    for measure in measures:
        rows = []
        for value in values:
            marks = view.marks(measure, name, value)
            row = [view.summary(s, measure, name, value) for s in view.systems]
            cells = [_cell(measure, s, marks, std=False) for s in row]
            rows.append(Row(_sized(value, [s.n for s in row if s is not None]), cells))
        yield from _either(clean(measure.name), [_name(s) for s in view.systems], rows, width)
        yield _gap()


def _sized(value: str, sizes: list[int]) -> str:
    """A slice value with its number of questions, a range where it differs."""
    if not sizes:
        return _name(value)
    few, many = min(sizes), max(sizes)
    return f"{_name(value)} (n {few:,})" if few == many else f"{_name(value)} (n {few:,}-{many:,})"


def _usage(view: View) -> Iterator[RenderableType]:
    usage = view.evaluation.usage
    if not usage:
        return
    yield _title("Usage")
    table = plain_table("system", "", "mean", "p50", "p95", "n", right=(2, 3, 4, 5))
    for u in usage:
        table.add_row(*_cells([_name(u.system), clean(u.what), *map(amount, (u.mean, u.p50, u.p95)), f"{u.n:,}"]))
    yield table


def _notes(evaluation: Evaluation) -> Iterator[RenderableType]:
    """Every note, warnings first."""
    notes = sorted(evaluation.notes, key=lambda n: n.level != "warning")
    if not notes:
        return
    yield _title("Notes")
    for note in notes:
        head = "!" if note.level == "warning" else "-"
        guard = f"{clean(note.guard)}: " if note.guard else ""
        yield _list((head, guard + clean(note.text)))


def _verdicts(view: View) -> Iterator[RenderableType]:
    lines = [clean(line) for line in view.evaluation.verdicts.values()]
    lines += [clean(line) for line in view.leaders]
    if lines:
        yield _title("Verdict")
        yield from lines
