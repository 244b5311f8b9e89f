"""ParetoFront: systems by a measure against what they cost, and which of them no other beats. Plain data, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from karat.core.errors import UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural

if TYPE_CHECKING:
    import polars as pl

Cost = Literal["seconds", "tokens", "cost_usd"]
COSTS: tuple[Cost, ...] = get_args(Cost)
STATISTIC: Mapping[str, Literal["p50", "mean"]] = {"seconds": "p50", "tokens": "mean", "cost_usd": "mean"}
"""What stands for a system: the median of its seconds, of which a few slow questions make the mean; else the mean."""


def cost_named(name: str) -> Cost:
    """The cost of this name; any other name is refused."""
    cost = next((cost for cost in COSTS if cost == name), None)
    if cost is None:
        raise UsageError(f"unknown cost {name!r}.{did_you_mean(name, COSTS)} There are {', '.join(COSTS)}.")
    return cost


@dataclass(frozen=True, kw_only=True)
class ParetoPoint:
    """A system by its mean with the 95% interval, and what a question costs it."""

    system: str
    value: float
    low: float | None
    high: float | None
    cost: float
    on_front: bool
    dominated_by: tuple[str, ...] = ()
    """Systems of the front that are at least as good in both and better in one."""
    n: int | None = None  # questions with a value; None in files of earlier versions


@dataclass(frozen=True, kw_only=True)
class ParetoSaving:
    """A system of the front, and the cheapest one of it that is not significantly worse."""

    system: str
    cheaper: str
    times: float | None  # what `system` costs as a multiple of `cheaper`; None where that costs nothing
    difference: float | None  # of the means, over the questions that both have a value for: system - cheaper
    low: float | None
    high: float | None
    adjusted: float  # p of the paired permutation test after Holm's correction
    n: int


@dataclass(frozen=True, repr=False, kw_only=True)
class ParetoFront(NotebookView):
    """Systems by one measure against one cost, the cheapest first.

    Equal points stand on the front together. A point is dominated by points alone: whether the difference between two
    systems of the front is significant is told by `savings`, of the pairs that were tested.
    """

    measure: str
    cost: Cost
    higher_is_better: bool = True
    points: tuple[ParetoPoint, ...] = ()
    savings: tuple[ParetoSaving, ...] = ()
    without_cost: tuple[str, ...] = ()  # systems left out, since what they cost is not known
    without_value: tuple[str, ...] = ()  # since they have no mean
    not_ranked: tuple[str, ...] = ()  # since their mean is over other questions, or other gold

    @property
    def front(self) -> tuple[str, ...]:
        """The systems that none dominates, the cheapest first."""
        return tuple(point.system for point in self.points if point.on_front)

    @property
    def statistic(self) -> str:
        """What stands for the cost of a system: p50 of its seconds, the mean of tokens and cost_usd."""
        return STATISTIC[self.cost]

    @property
    def n_left_out(self) -> int:
        """Systems that are no points."""
        return len(self.without_cost) + len(self.without_value) + len(self.not_ranked)

    def to_polars(self) -> pl.DataFrame:
        """A row a point, with the cost under its own name."""
        import polars as pl

        names = [f.name for f in fields(ParetoPoint)]
        kinds: dict[str, Any] = dict(
            zip(names, (pl.String, *[pl.Float64] * 4, pl.Boolean, pl.List(pl.String), pl.Int64), strict=True)
        )
        columns = {name: [getattr(point, name) for point in self.points] for name in names}
        heads, _ = self._table()
        return pl.DataFrame(columns, schema=kinds).rename(dict(zip(names, heads, strict=True)))

    def _line(self) -> str:
        left_out = f"; {plural(self.n_left_out, 'system')} left out" if self.n_left_out else ""
        return (
            f"{self.measure} against {self.cost} ({self.statistic}): {len(self.front):,} of "
            f"{plural(len(self.points), 'system')} on the front{left_out}"
        )

    def _table(self) -> Table:
        cost = f"{self.cost}_{self.statistic}"
        heads = ("system", self.measure, "low", "high", cost, "on_front", "dominated_by", "n")
        rows = ((p.system, p.value, p.low, p.high, p.cost, p.on_front, p.dominated_by, p.n) for p in self.points)
        return heads, rows
