"""Frame: rows and summaries as polars frames, from which csv and parquet are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import Status
from karat.core.text.wellformed import well_formed
from karat.core.types import Gold, Question
from karat.report.lookups import statuses

if TYPE_CHECKING:
    import polars as pl

    from karat.results.evaluation import Evaluation

SUMMARY = {
    "system": "system",
    "measure": "measure",
    "slice": "slice",
    "value": "value",
    "n": "n",
    "n_undefined": "n_undefined",
    "n_failed": "n_failed",
    "mean": "mean",
    "low": "low",
    "high": "high",
    "worst": "worst",
    "best": "best",
    "std": "std",
    "min": "min",
    "25%": "q25",
    "50%": "q50",
    "75%": "q75",
    "max": "max",
    "n_missing": "n_missing",
    "mean_answered": "mean_answered",
    "mean_with_missing": "mean_with_missing",
    "note": "note",
}
TEXT = ("system", "measure", "slice", "value", "note")
_OTHER = [f.name for f in fields(Gold) if f.name not in ("page", "grade")]
COUNTS = ("n", "n_undefined", "n_failed", "n_missing")


def summary(evaluation: Evaluation) -> pl.DataFrame:
    """One row per system x measure x slice; slice and value are null over the whole set."""
    import polars as pl

    types = {c: pl.String if c in TEXT else pl.Int64 if c in COUNTS else pl.Float64 for c in SUMMARY}
    columns = {c: [_safe(getattr(s, f)) for s in evaluation.summaries] for c, f in SUMMARY.items()}
    return pl.DataFrame(columns, schema=types)


def rows(evaluation: Evaluation, *, flat: bool = False) -> pl.DataFrame:
    """One row per system x question: what is known of the question, ranked ids, answer, and every measure.

    `status` is the gravest of the row and `reason` says why. Beside a measure's column stand its own `.status` and
    `.reason`, unless `flat`, which writes lists as JSON and adds alpha, k and milliseconds of retrieval, documents and
    pages of the hits, and the gold, of what is known.
    """
    import polars as pl

    scores = evaluation.scores
    systems, questions = len(scores.systems), len(scores.questions)
    asked = {q.id: q for q in evaluation.testset.questions}
    known = [asked.get(q) for q in scores.questions]
    tags = list(dict.fromkeys(tag for q in known if q is not None for tag in q.tags))
    text: dict[str, list[str | None]] = {
        "system": [_safe(s) for s in scores.systems for _ in range(questions)],
        "question_id": [_safe(q) for q in scores.questions] * systems,
        "question": [_safe(q.text) if q is not None and q.text else None for q in known] * systems,
        "kind": [_safe(q.kind) if q is not None else None for q in known] * systems,
    }
    for tag in tags:
        text[_safe(f"tag.{tag}")] = [_safe(q.tags.get(tag)) if q is not None else None for q in known] * systems
    columns: dict[str, Any] = {name: pl.Series(name, values, pl.String) for name, values in text.items()}
    if flat:
        columns |= _settings(evaluation)
    if evaluation.ranked:
        columns["ranked"] = _ranked(evaluation, flat)
    if flat:
        columns |= _places(evaluation, known)
    if evaluation.ranked_scores and not flat:
        columns["ranked_scores"] = _ranked_scores(evaluation)
    if evaluation.answers:
        answers = [evaluation.answers.get(s, [None] * questions) for s in scores.systems]
        columns["answer"] = pl.Series("answer", [_safe(a) for row in answers for a in row], pl.String)
    status = statuses(scores).reshape(systems * questions, -1)
    names = pl.Series([s.name for s in Status])
    reasons: list[list[str | None]] = []
    columns["status"] = names.gather(status.max(axis=1, initial=0).astype(np.uint32))
    columns["reason"] = pl.Series("reason", _reasons(evaluation), pl.String)
    if not flat:
        reasons = [[None] * (systems * questions) for _ in scores.measures]
        for (s, q, m), reason in scores.reasons.items():
            reasons[m][s * questions + q] = well_formed(reason)
    for m, measure in enumerate(scores.measures):
        name = _safe(measure.name)
        values = np.where(status[:, m] == Status.ok, scores.values[:, :, m].reshape(-1), np.nan)
        columns[name] = pl.Series(name, values).fill_nan(None)
        if not flat:
            columns[f"{name}.status"] = names.gather(status[:, m].astype(np.uint32))
            columns[f"{name}.reason"] = pl.Series(reasons[m], dtype=pl.String)
    return pl.DataFrame(columns)


def _safe(value: Any) -> Any:
    return well_formed(value) if isinstance(value, str) else value


def _settings(evaluation: Evaluation) -> dict[str, pl.Series]:
    """alpha and k of the systems, else the length that all their lists have as k; and how long retrieval took."""
    import polars as pl

    scores = evaluation.scores
    width, settings = len(scores.questions), evaluation.settings
    columns: dict[str, list[Any]] = {
        "alpha": [v for s in scores.systems for v in [settings.get(s, {}).get("alpha")] * width],
        "k": [v for s in scores.systems for v in [settings.get(s, {}).get("k", scores.lists_end.get(s))] * width],
    }
    seconds = (v for s in scores.systems for v in evaluation.seconds.get(s) or [None] * width)
    columns["retrieval_time_ms"] = [None if v is None else 1000 * v for v in seconds]
    types = {"alpha": pl.Float64, "k": pl.Int64, "retrieval_time_ms": pl.Float64}
    known = {name: values for name, values in columns.items() if any(v is not None for v in values)}
    return {name: pl.Series(name, values, types[name]) for name, values in known.items()}


def _places(evaluation: Evaluation, questions: Sequence[Question | None]) -> dict[str, pl.Series]:
    """Documents and pages of the hits, and the gold of the questions, as JSON lists.

    Pages of the gold stand apart where pages alone decide: no entry names anything else, and no hit several pages.
    """
    import polars as pl

    scores = evaluation.scores
    gold = [[g for g in q.gold if g.grade > 0] if q is not None else [] for q in questions]
    columns: dict[str, list[Any]] = {}
    for name, places in (("retrieved_docs", evaluation.docs), ("retrieved_pages", evaluation.pages)):
        if places:
            columns[name] = [row for s in scores.systems for row in places.get(s, [None] * len(questions))]
    if any(gold):
        columns["relevant"] = [[g.label for g in entries] for entries in gold] * len(scores.systems)
    single = all("," not in page for row in columns.get("retrieved_pages", ()) for page in row or ())
    if "retrieved_pages" in columns and single and all(map(_is_page, chain.from_iterable(gold))):
        columns["relevant_pages"] = [[g.page for g in entries] for entries in gold] * len(scores.systems)
    return {
        name: pl.Series(name, [None if row is None else well_formed(_json(row)) for row in rows], pl.String)
        for name, rows in columns.items()
    }


def _is_page(gold: Gold) -> bool:
    """Whether it names a page and nothing else."""
    return gold.page is not None and not any(getattr(gold, name) for name in _OTHER)


def _json(row: Sequence[Any]) -> str:
    return json.dumps(list(row), ensure_ascii=False)


def _ranked(evaluation: Evaluation, flat: bool) -> pl.Series:
    import polars as pl

    empty: list[list[str]] = [[]] * len(evaluation.scores.questions)
    lists = [
        [well_formed(i) for i in ids]
        for system in evaluation.scores.systems
        for ids in evaluation.ranked.get(system, empty)
    ]
    if flat:
        return pl.Series("ranked", [json.dumps(ids, ensure_ascii=False) for ids in lists], pl.String)
    return pl.Series("ranked", lists, pl.List(pl.String))


def _ranked_scores(evaluation: Evaluation) -> pl.Series:
    import polars as pl

    none: list[list[float]] = [[]] * len(evaluation.scores.questions)
    lists = [list(row) for s in evaluation.scores.systems for row in evaluation.ranked_scores.get(s, none)]
    return pl.Series("ranked_scores", lists, pl.List(pl.Float64))


def _reasons(evaluation: Evaluation) -> list[str | None]:
    """Why a row lacks values: each reason once, with the measures it concerns where they are not all."""
    scores = evaluation.scores
    reasons: dict[tuple[int, int], dict[str, list[str]]] = {}
    for (s, q, m), reason in scores.reasons.items():
        reasons.setdefault((s, q), {}).setdefault(reason, []).append(scores.measures[m].name)
    texts: list[str | None] = []
    for s in range(len(scores.systems)):
        for q in range(len(scores.questions)):
            parts = reasons.get((s, q))
            texts.append(None if parts is None else well_formed(_reason_of(parts, len(scores.measures))))
    return texts


def _reason_of(parts: dict[str, list[str]], measures: int) -> str:
    return "; ".join(
        reason if len(names) == measures else f"{reason} ({', '.join(names)})" for reason, names in parts.items()
    )
