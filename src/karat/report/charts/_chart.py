"""Chart: what a file of this room registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, TypeAlias

from karat.core.registry import Registry, instance_of
from karat.results.study import Study

if TYPE_CHECKING:
    import altair as alt

__all__ = ["CHARTS", "Chart", "Figure", "Missing", "Study", "in_order"]

Figure: TypeAlias = "alt.TopLevelMixin"


@dataclass(frozen=True)
class Missing:
    """Why a chart is not drawn: the study lacks what it shows, or (`broken`) drawing it raised."""

    reason: str
    broken: bool = False


@dataclass(frozen=True)
class Chart:
    """One chart, called as its file is. A `number` puts it first and stands before the name of its files."""

    name: str
    title: str
    about: str
    make: Callable[[Study], Figure | Missing]
    _: KW_ONLY
    number: int | None = None

    @property
    def stem(self) -> str:
        """The name of its files, without an ending."""
        return self.name if self.number is None else f"{self.number}_{self.name}"


CHARTS = Registry("chart", ("karat.report.charts",), "karat.charts", instance_of(Chart, "chart"))


def in_order() -> list[Chart]:
    """The numbered charts, then the others by name."""
    return sorted(CHARTS, key=lambda chart: (chart.number is None, chart.number or 0, chart.name))
