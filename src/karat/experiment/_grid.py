"""Grid: scores with the levels of their factors, from a table or a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.diagnose.verify.rows import Rows

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

LEVELS = 30  # most levels of a factor that is found without being named


@dataclass(frozen=True)
class Grid:
    """Scores with the levels of their factors, and the block of each."""

    source: str
    score: str
    values: Floats
    factors: dict[str, list[str]]
    by: str | None
    blocks: list[str]
    notes: tuple[str, ...] = ()

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The number of each score's block."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(block, len(numbers)) for block in self.blocks], np.int64)

    def block_means(self, mask: Bools | None = None) -> Floats:
        """The mean of each block over some scores; NaN for a block that has none of them."""
        codes, values = (self.codes, self.values) if mask is None else (self.codes[mask], self.values[mask])
        many = int(self.codes.max()) + 1
        with np.errstate(invalid="ignore"):
            means: Floats = np.bincount(codes, values, many) / np.bincount(codes, minlength=many)
        return means


def read_grid(
    grid: Any, score: str | None, named: Sequence[str], by: str | None, runs_dir: str | os.PathLike[str]
) -> Grid:
    """The grid of a table or a run, with the factors that are named or, without names, found."""
    found = _of_run(grid, score, by, runs_dir) if _is_run(grid) else _of_table(grid, score, named, by)
    return _narrowed(found, named)


def _is_run(grid: Any) -> bool:
    if not isinstance(grid, str | os.PathLike) or Path(grid).is_file():
        return False
    return Path(grid).is_dir() or "." not in Path(grid).name


def _of_run(reference: Any, score: str | None, by: str | None, runs_dir: str | os.PathLike[str]) -> Grid:
    from karat.core.scores import Status
    from karat.experiment.store import find_run
    from karat.experiment.stored import load_study

    if by not in (None, "question", "question_id"):
        raise UsageError(f"--by {by}: the scores of a run go with its questions. Write --by question, or leave it out.")
    folder = find_run(runs_dir, str(reference))
    study = load_study(folder.path)
    scores = study.evaluation.scores
    measures = _measures_of(scores.measures, score or study.main)
    settings = {c.name: {k: _said(v) for k, v in c.settings.items()} for c in study.configurations}
    columns = list(dict.fromkeys(key for one in settings.values() for key in one))
    values, blocks = [], []
    levels: dict[str, list[str]] = {column: [] for column in [*columns, *(["k"] if len(measures) > 1 else [])]}
    lost = 0
    for s, system in enumerate(scores.systems):
        for m in measures:
            for q, question in enumerate(scores.questions):
                if scores.status[s, q, m] != Status.ok:
                    lost += 1
                    continue
                values.append(float(scores.values[s, q, m]))
                blocks.append(question)
                for column, own in levels.items():
                    cut = column == "k" and column not in columns
                    own.append(str(scores.measures[m].k) if cut else settings.get(system, {}).get(column, "none"))
    notes = (f"{lost:,} scores are failed or undefined and left out.",) if lost else ()
    name = scores.measures[measures[0]].name if len(measures) == 1 else scores.measures[measures[0]].spec.name
    return Grid(folder.id, name, np.array(values), levels, "question", blocks, notes)


def _measures_of(measures: Sequence[Measure], score: str) -> list[int]:
    """The measure that is asked for; without its cut-off, that measure at every cut-off, which is then a factor."""
    from karat.core.language import parse

    names = [measure.name for measure in measures]
    at_cuts = [i for i, m in enumerate(measures) if m.spec.name.lower() == score.lower() and m.k is not None]
    if len(at_cuts) > 1 and score.lower() not in map(str.lower, names):
        return at_cuts
    wanted = parse(score, k=measures[at_cuts[0]].k if at_cuts else None).name
    if wanted not in names:
        raise UsageError(f"the run has no {wanted}.{did_you_mean(wanted, names)} It has {', '.join(names)}.")
    return [names.index(wanted)]


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _of_table(given: Any, score: str | None, named: Sequence[str], by: str | None) -> Grid:
    from karat.diagnose.verify.rows import Rows
    from karat.files import read_plain

    table = read_plain(given, "grid")
    if not table.rows:
        raise InputError("holds no rows", place=table.name, remedy="Give a table with a row a score.")
    rows = Rows(table)
    column = _score_column(rows, score)
    numbers = rows.numbers[column]
    kept = [i for i, number in enumerate(numbers) if number is not None]
    block = _column(rows, by, "--by") if by is not None else None
    chosen = [_column(rows, name, "--factor") for name in named] or _candidates(rows, column, block)
    factors = {name: [_level(rows.texts(name)[i]) for i in kept] for name in chosen if name not in (column, block)}
    notes = []
    if len(kept) < len(numbers):
        notes.append(f"{len(numbers) - len(kept):,} of {len(numbers):,} rows have no {column} and are left out.")
    shared = rows.id_column
    if block is None and shared is not None and shared not in factors and _crossed(rows, shared):
        notes.append(
            f"the same {shared} stands in several rows: this analysis ignores that. With --by {shared} the differences "
            "between its values are taken out first, which tells more apart."
        )
    texts = rows.texts(block) if block is not None else []
    values = np.array([one.value for one in numbers if one is not None])
    return Grid(table.name, column, values, factors, block, [texts[i] for i in kept] if texts else [], tuple(notes))


def _level(text: str) -> str:
    from karat.diagnose.verify.rows import plain_value

    return plain_value(text) or "none"


def _column(rows: Rows, name: str, option: str) -> str:
    from karat.diagnose.verify.names import spelled

    if name in rows.table.columns or spelled(name) in rows.names:
        return name if name in rows.table.columns else rows.names[spelled(name)]
    columns = rows.table.columns
    if spelled(name) == "question" and rows.id_column is not None:
        return rows.id_column
    raise UsageError(f"{option} {name}: {rows.table.name} has no such column.{did_you_mean(name, columns)}")


def _score_column(rows: Rows, score: str | None) -> str:
    from karat.diagnose.verify.names import measure_of

    if score is None:
        known = [c for c in rows.numbers if measure_of(c, 1) is not None]
        if len(known) == 1:
            return known[0]
        offered = ", ".join(known or [c for c in rows.numbers if c != rows.id_column]) or "none"
        raise UsageError(f"which score? Name it with --score; {rows.table.name} has the columns of numbers {offered}.")
    column = rows.column_of(score) or _column(rows, score, "--score")
    if column not in rows.numbers:
        from karat.diagnose.verify._digits import read_cell

        bad = next((i for i, text in enumerate(rows.texts(column)) if text and read_cell(text) is None), None)
        if bad is None:
            raise rows.table.error(f"the column {column} has no numbers", remedy="Name another with --score.")
        said = rows.texts(column)[bad][:40]
        raise rows.table.error(
            f"{said!r} is no number", row=bad, field=column, remedy="Leave the cell empty where there is no score."
        )
    return column


def _candidates(rows: Rows, score: str, block: str | None) -> list[str]:
    """Columns that vary, have few levels and describe configurations: not questions, and not what was measured."""
    from karat.diagnose.verify.figures import is_name

    ids = rows.texts(block) if block is not None else rows.ids if rows.id_column is not None else None
    found = []
    for column, values in rows.labels.items():
        distinct = len(set(values))
        if column in (score, block) or not 1 < distinct <= LEVELS or distinct * 2 > len(values):
            continue
        if column.lower() in ("status", "error", "reason", "state", "answer", "reply"):
            continue
        if ids is not None and _describes(ids, values):
            continue
        found.append(column)
    others = [column for column in found if not is_name(column)]
    cells = list(zip(*(rows.labels[c] for c in others), strict=True)) if others else []
    return [c for c in found if not is_name(c) or not cells or not _describes(cells, rows.labels[c])]


def _describes(ids: Sequence[object], values: Sequence[str]) -> bool:
    """Whether a column has one value for each id, and ids stand in several rows: it says something of the id."""
    of: dict[object, set[str]] = {}
    for one, value in zip(ids, values, strict=True):
        of.setdefault(one, set()).add(value)
    return len(of) < len(values) and all(len(found) == 1 for found in of.values())


def _crossed(rows: Rows, column: str) -> bool:
    texts = rows.texts(column)
    return len(set(texts)) * 2 <= len(texts)


def _narrowed(grid: Grid, named: Sequence[str]) -> Grid:
    """The grid without factors that say nothing: of one level, or the same as another."""
    notes = list(grid.notes)
    wanted = {name.lower() for name in named}
    strange = [name for name in named if name.lower() not in {f.lower() for f in grid.factors}]
    if strange:
        raise UsageError(f"--factor {strange[0]}: there is no such factor.{did_you_mean(strange[0], grid.factors)}")
    kept: dict[str, list[str]] = {}
    for name, levels in grid.factors.items():
        if wanted and name.lower() not in wanted:
            continue
        if len(set(levels)) < 2:
            if wanted or grid.by != "question":
                notes.append(f"{name} has one level ({levels[0] if levels else 'none'}): nothing to compare.")
            continue
        twin = next((other for other, theirs in kept.items() if _same(theirs, levels)), None)
        if twin is not None:
            notes.append(
                f"{name} changes exactly where {twin} does: the two cannot be told apart, and {twin} stands for both."
            )
            continue
        kept[name] = levels
    if not kept:
        raise UsageError(
            f"{grid.source}: no factor with two or more levels. Name the columns with --factor; "
            f"{' '.join(notes) or 'each column is the same in all rows, or another in each.'}"
        )
    if len(grid.values) < 3:
        raise UsageError(f"{grid.source}: {len(grid.values)} scores are too few for an analysis of variance.")
    return replace(grid, factors=kept, notes=tuple(notes))


def _same(first: Sequence[str], second: Sequence[str]) -> bool:
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len(set(first)) == len(set(second))
