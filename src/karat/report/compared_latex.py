"""Compared, LaTeX: the table of means with significance marks as papers print them, with booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report._compared_words import TESTS, correction, ranked
from karat.report._escape import latex as escape
from karat.report._numbers import number
from karat.report.compared import letters, marks

if TYPE_CHECKING:
    from karat.results.comparison import Comparison


def render(found: Comparison, *, label: str = "tab:karat-compare") -> str:
    r"""A table float; needs \usepackage{booktabs}. The best mean of a measure is bold, marks are superscripts.

    Without a baseline they are the letters of the systems that are beaten; with one, * and ** for .05 and .01, and the
    change over it in percent.
    """
    of, marked = letters(found), marks(found)
    means = {(mean.system, mean.measure): mean for mean in found.means}
    best = {measure.name: ranked(found, measure)[:1] for measure in found.measures if measure.direction != "none"}
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{_caption(found)}}}",
        f"  \\label{{{label}}}",
        "  \\begin{tabular}{" + ("ll" if found.baseline is None else "l") + "r" * len(found.measures) + "}",
        "    \\toprule",
        "    " + " & ".join([*([""] if found.baseline is None else []), "", *(escape(m.name) for m in found.measures)])
        + " \\\\",
        "    \\midrule",
    ]  # fmt: skip
    for system in found.systems:
        cells = [f"${of[system]}$", escape(system)] if found.baseline is None else ["{}" + escape(system)]
        for measure in found.measures:
            mean = means[system, measure.name]
            value = escape(number(mean.mean))
            if any(one.system == system for one in best.get(measure.name, ())):
                value = f"\\textbf{{{value}}}"
            mark = marked.get((system, measure.name))
            value += f"$^{{{mark}}}$" if mark else ""
            if mean.over is not None:
                value += f" {{\\footnotesize ({100 * mean.over:+.1f}\\%)}}"
            cells.append(value)
        lines.append("    " + " & ".join(cells) + " \\\\")
    lines += ["    \\bottomrule", "  \\end{tabular}", "\\end{table}"]
    return "\n".join(lines) + "\n"


def _caption(found: Comparison) -> str:
    tests = ", ".join(filter(None, (TESTS[found.test], correction(found), f"$p \\leq {found.level:g}$")))
    if found.baseline is None:
        mark = "Superscripts name the systems that a mean is significantly better than"
    else:
        mark = f"$^{{*}}$ and $^{{**}}$ mark significant differences from {escape(found.baseline)} ($p \\leq .05, .01$)"
    return f"Means over {len(found.questions):,} questions. {mark} ({tests}). The best mean is bold."
