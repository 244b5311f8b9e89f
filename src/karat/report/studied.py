"""Studied: what a study found, as a person reads it in a terminal: the choice first, then why and what next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from karat.core.text.words import NOT_DIFFERENT
from karat.report import answered
from karat.report._answers import Answers
from karat.report._escape import clean
from karat.report._grid import listing, plain_table, texts, title
from karat.report._labels import LABELS, gained, nothing_to_gain
from karat.report._numbers import NONE, number
from karat.report._screen import as_text, put
from karat.report.advice import next_steps, pasteable
from karat.report.console import notes as note_blocks
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.study import Cell, Study

_ROWS = 12


def show(study: Study, stream: TextIO, *, place: str = "", quiet: bool = False, verbose: bool = False) -> None:
    """Write what was found to a stream; `verbose` shows every system, `quiet` the choice alone."""
    put(lambda width: _blocks(study, width, place, quiet, verbose), stream)


def render(study: Study, *, place: str = "", width: int = 100, quiet: bool = False, verbose: bool = False) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(study, width, place, quiet, verbose), width=width)


def as_json(study: Study, place: str = "") -> str:
    """One JSON object: the choice, every cell, failures by label, the next steps, and where the files are."""
    document = {
        "name": study.name,
        "folder": place or None,
        "main": study.main,
        "systems": [{"name": c.name, "settings": dict(c.settings)} for c in study.configurations],
        "questions": len(study.evaluation.testset),
        "choice": study.choice,
        "failures": study.failure_counts,
        "answers": _answers(study),
        "error_classes": study.error_classes,
        "next": next_steps(study),
        "warnings": [note.text for note in study.evaluation.notes if note.level == "warning"],
    }
    return json.dumps(plain(document), ensure_ascii=False, indent=2, allow_nan=False)


def _answers(study: Study) -> list[dict[str, Any]]:
    """Of each system that answers: the number of answers, refusals, the worst with what they miss, and the bill."""
    answers = Answers(study.evaluation, study.answers)
    found: list[dict[str, Any]] = []
    for system in answers.systems:
        worst = [
            {"question": answers.scores.questions[q], "value": value, "missing": answers.missing(system, q)}
            for q, value in answers.worst(system, answered.WORST)
        ]
        found.append(
            {
                "system": system,
                **answers.counts(system),
                "refusals": study.evaluation.refusals.get(system),
                "measure": answers.quality.name if answers.quality is not None else None,
                "worst": worst,
                "took": answers.bill(system, study.seconds.get(system, ())),
            }
        )
    return found


def _blocks(study: Study, width: int, place: str, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    evaluation = study.evaluation
    if not quiet:
        yield listing(*_head(study, place))
    yield title("What was found")
    yield from texts([clean(sentence) for sentence in (study.choice.sentences if study.choice else ())])
    if study.choice is None:
        yield from texts(["No system has a value of the main measure, so there is nothing to choose."])
        yield from note_blocks(evaluation, least="warning" if quiet else "info")
        return
    yield title(f"By {clean(study.choice.measure)}")
    yield from _cells(study, None if verbose else _ROWS)
    if not quiet:
        yield from _kinds(study)
        yield from _failures(study)
        yield from answered.blocks(study, width, every=verbose)
    steps = next_steps(study)
    if steps:
        yield title("What to do next")
        yield listing(*(("-", pasteable(step)) for step in steps))
    yield from note_blocks(evaluation, least="warning" if quiet else "info")


def _head(study: Study, place: str) -> Iterator[tuple[str, str]]:
    evaluation = study.evaluation
    for taken in evaluation.taken:
        yield clean(taken.place, 40), f"taken for {clean(taken.format)}: {clean(taken.what)}"
        yield from (("", clean(note)) for note in taken.notes)
    if evaluation.matching is not None:
        yield "match", f"{clean(evaluation.matching.matcher)}: {clean(evaluation.matching.why)}"
    yield "compared", f"{len(study.configurations)} systems over {len(evaluation.testset)} questions"
    if place:
        page = Path(place) / "report.html"
        yield "files", clean(place)
        if page.is_file():
            yield "open", clean(str(page))


def _cells(study: Study, most: int | None) -> Iterator[RenderableType]:
    choice = study.choice
    assert choice is not None
    equal = {pair.a for pair in choice.equals}
    ranked = choice.ranked
    beside = {(s.system, s.measure): s.note for s in study.evaluation.summaries if s.slice is None and s.note}
    notes = ["note"] if any((cell.system, cell.measure) in beside for cell in ranked[:most]) else []
    table = plain_table("", "system", "mean", "95% interval", "n", *notes, right=(2, 4))
    for cell in ranked[:most]:
        mark = "*" if cell == choice.best else "!" if cell.system in choice.barred else "~" * (cell.system in equal)
        row = [mark, clean(cell.system, 60), number(cell.mean), _interval(cell), str(cell.n)]
        table.add_row(*texts(row + [beside.get((cell.system, cell.measure), "")] * len(notes)))
    yield table
    if most is not None and len(ranked) > most:
        yield from texts([f"and {len(ranked) - most} more: -v shows all"])
    legend = [("*", "the best"), ("~", NOT_DIFFERENT)] if equal else [("*", "the best")]
    if any(cell.system in choice.barred for cell in ranked):
        legend.append(("!", "barred from being best: more than a tenth of the questions have no value"))
    yield listing(*legend)


def _interval(cell: Cell) -> str:
    return f"[{number(cell.low)}, {number(cell.high)}]" if cell.low is not None and cell.high is not None else ""


def _kinds(study: Study) -> Iterator[RenderableType]:
    assert study.choice is not None
    if not study.choice.by_kind:
        return
    yield title("Best for each kind of question")
    table = plain_table("kind", "n", "best", "mean", "95% interval", "not significantly different", right=(1, 3, 5))
    for kind in study.choice.by_kind:
        others = f"{len(kind.equals)} of {len(study.choice.cells) - len(study.choice.barred) - 1}"
        cell = kind.best
        table.add_row(
            *texts(
                [clean(kind.kind, 30), str(kind.n), clean(cell.system, 40), number(cell.mean), _interval(cell), others]
            )
        )
    yield table


def _failures(study: Study) -> Iterator[RenderableType]:
    assert study.choice is not None
    counts = [c for c in study.failure_counts if c.system == study.choice.best.system]
    if not counts:
        return
    lost = "goes wrong" if any(count.measure for count in counts) else "loses gold"
    yield title(f"Where {clean(study.choice.best.system)} {lost}, at {study.k}")
    several = any(count.measure for count in counts)
    head = "to gain" if several else f"Recall@{study.k} to gain"
    table = plain_table("step", "questions", head, "what it means", right=(1, 2))
    for count in counts:
        of = f" {clean(gained(count, study.k), 30)}" if several else ""
        gain = NONE if nothing_to_gain(count) else f"+{count.gain:.3f}{of}"
        row = [count.label, str(len(count.questions)), gain, LABELS[count.label].meaning]
        table.add_row(*texts(row))
    yield table
    classes = study.error_classes.get(study.choice.best.system, {})
    if classes:
        said = ", ".join(f"{name} {count}" for name, count in sorted(classes.items(), key=lambda c: -c[1]))
        yield from texts([f"As the hybrid-rag document classes them: {said}."])
