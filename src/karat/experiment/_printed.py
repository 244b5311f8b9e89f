"""Scores that a results file prints of itself, checked against what its own rankings give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError
from karat.results.evaluation import InputInfo, Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Repeats
    from karat.core.run import Run
    from karat.core.types import TestSet

TOLERANCE = 1e-4


def check_printed(results: Sequence[InputInfo], columns: Mapping[str, str]) -> list[Note]:
    """Notes on what rows files that hold rankings and gold (healthcare) print of themselves.

    Each file is checked against its own gold, so the test set may be another.
    """
    from karat.files import printed_measures, read_results, read_testset

    notes: list[Note] = []
    for one in results:
        if one.format != "healthcare" or not Path(one.place).is_file():
            continue
        testset, _ = read_testset(one.place, columns=columns)
        runs, _ = read_results(one.place, columns=columns)
        for run in runs:
            printed = printed_measures(one.place, columns=columns).get(run.name)
            if printed is not None and printed.rows:
                k = printed.k or max(1, int(np.diff(run.offsets).max(initial=1)))
                notes.extend(_check(testset, run, printed.rows, k))
                notes.extend(_check_means(run.name, printed.rows, k))
    return notes


def _check_means(system: str, printed: Mapping[str, Mapping[str, float]], k: int) -> tuple[Note, ...]:
    """The guards of a table over the means of what was printed."""
    from karat.diagnose.guards import check_table
    from karat.diagnose.verify.names import BARE

    columns = dict.fromkeys(c for row in printed.values() for c in row)
    means = {c: float(np.mean([row[c] for row in printed.values() if c in row])) for c in columns}
    table = {f"{system} (printed)": {BARE.get(c.lower(), c): v for c, v in means.items()}}
    return check_table(table, k=k, slack=TOLERANCE)


def _check(testset: TestSet, run: Run, printed: Mapping[str, Mapping[str, float]], k: int) -> list[Note]:
    """One note a system: all agree, or which column does not, with an example."""
    columns = list(dict.fromkeys(c for row in printed.values() for c in row))
    ways: tuple[Repeats, ...] = ("once", "count")
    recomputed = {way: _recompute(testset, run, columns, way, k) for way in ways}
    index = {qid: i for i, qid in enumerate(testset.ids)}
    wrong: list[str] = []
    counting: list[str] = []
    total = 0
    for column in columns:
        cells = [(q, row[column]) for q, row in printed.items() if column in row and q in index]
        known = {way: values.get(column) for way, values in recomputed.items()}
        if known["once"] is None or not cells:
            continue
        total += len(cells)
        apart = {
            way: [(q, v, values[index[q]]) for q, v in cells if not abs(v - values[index[q]]) <= TOLERANCE]
            for way, values in known.items()
            if values is not None
        }
        if not apart["once"]:
            continue
        if not apart.get("count", apart["once"]):
            counting.append(column)
            continue
        in_both = [row for row in apart["once"] if row[0] in {q for q, *_ in apart["count"]}]
        q, said, found = (in_both or apart["once"])[0]
        wrong.append(
            f"{column} differs in {len(apart['once'])} of {len(cells)} rows (question {q!r}: printed {said:.4f}, "
            f"its pages give {found:.4f})"
        )
    if not total:
        return []
    name = run.name
    if wrong:
        return [
            Note(
                "warning", f"{name}: printed scores do not follow from its rows: {'; '.join(wrong)}.", "printed scores"
            )
        ]
    if counting:
        text = f"{name}: printed {', '.join(counting)} count every chunk of a page, as `--dialect healthcare` does."
        return [Note("warning", text, "printed scores")]
    return [Note("info", f"{name}: all {total:,} of its printed scores follow from its rows.")]


def _recompute(
    testset: TestSet, run: Run, columns: Sequence[str], repeats: Repeats, k: int
) -> dict[str, NDArray[np.float64]]:
    from karat.diagnose.verify.names import measure_of
    from karat.diagnose.verify.recompute import scores_of
    from karat.match import JudgingSettings, judge

    asked = {c: m for c in columns if (m := measure_of(c, k)) is not None and m.spec.stage == "retrieval"}
    measures = tuple(dict.fromkeys(asked.values()))
    try:
        found = scores_of(judge(testset, [run], "page", JudgingSettings(repeats=repeats)), measures)
    except KaratError:
        return {}
    return {column: found[measure.name] for column, measure in asked.items()}
