"""Scores with people's labels beside those without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report.document import Block, Cell, Column, Detail, Table

if TYPE_CHECKING:
    from karat.report.lookups import EvaluationView


def labelled_table(view: EvaluationView) -> Iterator[Block]:
    """Each measure of retrieval of each system as it is, with the labels, and the difference."""
    labelled = view.evaluation.labelled
    if labelled is None or not labelled.rows:
        return
    key = [measure.name for measure in view.key_measures]
    order = {name: place for place, name in enumerate([*key, *(m.name for m in view.ordered_measures)][::-1])}
    ordered = sorted(labelled.rows, key=lambda row: -order.get(row.measure, -1))
    rows: list[list[Cell]] = [
        [row.measure, row.system, row.before, row.after, row.difference, row.n_after] for row in ordered
    ]
    with_them = f"with {plural(labelled.labels, 'label')}"
    if labelled.left_out:
        with_them += f", without {plural(len(labelled.left_out), 'bad question')}"
    columns = [Column("measure", pick=True), Column("system"), Column("without", "score")]
    columns += [Column("with", "score"), Column("difference", "difference"), Column("n", "count")]
    most = sum(row.measure in key for row in labelled.rows) or None
    by = f" by {', '.join(labelled.people)}" if labelled.people else ""
    caption = f"Scores {with_them}{by}: {plural(labelled.changed, 'question')} with other gold"
    yield Table(caption, columns, rows, most=most, detail=Detail.QUIET)
