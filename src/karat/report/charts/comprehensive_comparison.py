"""A table of systems and measures, each mean on the colour of its value."""

from __future__ import annotations

from karat.report.charts._cells import cells
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
    rows, columns = [], []
    for measure in measures:
        marks = lens.marks(measure)
        lower = "\n(lower is better)" if measure.spec.direction == "lower" else ""
        columns.append(wrap(measure.name, 13) + lower)
        for system in systems:
            row = lens.cell(system, measure)
            row["column"] = columns[-1]
            row["shade"] = row["mean"] if measure.bounds == (0.0, 1.0) else None
            row["shown"] = row["said"] + ("*" if system in marks.best else "~" if system in marks.near else "")
            rows.append(row)
    marked = "* best mean; ~ its interval overlaps that of the best. " if len(systems) > 1 else ""
    return cells(rows, lens.domain(systems), columns, 1.0).properties(
        title=headed(
            chart.title,
            [
                f"{lens.counted(measures, systems)}. Mean over its 95% interval; darker is higher, grey has no value "
                f"or no common scale. {marked}",
                lens.left_out(systems),
                lens.gaps(measures, systems),
            ],
        )
    )


chart = Chart(
    "comprehensive_comparison",
    "All systems by all main measures",
    "A table of means with 95% intervals, coloured by value.",
    make,
    number=4,
)
