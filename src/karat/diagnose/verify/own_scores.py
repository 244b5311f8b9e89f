"""Own scores: what a results file prints beside its rankings and gold, put in notes for whoever scores it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from karat.diagnose.verify.recompute import from_lists
from karat.diagnose.verify.rows import rows_of
from karat.diagnose.verify.rules import recomputed
from karat.files import read_raw_table
from karat.results.evaluation import Note
from karat.results.verification import Figure

GUARD = "printed scores"


def check_own_scores(path: str) -> Iterator[Note]:
    """One note a system: all its printed scores follow from its rows, or which do not, with an example."""
    rows = rows_of(read_raw_table(path), sure=True)
    by_system: dict[str, list[Figure]] = defaultdict(list)
    for figure in recomputed.check(rows, from_lists(rows)) if rows is not None else ():
        if figure.verdict != "unchecked":
            by_system[figure.where].append(figure)
    for system, figures in by_system.items():
        broken = [figure for figure in figures if figure.broken]
        counting = [figure.name for figure in broken if figure.cause == "repeats counted"]
        wrong = "; ".join(_example(figure) for figure in broken if figure.name not in counting)
        if wrong:
            yield Note("warning", f"{system}: printed scores do not follow from its rows: {wrong}.", GUARD)
        elif counting:
            columns = ", ".join(counting)
            text = f"{system}: printed {columns} count every chunk of a page, as `--dialect healthcare` does."
            yield Note("warning", text, GUARD)
        else:
            cells = sum(figure.cells for figure in figures)
            yield Note("info", f"{system}: all {cells:,} of its printed scores follow from its rows.")


def _example(figure: Figure) -> str:
    return (
        f"{figure.name} differs in {figure.apart} of {figure.cells} rows (question {figure.question!r}: printed "
        f"{figure.printed:.4f}, its pages give {figure.recomputed:.4f})"
    )
