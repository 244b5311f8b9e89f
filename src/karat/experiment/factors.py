"""Factors: which setting of a grid of configurations matters, and which cells cannot be told from the best."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.core.text.words import probability
from karat.files import RawTable, read_raw_table
from karat.results.study import Choice, Effect, FactorAnalysis, FactorLevel
from karat.stats.arrays import Floats

LEVELS = 60  # most levels of a factor: the interaction of two such has 3,600 columns
UNPAIRED = (
    "Without --by, what the same question has in common in several rows counts as chance, and the cells are not held "
    "against each other. Name the column that says which rows belong together."
)


@dataclass(frozen=True)
class FactorGrid:
    """Scores with the levels of their factors, and the block of each."""

    source: str
    score: str
    values: Floats
    factors: dict[str, list[str]]
    by: str | None
    blocks: list[str]
    notes: tuple[str, ...] = ()


def factors(
    grid: Any,
    score: str | None = None,
    *,
    factor: Sequence[str] = (),
    by: str | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
) -> FactorAnalysis:
    """An analysis of variance of a grid: its factors, the interaction of each pair, marginal means, and the best cell.

    `grid` is a table with a row a score (a path, a frame, dicts) or a run (a folder, a name, LAST), whose
    configurations are the grid. `score` names the column, or the run's measure; `factor` the columns that are factors,
    which of a run are the settings that vary. `by` names what every cell has in common, such as the question:
    differences between its values are taken out first. Of a run that is the question.
    """
    from karat.diagnose.verify.names import measure_of
    from karat.stats.anova import anova

    is_run = isinstance(grid, str | os.PathLike) and not Path(grid).is_file()
    read = _narrowed(_of_run(str(grid), score, factor, by, runs_dir) if is_run else _of_table(grid, score, factor, by))
    analysis, notes = anova(read.values, read.factors, blocks=read.blocks), list(read.notes)
    if analysis.residual_freedom < 1:
        analysis = anova(read.values, read.factors, interactions=False, blocks=read.blocks)
        notes.append("There is one score a cell: interactions cannot be separated from chance.")
    notes += [
        f"{effect.name} says nothing of its own: the other factors settle its level."
        for effect in analysis.effects
        if len(effect.factors) == 1 and not effect.freedom
    ]
    effects = _adjusted([effect for effect in analysis.effects if effect.freedom])
    measure = measure_of(read.score, 1)
    higher = measure is None or measure.spec.direction != "lower"
    choice = _choice(read, higher) if read.blocks and not is_run else None
    return FactorAnalysis(
        source=read.source, score=read.score, n=len(read.values),
        factors={name: _levels(read, name) for name in read.factors},
        balanced=analysis.balanced, by=read.by, blocks=len(set(read.blocks)), effects=effects,
        choice=choice,
        sentences=(*_sentences(read.score, effects), *(choice.sentences if choice is not None else ())),
        notes=(*notes, *(() if read.blocks else (UNPAIRED,))),
    )  # fmt: skip


def _of_run(
    name: str, score: str | None, named: Sequence[str], by: str | None, runs_dir: str | os.PathLike[str]
) -> FactorGrid:
    from karat.core.language import parse
    from karat.experiment.store import find_run
    from karat.experiment.study import values_of
    from karat.results.serial import load_study

    if by not in (None, "question"):
        raise UsageError(f"--by {by}: the scores of a run go with its questions. Write --by question, or leave it out.")
    folder = find_run(runs_dir, name)
    study = load_study(folder.path)
    scores, choice = study.evaluation.scores, study.choice
    known = [measure.name for measure in scores.measures]
    wanted = (
        parse(score, load_code=True).name
        if score is not None
        else choice.best.measure
        if choice is not None
        else study.main
    )
    if wanted not in known:
        raise UsageError(f"the run has no {wanted}.{did_you_mean(wanted, known)} It has {', '.join(known)}.")
    values = values_of(study.evaluation.scores, wanted)
    settings = {one.name: one.settings for one in study.configurations}
    columns = dict.fromkeys(key for one in settings.values() for key in one)
    for column in named:
        if column not in columns:
            raise UsageError(f"--factor {column}: no system has such a setting.{did_you_mean(column, columns)}")
    rows, questions = np.nonzero(np.isfinite(values))
    levels = {
        column: [_said(settings[scores.systems[row]].get(column)) for row in rows.tolist()]
        for column in named or columns
    }
    lost = values.size - len(rows)
    notes = [f"{lost:,} scores are failed or undefined and left out."] if lost else []
    notes.append(f"The best system, and those that equal it: karat show {folder.id}.")
    blocks = [scores.questions[q] for q in questions.tolist()]
    if not named:
        levels = {column: own for column, own in levels.items() if len(set(own)) > 1}
    return FactorGrid(folder.id, wanted, values[rows, questions], levels, "question", blocks, tuple(notes))


def _said(value: Any) -> str:
    return "none" if value is None else ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _of_table(given: Any, score: str | None, named: Sequence[str], by: str | None) -> FactorGrid:
    from karat.diagnose.verify.rows import QuestionRows, plain_value

    table = read_raw_table(given, "grid")
    if not table.rows:
        raise table.error("holds no rows", remedy="Give a table with a row a score.")
    if score is None or not named:
        there = ", ".join(table.columns[:12])
        raise UsageError(f"name the score and each factor: --score COLUMN --factor COLUMN. {table.name} has {there}.")
    rows = QuestionRows(table)
    for option, column in (("--score", score), *(("--factor", name) for name in named), ("--by", by)):
        if column is not None and column not in table.columns:
            near = did_you_mean(column, table.columns)
            raise UsageError(f"{option} {column}: {table.name} has no such column.{near}")
    if score not in rows.numbers:
        raise _no_number(table, rows.texts(score), score)
    values = rows.values(score)
    scored = np.flatnonzero(np.isfinite(values)).tolist()
    lost = len(values) - len(scored)
    notes = (f"{lost:,} of {len(values):,} rows have no {score} and are left out.",) if lost else ()
    levels = {name: [plain_value(rows.texts(name)[i]) or "none" for i in scored] for name in named}
    blocks = [rows.texts(by)[i] for i in scored] if by is not None else []
    return FactorGrid(table.name, score, values[scored], levels, by, blocks, notes)


def _no_number(table: RawTable, texts: Sequence[str], score: str) -> Exception:
    from karat.diagnose.verify.numbers import read_cell

    row = next((i for i, text in enumerate(texts) if text and read_cell(text) is None), None)
    problem = f"the column {score} has no numbers" if row is None else f"{texts[row][:40]!r} is no number"
    return table.error(problem, row=row, field=score, remedy="Leave the cell empty where there is no score.")


def _narrowed(grid: FactorGrid) -> FactorGrid:
    """The grid without factors that say nothing: of one level, or the same as another."""
    notes, own = list(grid.notes), dict[str, list[str]]()
    for name, levels in grid.factors.items():
        many = len(set(levels))
        if many > LEVELS:
            raise UsageError(
                f"{name} has {many:,} levels, more than the {LEVELS} of a factor. Leave it out, or --by it."
            )
        twin = next((o for o, other in own.items() if len({*zip(other, levels, strict=True)}) == many), None)
        if many < 2:
            notes.append(f"{name} has one level ({levels[0] if levels else 'none'}): nothing to compare.")
        elif twin is not None and len(set(own[twin])) == many:
            notes.append(f"{name} changes exactly where {twin} does: {twin} stands for both.")
        else:
            own[name] = levels
    if not own or len(grid.values) < 3:
        raise UsageError(
            f"{grid.source}: an analysis of variance takes three scores or more, and a factor with two levels or more. "
            f"{' '.join(notes)}".rstrip()
        )
    return replace(grid, factors=own, notes=tuple(notes))


def _adjusted(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Effects with p adjusted by Holm over all of them."""
    from karat.stats.corrections import adjust

    adjusted = iter(adjust([effect.p for effect in effects if effect.p is not None]).tolist())
    return tuple(effect if effect.p is None else replace(effect, adjusted=next(adjusted)) for effect in effects)


