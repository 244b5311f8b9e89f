"""Verification: printed figures beside what their rows, or arithmetic alone, allow. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.results.serial import plain

FigureStatus = Literal["mismatch", "impossible", "suspect", "unchecked", "ok"]
FIGURE_STATUSES: tuple[FigureStatus, ...] = get_args(FigureStatus)
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One printed figure, or a whole column of rows, and what became of checking it.

    `mismatch`: the rows give another number. `impossible`: no rows could give it. `suspect`: it can be right, but
    rarely is. `unchecked`: nothing at hand says what it should be.
    """

    where: str  # the system, or the labels of its row; empty: the whole file
    name: str  # the measure or column as the file spells it
    what: str  # mean, std, n, ...; `rows` for a column of values, one a question
    verdict: FigureStatus
    printed: float | None = None
    recomputed: float | None = None
    cause: str = ""
    """One of diagnose.verify.CAUSES, or empty where no cause was found or none is needed."""
    why: str = ""  # in words
    cells: int = 1
    apart: int = 0  # cells that differ
    question: str | None = None  # of the example that `printed` and `recomputed` show

    @property
    def difference(self) -> float | None:
        """Printed less recomputed."""
        return None if self.printed is None or self.recomputed is None else self.printed - self.recomputed

    @property
    def broken(self) -> bool:
        """Whether it is wrong, whatever made it so."""
        return self.verdict in ("mismatch", "impossible")


@dataclass(frozen=True, repr=False)
class Verification(NotebookView):
    """Every figure that was looked at, in the order of the files. `broken`: at least one of them is wrong."""

    rows: str | None
    table: str | None
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether any figure is a mismatch or impossible."""
        return any(figure.broken for figure in self.figures)

    @property
    def checked(self) -> bool:
        """Whether anything at hand said what at least one figure should be."""
        return any(figure.verdict != "unchecked" for figure in self.figures)

    @property
    def causes(self) -> tuple[str, ...]:
        """The causes that were found, each once."""
        return tuple(dict.fromkeys(f.cause for f in self.figures if f.cause and f.verdict not in ("ok", "unchecked")))

    def of(self, verdict: FigureStatus) -> tuple[Figure, ...]:
        """The figures of one verdict."""
        return tuple(figure for figure in self.figures if figure.verdict == verdict)

    def count(self, verdict: FigureStatus) -> int:
        """How many printed values have this verdict; of a column, the cells that do."""
        return sum(f.apart if f.broken and f.apart else f.cells for f in self.of(verdict))

    def plain(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts and numbers, under keys that stay."""
        return {
            "format": FORMAT,
            "rows": self.rows,
            "table": self.table,
            "broken": self.broken,
            "counts": {verdict: self.count(verdict) for verdict in FIGURE_STATUSES},
            "causes": list(self.causes),
            "figures": [{**plain(figure), "difference": plain(figure.difference)} for figure in self.figures],
            "notes": list(self.notes),
        }

    def _line(self) -> str:
        counts = ", ".join(f"{n:,} {verdict}" for verdict in FIGURE_STATUSES if (n := self.count(verdict)))
        files = " and ".join(name for name in (self.rows, self.table) if name is not None)
        return f"{files}; {plural(len(self.figures), 'figure')}" + (f": {counts}" if counts else "")

    def _table(self) -> Table:
        rows = (
            (f.verdict, f.where, f.name, f.what, f.printed, f.recomputed, f.why or f.cause)
            for verdict in FIGURE_STATUSES
            for f in self.of(verdict)
        )
        return ("verdict", "where", "measure", "figure", "printed", "recomputed", "why"), rows
