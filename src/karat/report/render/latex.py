"""LaTeX: the tables of a document for a paper, with booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.words import clean
from karat.report.document import Cell, Column, Detail, Document, Table, Value, write_cell

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "–": "--", "±": r"$\pm$",
}  # fmt: skip


def render(document: Document, *, label: str = "tab:karat") -> str:
    r"""Each table as a float; needs \usepackage{booktabs}. The best figure is bold, intervals are small."""
    tables = [block for block in document.at(Detail.FULL) if isinstance(block, Table)]
    labels = [label if i == 1 else f"{label}-{i}" for i in range(1, len(tables) + 1)]
    return "\n".join(_float(table, name) for table, name in zip(tables, labels, strict=True))


def escape(text: str) -> str:
    """Plain text that LaTeX prints as it stands."""
    return "".join(_SIGNS.get(sign, sign) for sign in clean(text))


def _float(table: Table, label: str) -> str:
    caption = " ".join([f"{table.caption}.", *table.footnotes])
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{escape(caption)}}}",
        f"  \\label{{{label}}}",
        "  \\begin{tabular}{" + "".join("r" if column.is_figure else "l" for column in table.columns) + "}",
        "    \\toprule",
        "    " + " & ".join(escape(column.title) for column in table.columns).strip() + " \\\\",
        "    \\midrule",
        *(f"    {_row(row, table)} \\\\" for row in table.rows),
        "    \\bottomrule",
        "  \\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(row: Sequence[Cell], table: Table) -> str:
    cells = [_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)]
    first = cells[0]  # where \\ would take a bracket or a star for its own
    return " & ".join(["{}" + first if first.startswith(("[", "*")) else first, *cells[1:]])


def _cell(cell: Cell, column: Column) -> str:
    written = write_cell(cell, column.kind)
    if not isinstance(cell, Value):
        return escape(written.text)
    figure = escape(written.text.removesuffix(cell.mark) if cell.mark else written.text)
    figure = f"\\textbf{{{figure}}}" if cell.best else figure
    mark = f"$^{{{_superscript(cell.mark)}}}$" if cell.mark else ""
    beside = "; ".join(filter(None, (written.beside, written.note)))
    return f"{figure}{mark}" + (f" {{\\footnotesize {escape(beside)}}}" if beside else "")


def _superscript(mark: str) -> str:
    return mark.strip().replace("~", "\\sim")
