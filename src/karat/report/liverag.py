"""LiveRAG: an evaluation as the two tables the LiveRAG tools keep of each run.

Columns carry the names used there: context_recall and its like a row, avg_context_recall and its like over all,
shares of records in percent. A measure without such a name stands under karat's own. Each system gets its own pair
of files, as those tools evaluate one result file at a time.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from karat.core.measure import Measure
from karat.core.scores import Status
from karat.core.text.wellformed import well_formed
from karat.core.text.words import clean
from karat.io.formulas import guarded_cell
from karat.report.lookups import EvaluationView, statuses
from karat.results.evaluation import Evaluation, Usage

# measure -> column of a row, column over all
NAMES = {
    "Recall": ("context_recall", "avg_context_recall"),
    "Precision": ("context_precision", "avg_context_precision"),
    "F1": ("context_f1", "avg_context_f1"),
    "nDCG(ideal=retrieved)@10": ("ndcg_10", "ndcg_10"),
    "Retrieved": ("retrieved_docs_count", "avg_retrieved_docs_count"),
    "Gold": ("gold_docs_count", "avg_gold_docs_count"),
    "Correct": ("correct_docs_count", "avg_correct_docs_count"),
    "AnyGold": ("AnyGold", "pct_records_with_at_least_one_ref"),
    "AllGold": ("AllGold", "pct_records_with_all_refs"),
}
PLAIN_NDCG = "nDCG@10"
EVALUATOR = "karat"


def render(
    evaluation: Evaluation,
    *,
    results: str | Mapping[str, str],
    time: datetime,
    name: str = EVALUATOR,
    command: str = "",
) -> dict[str, str]:
    """File name -> content: `<results>.eval<MMDDHHMM>.<name>.{aggregated,rows}.tsv` for each system.

    `results` is the results file's name, or one per system; where two systems come from one file, their own names
    follow `name`. `command` is what was typed to get here.
    """
    view = EvaluationView(evaluation)
    stems = {s: _stem(results if isinstance(results, str) else results.get(s, s)) for s in view.systems}
    files: dict[str, str] = {}
    for index, system in enumerate(view.systems):
        shared = list(stems.values()).count(stems[system]) > 1
        base = f"{stems[system]}.eval{time:%m%d%H%M}.{_slug(f'{name}-{system}' if shared else name)}"
        while f"{base}.rows.tsv" in files:
            base += "_"
        files[f"{base}.aggregated.tsv"] = _tsv([_aggregated(view, system, time, name, command)])
        files[f"{base}.rows.tsv"] = _tsv(_rows(view, index, name))
    return files


def _columns(measures: tuple[Measure, ...]) -> dict[Measure, tuple[str, str]]:
    names = {m.name for m in measures}
    columns = {}
    for measure in measures:
        known = NAMES.get(measure.name)
        if measure.name == PLAIN_NDCG and "nDCG(ideal=retrieved)@10" not in names:
            known = NAMES["nDCG(ideal=retrieved)@10"]
        columns[measure] = known or (measure.name, measure.name)
    return columns


def _aggregated(view: EvaluationView, system: str, time: datetime, name: str, command: str) -> dict[str, Any]:
    steps = {u.what: u for u in view.evaluation.usage if u.system == system}
    seconds = [u for what, u in steps.items() if what.startswith("seconds")]
    spent = _total(view, [steps["seconds total"]] if "seconds total" in steps else seconds)
    row: dict[str, Any] = {
        "evaluator_name": name,
        "sample_count": max((s.n for m in view.measures if (s := view.summary(system, m)) is not None), default=0),
        "system_name": system,
        "timestamp": time.isoformat(),
        "is_aggregated": "True",
        "full_command": command or None,
        "total_time_ms": None if spent is None else 1000 * spent,
        "total_cost": _total(view, [steps["cost_usd"]] if "cost_usd" in steps else []),
    }
    for measure, (_, column) in _columns(view.measures).items():
        s = view.summary(system, measure)
        mean = None if s is None else s.mean
        row[column] = None if mean is None else 100 * mean if measure.spec.unit == "share" else mean
    return row


def _total(view: EvaluationView, steps: list[Usage]) -> float | None:
    """What all steps took over all questions; None where that is not known of each question."""
    known = steps and all(u.n == len(view.evaluation.scores.questions) for u in steps)
    return sum(u.total for u in steps) if known else None


def _rows(view: EvaluationView, system: int, name: str) -> list[dict[str, Any]]:
    scores = view.evaluation.scores
    columns, status = _columns(view.measures), statuses(scores)[system]
    rows = []
    for q, question in enumerate(scores.questions):
        row: dict[str, Any] = {"qid": question, "evaluator_name": name, "is_aggregated": "False"}
        for m, measure in enumerate(scores.measures):
            row[columns[measure][0]] = scores.value(system, q, m) if status[q, m] == Status.ok else None
        row["status"] = Status(int(status[q].max(initial=0))).name
        rows.append(row)
    return rows


def _tsv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    if rows:
        writer.writerow([guarded_cell(clean(title)) for title in rows[0]])
        writer.writerows([_shown(value) for value in row.values()] for row in rows)
    return out.getvalue()


def _shown(value: Any) -> str:
    """Text on one line, numbers in full, an empty cell where there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return guarded_cell(well_formed(clean(value)))
    return repr(value)


def _stem(path: str) -> str:
    """The name of a file without its folders and extension."""
    name = re.split(r"[\\/]", path)[-1].removesuffix(".gz")
    return _slug(name.rpartition(".")[0] or name)


def _slug(text: str) -> str:
    """A text as part of a file name."""
    return re.sub(r"[^\w.-]+", "_", clean(text)).lstrip(".")[:120] or "results"
