"""Swept: what a sweep found, and the whole lists behind it for whoever asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.scores import Scores
from karat.core.text.words import plural
from karat.experiment.inputs import slices_of
from karat.experiment.sweep._judge import HeldUnits, scored
from karat.measures.dialects import dialect_named, main_cut
from karat.results.evaluation import Evaluation, InputInfo, Note
from karat.results.study import Choice, Configuration, SweepView
from karat.systems.chunk_columns import ChunkColumns

if TYPE_CHECKING:
    from karat.core.judged import Repeats
    from karat.core.measure import Measure
    from karat.core.ranked import Ranked
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.experiment.sweep.grid import Point
    from karat.match import Pages, Resolution
    from karat.stats.arrays import DistinctRows
    from karat.systems.candidates import Candidates
    from karat.systems.index import Index
    from karat.systems.retrieval import Retrieval


MOST_SCORES = 1 << 26  # half a gigabyte


def check_held(many: int, what: str) -> None:
    """Refuse to hold more scores than memory should."""
    if many > MOST_SCORES:
        raise UsageError(
            f"the sweep has {many:,} {what}, more than the {MOST_SCORES:,} that are held. Take larger steps, fewer "
            "cut-offs (-k) or measures (-m), or fewer questions."
        )


@dataclass(frozen=True)
class SweptIndex:
    """One index of a sweep: what its engines retrieved, and the configurations over it."""

    index: Index
    resolution: Resolution
    points: tuple[Point, ...]
    retrieval: Retrieval = field(repr=False)
    length: int
    pages: Pages = "physical"
    chunk: str | None = None
    embedder: str | None = None
    held: dict[Candidates, HeldUnits] = field(default_factory=dict, repr=False, compare=False)
    """The gold that pools hold, each found once."""

    def pool(self, point: Point) -> Candidates:
        """The candidates that a configuration ranks; shared by all that consult the same legs at the same depth."""
        return self.retrieval.candidates(point.system, self.length)

    def ranked(self, point: Point, *, whole: bool = False) -> Ranked:
        """The list of every question under a configuration; `whole` goes on beyond the sweep's length."""
        ranked = self.pool(point).ranked(point.system)
        return ranked if whole else ranked.top(self.length)

    @cached_property
    def _columns(self) -> ChunkColumns:
        return ChunkColumns(self.index.chunks, self.pages)

    def run(self, point: Point) -> Run:
        """The same as a run that can be scored and written."""
        return self._columns.run(point.name, self.resolution.testset.ids, self.ranked(point))


