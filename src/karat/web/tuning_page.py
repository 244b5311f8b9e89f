"""Tuning page: what it says without script; with it, the page is built from the data that stands here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from karat.report.document import Block, Cell, Column, Document, Heading, Notice, Table, Text, Value, bullets
from karat.report.render.html.served import render_page
from karat.web.pages import head_of

if TYPE_CHECKING:
    from karat.experiment.store import RunFolder
    from karat.experiment.sweep.tuner import Tuner

AGAIN = 2  # seconds after which a page without script looks again


def _title(run: RunFolder) -> str:
    return f"Tune {run.manifest.get('name') or run.id}"


def missing_page(run: RunFolder, problem: str, remedy: str) -> str:
    """A run that cannot be tuned: what is missing, and how to mend it."""
    blocks: list[Block] = [
        Heading("This run cannot be tuned here", anchor="missing"),
        Notice(f"{problem[:1].upper()}{problem[1:].rstrip('.')}.", "warning"),
    ]
    blocks += [Text(remedy)] if remedy else []
    head = head_of(run, "tune", "Tune", data={"state": "missing"})
    return render_page(Document(_title(run), blocks), head=head)


def loading_page(run: RunFolder, what: str, done: int, total: int) -> str:
    """A page that waits for the index."""
    share = f"{100 * done // max(1, total)}%"
    blocks: list[Block] = [Heading("Opening the index", anchor="loading"), Text(f"Loading {share}: {what}.")]
    data = {"state": "loading", "what": what, "done": done, "total": total}
    head = head_of(run, "tune", "Tune", data=data, again=AGAIN)
    return render_page(Document(_title(run), blocks), head=head)


def curve_page(tuner: Tuner, run: RunFolder, about: Mapping[str, Any]) -> str:
    """The usual grid over alpha: a sweep at the usual cut-off."""
    from karat.experiment.sweep.grid import ALPHA, Grid

    swept = tuner.swept(Grid.of(alpha=ALPHA, k=tuner.usual_cut))
    choice = swept.choice(seed=tuner.choices.seed)
    measure = swept.cells[0]
    blocks: list[Block] = [Heading(f"{measure.name} over alpha", anchor="curve")]
    if choice is None:
        blocks.append(Text(f"No question has a value of {measure.name}."))
    else:
        cells = {cell.system: cell for cell in choice.cells}
        same = {pair.a for pair in choice.equals}
        rows: list[list[Cell]] = []
        for configuration in sorted(swept.configurations, key=lambda one: one.alpha or 0.0):
            cell, best = cells[configuration.name], configuration.name == choice.best.system
            mark = "best" if best else "not significantly different" if configuration.name in same else "worse"
            value = Value(cell.mean, cell.low, cell.high, unit=measure.spec.unit, best=best)
            rows.append([configuration.name, configuration.alpha, value, mark])
        columns = [
            Column("configuration"),
            Column("alpha", "score"),
            Column(measure.name, "value"),
            Column("beside the best"),
        ]
        blocks += [bullets(choice.sentences), Table("The weight of the dense engine", columns, rows)]
    head = head_of(run, "tune", "Tune", data={"state": "ready", **about})
    return render_page(Document(_title(run), blocks), head=head)
