"""Tuner: one setting after the other over what each engine found once, as a sweep of that setting alone scores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.experiment.sweep import length_of, main_name, measures_of, score_cells
from karat.experiment.sweep.grid import Grid
from karat.experiment.sweep.swept import Swept, SweptIndex
from karat.fuse import FUSIONS
from karat.fuse.weighted import NORMALISE
from karat.match import Exclusions, Resolution
from karat.measures.dialects import Dialect, dialect_named, main_cut
from karat.stats.arrays import DistinctRows
from karat.systems.retrieval import Retrieval
from karat.systems.settings import DEPTH, OF_FUSION, SystemSettings

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.experiment.settings import Choices
    from karat.experiment.sweep._judge import HeldUnits
    from karat.retrieve import Progress
    from karat.systems.candidates import Candidates
    from karat.systems.index import Index

DEPTHS = (10, 20, 50, DEPTH, 200)
CUTS = (1, 3, 5, 10, 20)
STEP = 0.05
CURVE = f"0:1:{STEP}"
MOST_POOLS = 16  # of legs laid over each other that are held; a curve of one depth takes three
LARGEST_K, LARGEST_RRF_K = 100, 1000.0


@dataclass
class Tuner:
    """A test set over an index, each engine searched once at the greatest depth that is offered.

    `main` is the measure that decides, without its cut-off where it has one. One thread at a time may ask it.
    """

    testset: TestSet
    index: Index
    resolution: Resolution = field(repr=False)
    retrieval: Retrieval = field(repr=False)
    choices: Choices
    main: str | None
    cuts: tuple[int, ...]
    depths: tuple[int, ...]
    _held: dict[Candidates, HeldUnits] = field(default_factory=dict, repr=False)

    @classmethod
    def open(
        cls, testset: TestSet, index: Index, choices: Choices, *, main: str | None = None, cuts: Sequence[int] = (),
        depths: Sequence[int] = (), progress: Progress = lambda what, done, total: None,
    ) -> Tuner:  # fmt: skip
        """Resolve the gold and search by each leg; `cuts` and `depths` are offered besides the usual ones."""
        from karat.experiment.inputs import refuse_unsearchable, resolved
        from karat.systems.engines import Engines

        legs = SystemSettings.legs
        lacking = [leg for leg in legs if leg not in index.engines]
        if lacking:
            raise UsageError(
                f"the index has no {lacking[0]} engine, so there is nothing to weigh. Build it with "
                f"{' and '.join(legs)}: karat index DOCS -o INDEX."
            )
        refuse_unsearchable(testset)
        steps = 2 + len(legs)
        progress("reading the index", 0, steps)
        resolution = resolved(testset, index, choices, lambda what: progress(what, 1, steps))
        done = iter(range(2, steps))

        def searching(what: str, _done: int, _total: int) -> None:
            progress(what, next(done, steps - 1), steps)

        offered = tuple(sorted({*DEPTHS, *(d for d in depths if d <= max(DEPTHS))}))
        own = tuple(sorted({*CUTS, *(k for k in cuts if k <= LARGEST_K)}))
        texts = [question.text for question in testset]
        retrieval = Retrieval(Engines(index), texts, progress=searching, excluded=Exclusions(testset))
        deepest = SystemSettings(depth=max(*offered, LARGEST_K))
        retrieval.plan([deepest], deepest.depth)
        tuner = cls(testset, index, resolution, retrieval, choices, main, own, offered)
        retrieval.candidates(SystemSettings(depth=DEPTH), 1)
        return tuner

    def grid(self, **values: str) -> Grid:
        """The grid of one setting, as texts say it."""
        given = {name: value for name, value in values.items() if value != ""}
        grid = Grid.of(**{"alpha": str(SystemSettings.alpha), "k": str(self.usual_cut), **given})
        for name in (*_KNOWN, "k"):
            if len(getattr(grid, name)) != 1:
                raise UsageError(
                    f"{name}={values[name]!r:.60}: one value is tuned at a time. `karat sweep` takes several."
                )
        if grid.depth[0] not in self.depths:
            raise UsageError(f"depth={grid.depth[0]}: take one of {', '.join(map(str, self.depths))}.")
        if grid.k[0] > LARGEST_K:
            raise UsageError(f"k={grid.k[0]}: take {LARGEST_K} at most.")
        if grid.rrf_k[0] > LARGEST_RRF_K:
            raise UsageError(f"rrf_k={grid.rrf_k[0]:g}: take {LARGEST_RRF_K:g} at most.")
        return grid

    def curve(self, grid: Grid) -> Grid:
        """The grid of every alpha with the other values of a setting, and the setting itself."""
        alphas = Grid.of(alpha=CURVE).alpha
        fusion = tuple(dict.fromkeys(("weighted", *grid.fusion)))
        own = {name: getattr(grid, name) for name in ("k", "normalise", "rrf_k", "depth")}
        return Grid(alpha=tuple(sorted({*alphas, *grid.alpha})), fusion=fusion, **own)

    @property
    def usual_cut(self) -> int:
        """The cut-off that is taken where none is named."""
        return main_cut(self.cuts)

    @property
    def controls(self) -> list[dict[str, object]]:
        """What can be set, and within which values: what a page draws."""
        usual = SystemSettings
        return [
            {"name": "fusion", "values": FUSIONS.keys(), "usual": usual.fusion},
            {"name": "alpha", "of": OF_FUSION["alpha"], "low": 0, "high": 1, "step": STEP, "usual": usual.alpha},
            {"name": "normalise", "of": OF_FUSION["normalise"], "values": list(NORMALISE), "usual": usual.normalise},
            {"name": "rrf_k", "of": OF_FUSION["rrf_k"], "low": 0, "high": 200, "step": 5, "usual": usual.rrf_k},
            {"name": "depth", "values": list(self.depths), "usual": usual.depth},
            {"name": "k", "values": list(self.cuts), "usual": self.usual_cut},
        ]

    def swept(self, grid: Grid) -> Swept:
        """The sweep over a grid of settings."""
        cells, wanted = measures_of(grid, self._measures(grid), self.main, self.dialect, self.choices.matching.rel)
        length = length_of(grid, wanted, None)
        points, _ = grid.points(length)
        if len(self.retrieval.pools) > MOST_POOLS:
            self.retrieval.pools.clear()
            self._held.clear()
        part = SweptIndex(
            self.index, self.resolution, points, self.retrieval, length, self.choices.matching.pages, held=self._held
        )
        repeats = self.choices.matching.repeats or self.dialect.repeats
        values = tuple(DistinctRows(np.zeros((0, len(self.testset)))) for _ in cells)
        score_cells(part, cells, values, repeats, self.dialect, lambda *_: None)
        return Swept(
            testset=self.testset, values=values, parts=(part,), cells=cells, measures=wanted, main=main_name(cells),
            length=length, repeats=repeats, dialect=self.choices.dialect,
        )  # fmt: skip

    @property
    def dialect(self) -> Dialect:
        """How measures are meant."""
        return dialect_named(self.choices.dialect)

    def _measures(self, grid: Grid) -> list[str]:
        """The dialect's measures with a cut-off: what has none depends on how deep each engine is asked."""
        return [text.replace("{K}", str(grid.k[0])) for text in self.dialect.ranking if "{K}" in text]


_KNOWN = ("alpha", "fusion", "normalise", "rrf_k", "depth")
