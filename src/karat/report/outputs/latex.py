"""LaTeX: the table of means for a paper, with booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report._escape import latex as escape
from karat.report._numbers import NONE, figure, interval
from karat.report._output import Output
from karat.report._view import Marks, View

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.evaluation import Evaluation, Summary

COLUMNS = 5  # systems as columns; more stand as rows


def render(evaluation: Evaluation, *, caption: str | None = None, label: str = "tab:karat") -> str:
    r"""A table float; needs \usepackage{booktabs}. The best mean of a measure is bold, intervals are small."""
    view = View(evaluation)
    names = [escape(s) for s in view.systems]
    titles = [escape(m.name) for m in view.measures]
    cells = []
    for measure in view.measures:
        marks = view.marks(measure)
        cells.append([_cell(measure, view.summary(s, measure), marks) for s in view.systems])
    across, down = (names, titles) if len(names) <= COLUMNS else (titles, names)
    rows = cells if across is names else [list(column) for column in zip(*cells, strict=True)]
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{escape(caption) if caption else _caption(view)}}}",
        f"  \\label{{{label}}}",
        "  \\begin{tabular}{l" + "r" * len(across) + "}",
        "    \\toprule",
        "    " + " & ".join(["", *across]).strip() + " \\\\",
        "    \\midrule",
        *("    " + " & ".join([_first(name), *row]) + " \\\\" for name, row in zip(down, rows, strict=True)),
        "    \\bottomrule",
        "  \\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _first(name: str) -> str:
    r"""A name at the start of a row, where \\ would take a bracket or star for its own."""
    return "{}" + name if name.startswith(("[", "*")) else name


def _cell(measure: Measure, s: Summary | None, marks: Marks) -> str:
    if s is None or s.mean is None:
        return escape(NONE)
    mean = escape(figure(measure, s.mean))
    if s.system in marks.best:
        mean = f"\\textbf{{{mean}}}"
    beside = "; ".join(filter(None, (interval(measure, s.low, s.high), s.note)))
    return f"{mean} {{\\footnotesize {escape(beside)}}}" if beside else mean


def _caption(view: View) -> str:
    sizes = sorted({s.n for m in view.measures for s in view.row(m)})
    many = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}" if sizes else "no"
    best = " The best mean of each measure is bold." if any(view.marks(m).best for m in view.measures) else ""
    return f"Means over {many} questions with 95\\% intervals (Wilson or ABC).{best}"


OUTPUT = Output(".tex", render)
