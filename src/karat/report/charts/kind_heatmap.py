"""A table of systems and kinds of question, by the main measure."""

from __future__ import annotations

from typing import Any

from karat.report.charts._cells import cell_rows, cells
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import BARS, Lens, distinct, wrap
from karat.report.charts._style import headed

SLICE, COLUMNS = "kind", 9


def make(study: Study) -> Figure | Missing:
    """Kinds with the most questions first; each column marks its own best."""
    lens = Lens(study)
    main = lens.main
    if main is None or lens.best is None:
        return Missing("the main measure has no value for any system")
    kinds = lens.slices.get(SLICE, [])
    if not kinds:
        return Missing("the study is not summarised by kind of question")
    sizes = {kind: max((s.n for s in lens.row(main, SLICE, kind)), default=0) for kind in kinds}
    chosen = sorted(kinds, key=lambda kind: -sizes[kind])[:COLUMNS]
    names = distinct(chosen, 30)
    systems = lens.shown(BARS)
    rows: list[dict[str, Any]] = []
    columns: list[str] = []
    for kind in chosen:
        columns.append(f"{wrap(names[kind], 14)}\nn = {sizes[kind]:,}")
        rows += cell_rows(lens, systems, columns[-1], main, SLICE, kind)
    most = max((row["shade"] for row in rows if row["shade"] is not None), default=1.0)
    left = len(kinds) - len(chosen)
    more = f"The tables also hold {left} more kind{'s' if left > 1 else ''} of question." if left else ""
    marked = "* best of its kind; ~ its interval overlaps that of the best." if len(systems) > 1 else ""
    return cells(rows, lens.domain(systems), columns, most or 1.0).properties(
        title=headed(
            f"{main.name} by kind of question",
            [
                f"n stands under each kind. Mean over its 95% interval; darker is higher, grey has no value. {marked}",
                f"{lens.left_out(systems)} {more}",
            ],
            max(560, 160 + 92 * len(columns)),
        )
    )


chart = Chart(
    "kind_heatmap",
    "The main measure by kind of question",
    "Which system does well on which kind of question, with 95% intervals.",
    make,
)
