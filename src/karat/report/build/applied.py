"""A calibration applied to another run: its means, corrected by labels of other answers of the same judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.words import interval, number, plural
from karat.report.build._parts import notes_of
from karat.report.document import Block, Cell, Column, Detail, Document, Heading, Table, Value, bullets

if TYPE_CHECKING:
    from karat.results.calibration import AppliedCalibration, AppliedMeasure, CorrectedMean


def document(applied: AppliedCalibration) -> Document:
    """Each measure of the run, with its corrected means."""
    blocks: list[Block] = []
    for one in applied.measures:
        sentences = [applied_sentence(one, system) for system in one.systems]
        blocks += [Heading(f"{one.measure} corrected", detail=Detail.QUIET), bullets(sentences, detail=Detail.QUIET)]
        blocks += [*notes_of(one.notes), _means(one)]
    blocks += notes_of(applied.notes)
    return Document(f"{applied.run} by {applied.calibration}", blocks)


def applied_sentence(one: AppliedMeasure, system: CorrectedMean) -> str:
    """What the measure says of a system, and what it is by the labels of other answers."""
    says = f"{system.system}: {one.measure} says {number(system.measure_mean, 3)}"
    if system.mean is None:
        return f"{says}; not corrected: {system.why}."
    mean = f"{number(system.mean, 3)} {interval(system.low, system.high, 3)}".rstrip()
    return f"{says}; corrected by {plural(system.n, 'label')} of other answers: {mean}."


def _means(one: AppliedMeasure) -> Table:
    rows: list[list[Cell]] = [
        [system.system, system.n_scored, Value(system.measure_mean), Value(system.mean, system.low, system.high)]
        for system in one.systems
    ]
    figures = [Column(title, "value") for title in ("measure alone", "corrected")]
    return Table(f"Mean {one.measure}", [Column("system"), Column("answers", "count"), *figures], rows)