@dataclass(frozen=True, repr=False, kw_only=True)
class Swept(NotebookView):
    """Scores of every configuration of a sweep.

    `cells` are the main measure at each of its cut-offs, `main` what they have in common, `values` the scores by each
    of them. Those by all `measures` are worked out when they are asked for.
    """

    testset: TestSet
    values: tuple[DistinctRows, ...]
    parts: tuple[SweptIndex, ...]
    cells: tuple[Measure, ...]
    measures: tuple[Measure, ...]
    main: str
    length: int
    repeats: Repeats
    notes: tuple[Note, ...] = ()
    taken: tuple[InputInfo, ...] = ()
    dialect: str = "karat"

    @cached_property
    def scores(self) -> Scores:
        """The scores of every configuration by every measure, where they are not too many to be held."""
        check_held(self._count, "scores by all measures")
        dialect = dialect_named(self.dialect)
        blocks = (scored(part, self.measures, self.repeats, dialect, lambda *_: None) for part in self.parts)
        return Scores.concat([scores for block in blocks for scores, _ in block])

    @property
    def _count(self) -> int:
        """How many scores there are by all measures."""
        return len(self.configurations) * len(self.testset) * len(self.measures)

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """Name and settings of every configuration, in the order of the scores."""
        return tuple(
            point.configuration(part.chunk, part.embedder if "dense" in point.system.consulted else None)
            for part in self.parts
            for point in part.points
        )

    def _line(self) -> str:
        counts = (plural(len(self.configurations), "configuration"), plural(len(self.testset), "question"))
        return "; ".join((self.main, *counts))

    def _table(self) -> Table:
        return self.evaluation(intervals=False)._table()

    @property
    def resolution(self) -> Resolution:
        """The gold beside the chunks that hold it; of the first index where there are several."""
        return self.parts[0].resolution

    def part_of(self, system: str) -> tuple[SweptIndex, Point]:
        """The index and the settings of a configuration."""
        for part in self.parts:
            for point in part.points:
                if point.name == system:
                    return part, point
        raise UsageError(
            f"there is no configuration {system!r}.{did_you_mean(system, [c.name for c in self.configurations])}"
        )

    def ranked(self, system: str, *, whole: bool = False) -> Ranked:
        """The list of every question under a configuration: rows of its index's chunks, best first."""
        part, point = self.part_of(system)
        return part.ranked(point, whole=whole)

    def run(self, system: str) -> Run:
        """The same as a run that can be scored and written."""
        part, point = self.part_of(system)
        return part.run(point)

    def choice(self, by: str | None = "kind", *, k: int | None = None, seed: int = 0) -> Choice | None:
        """The best configuration at a cut-off with its interval and its equals, and the best for each value of a slice.

        Without `k` at 5, where that is swept, else at the smallest. Single engines stand first.
        """
        from karat.experiment.study import choice_of

        main, configurations = self._main(k), self.configurations
        order = sorted(range(len(configurations)), key=lambda s: configurations[s].settings.get("engine") == "hybrid")
        held = self.values[self.cells.index(main)]
        kinds = [q.slice_value(by) if by is not None else None for q in self.testset]
        systems = [configurations[s].name for s in order]
        return choice_of(main, systems, held.rows[held.place[order]], self.testset, kinds=kinds, seed=seed)

    def _main(self, k: int | None) -> Measure:
        """The main measure at a cut-off."""
        by_cut = {m.k: m for m in self.cells if m.k is not None}
        if k is not None and k not in by_cut:
            raise UsageError(f"no cut-off {k} was swept: there are {', '.join(map(str, by_cut)) or 'none'}.")
        return by_cut[k or main_cut(by_cut)] if by_cut else self.cells[0]

    def evaluation(self, by: Iterable[str] = (), *, intervals: bool = True) -> Evaluation:
        """Scores and summaries of every configuration, as reports take them."""
        from karat.stats.summary import summarise

        summaries = summarise(
            self.scores, slices=slices_of(self.testset, tuple(by), {}), intervals=intervals,
            bands=dialect_named(self.dialect).bands,
        )  # fmt: skip
        return Evaluation(
            testset=self.testset,
            scores=self.scores,
            summaries=summaries,
            taken=self.taken,
            notes=self.notes,
            dialect=self.dialect,
        )

    def view(self, by: str | None = "kind", *, seed: int = 0) -> SweepView:
        """What reports show of it: the choice at each cut-off, and by the values of a slice."""
        if by not in (None, "kind"):
            slices_of(self.testset, [by], {})  # refuses what is none
        choices = [choice for measure in self.cells if (choice := self.choice(by, k=measure.k, seed=seed)) is not None]
        if len(choices) < len(self.cells):
            raise UsageError(f"no configuration has a value of {self.main}: no question has relevant gold.")
        main = next(choice for choice in choices if choice.measure == self._main(None).name)
        return SweepView(
            choice=main, choices=choices, configurations=self.configurations, measures=self.cells, taken=self.taken,
            notes=self.notes, slice=by if by in self.testset.slices else None,
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str], view: SweepView | None = None) -> list[Path]:
        """Write the grid as .json, .csv or .txt; into a folder all of these, and row and summary files.

        Where there are too many scores to be held, row and summary files are left out.
        """
        from karat.experiment.report import Report
        from karat.experiment.settings import Choices
        from karat.io.writing import write_whole
        from karat.report import objects, tables
        from karat.report.build.sweep import document
        from karat.report.render import written as rendered

        target, view = Path(path), view or self.view()
        written: dict[str, Callable[[SweepView], str]] = {
            ".json": objects.sweep, ".csv": tables.sweep, ".txt": lambda v: rendered(document(v), ".txt")
        }  # fmt: skip
        if target.suffix.lower() in written and not target.is_dir():
            write_whole(target, written[target.suffix.lower()](view))
            return [target]
        if target.suffix and not target.is_dir():
            raise UsageError(
                f"cannot tell a format from {target.name!r}. Endings: {', '.join(sorted(written))}; or name a folder."
            )
        saved: list[Path] = []
        if self._count <= MOST_SCORES:
            report = Report(self.evaluation((view.slice,) if view.slice else ()), [], Choices(dialect=self.dialect))
            saved += report.save(target)
        for ending, render in written.items():
            write_whole(target / f"sweep{ending}", render(view))
            saved.append(target / f"sweep{ending}")
        return saved
