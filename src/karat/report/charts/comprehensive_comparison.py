"""A table of systems and measures, each mean on the colour of its value."""

from __future__ import annotations

from typing import Any

from karat.report.charts._cells import cell_rows, cells
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import BARS, Lens, wrap
from karat.report.charts._style import headed

COLUMNS = 9


def make(study: Study) -> Figure | Missing:
    """Colour only where a measure lies between 0 and 1; darker is higher, whichever way is better."""
    lens = Lens(study)
    measures = lens.main_measures(COLUMNS)
    if not measures:
        return Missing("no measure has a value for any system")
    systems = lens.shown(BARS)
    rows: list[dict[str, Any]] = []
    columns: list[str] = []
    for measure in measures:
        lower = "\n(lower is better)" if measure.spec.direction == "lower" else ""
        columns.append(wrap(measure.name, 13) + lower)
        rows += cell_rows(lens, systems, columns[-1], measure)
    marked = "* best mean; ~ its interval overlaps that of the best. " if len(systems) > 1 else ""
    return cells(rows, lens.domain(systems), columns, 1.0).properties(
        title=headed(
            chart.title,
            lens.subtitle(
                f"Mean over its 95% interval; darker is higher, grey has no value or no common scale. {marked}",
                measures,
                systems,
            ),
        )
    )


chart = Chart(
    "comprehensive_comparison",
    "All systems by all main measures",
    "A table of means with 95% intervals, coloured by value.",
    make,
    number=4,
)