def _levels(grid: FactorGrid, factor: str) -> tuple[FactorLevel, ...]:
    """The levels of a factor with their means: numbers in their order, then the others as they first stand."""

    def place(level: str) -> tuple[bool, float]:
        try:
            return False, float(level)
        except ValueError:
            return True, 0.0

    own = np.array(grid.factors[factor])
    some = {level: grid.values[own == level] for level in sorted(dict.fromkeys(grid.factors[factor]), key=place)}
    return tuple(FactorLevel(level, len(values), float(values.mean())) for level, values in some.items())


def _choice(grid: FactorGrid, higher: bool) -> Choice | None:
    """The best combination of levels, held against the others block by block."""
    from karat.diagnose.decisions import in_words
    from karat.stats.choose import cells_of, choose

    keys = zip(*grid.factors.values(), strict=True)
    names = [", ".join(map(" ".join, zip(grid.factors, key, strict=True))) for key in keys]
    cells, blocks = list(dict.fromkeys(names)), list(dict.fromkeys(grid.blocks))
    places = {name: i for i, name in enumerate(cells)}, {block: i for i, block in enumerate(blocks)}
    at = np.array([places[0][n] * len(blocks) + places[1][b] for n, b in zip(names, grid.blocks, strict=True)])
    size = len(cells) * len(blocks)
    with np.errstate(invalid="ignore"):
        means = np.bincount(at, grid.values, size) / np.bincount(at, minlength=size)
    table = means.reshape(len(cells), len(blocks))
    scored = cells_of([(name, grid.score, None) for name in cells], table)
    return in_words(choose(grid.score, scored, table, higher_is_better=higher))


def _sentences(score: str, effects: Sequence[Effect]) -> list[str]:
    """The effects in words, the largest factor first; of interactions only what is significant."""
    from karat.results.evaluation import SIGNIFICANT

    sentences = []
    for effect in sorted(effects, key=lambda e: (len(e.factors), -e.eta)):
        p = effect.adjusted
        shown_p = f"p {probability(p)}"
        if len(effect.factors) == 1:
            how = (
                "not testable"
                if p is None
                else f"{'significant' if p <= SIGNIFICANT else 'not significant'} ({shown_p})"
            )
            sentences.append(f"{100 * effect.eta:.1f}% of the spread of {score} goes with {effect.name}: {how}.")
        elif p is not None and p <= SIGNIFICANT:
            sentences.append(
                f"{' and '.join(effect.factors)} interact ({shown_p}): read their cells, not their means alone."
            )
    return sentences
