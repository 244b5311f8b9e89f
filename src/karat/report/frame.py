"""Frame: rows and summaries as polars frames, from which csv and parquet are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import Status
from karat.core.text.wellformed import well_formed
from karat.core.types import Gold, Question
from karat.report.lookups import statuses
from karat.results.pareto import COSTS, STATISTIC

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from karat.core.scores import Scores
    from karat.results.evaluation import Evaluation, StepRecord

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
    """One row per system x measure x slice; slice and value are null over the whole set.

    Over the whole set what a question costs the system stands beside, in columns of the costs that are known of any.
    """
    import polars as pl

    types = {c: pl.String if c in TEXT else pl.Int64 if c in COUNTS else pl.Float64 for c in SUMMARY}
    columns = {c: [_safe(getattr(s, f)) for s in evaluation.summaries] for c, f in SUMMARY.items()}
    for cost in COSTS:
        usage = {system: evaluation.usage_of(system, cost) for system in evaluation.scores.systems}
        known = {system: one.typical for system, one in usage.items() if one is not None}
        if known:
            name = f"{cost}_{STATISTIC[cost]}"
            columns[name] = [known.get(s.system) if s.slice is None else None for s in evaluation.summaries]
            types[name] = pl.Float64
    return pl.DataFrame(columns, schema=types)


def rows(evaluation: Evaluation, *, flat: bool = False) -> pl.DataFrame:
    """One row per system x question, as `row_groups` has them, in one frame."""
    import polars as pl

    return pl.concat(row_groups(evaluation, flat=flat))


def row_groups(evaluation: Evaluation, *, flat: bool = False) -> Iterator[pl.DataFrame]:
    """A frame for each system, a row a question: what is known of it, ranked ids, answer, and every measure.

    `status` is the gravest of the row and `reason` says why; `failure` is the label of the step that lost the question,
    where failures were looked for. Beside a measure's column stand its own `.status` and
    `.reason`, unless `flat`, which writes lists as JSON and adds alpha, k and milliseconds of retrieval, documents and
    pages of the hits, and the gold, of what is known. All frames have the same columns.
    """
    import polars as pl

    scores = evaluation.scores
    asked = {q.id: q for q in evaluation.testset.questions}
    known = [asked.get(q) for q in scores.questions]
    about = _about_questions(scores.questions, known)
    settings = _settings(evaluation) if flat else {}
    gold = _gold(evaluation, known) if flat else {}
    status = statuses(scores)
    reasons: dict[int, dict[int, dict[int, str]]] = {}
    for (s, q, m), reason in scores.reasons.items():
        reasons.setdefault(s, {}).setdefault(q, {})[m] = reason
    for s, system in enumerate(scores.systems):
        columns: dict[str, pl.Series] = {"system": pl.Series([_safe(system)] * len(known), dtype=pl.String), **about}
        columns |= {name: pl.Series(name, values[s], kind) for name, (values, kind) in settings.items()}
        columns |= _hits(evaluation, system, flat) | gold
        if evaluation.steps:
            calls = evaluation.steps.get(system, {})
            columns["steps"] = pl.Series("steps", [_retrieving(calls.get(q)) for q in scores.questions], pl.Int64)
        if evaluation.answers:
            answers = evaluation.answers.get(system, [None] * len(known))
            columns["answer"] = pl.Series("answer", [_safe(a) for a in answers], pl.String)
        if evaluation.failures is not None:
            labels = evaluation.failures.get(system, {})
            columns["failure"] = pl.Series("failure", [labels.get(q) for q in scores.questions], pl.String)
        columns |= _scores(scores, s, status[s], reasons.get(s, {}), flat)
        yield pl.DataFrame(columns)


def _retrieving(steps: Sequence[StepRecord] | None) -> int | None:
    """How many of the calls for a question retrieve."""
    return None if steps is None else sum(step.hits is not None for step in steps)


def _about_questions(ids: Sequence[str], known: Sequence[Question | None]) -> dict[str, pl.Series]:
    """Id, text, kind and tags of the questions."""
    import polars as pl

    tags = list(dict.fromkeys(tag for q in known if q is not None for tag in q.tags))
    text: dict[str, list[str | None]] = {
        "question_id": [_safe(q) for q in ids],
        "question": [_safe(q.text) if q is not None and q.text else None for q in known],
        "kind": [_safe(q.kind) if q is not None else None for q in known],
    }
    for tag in tags:
        text[_safe(f"tag.{tag}")] = [_safe(q.tags.get(tag)) if q is not None else None for q in known]
    return {name: pl.Series(name, values, pl.String) for name, values in text.items()}


def _scores(
    scores: Scores, s: int, status: NDArray[np.uint8], reasons: Mapping[int, Mapping[int, str]], flat: bool
) -> dict[str, pl.Series]:
    """The scores of a system with status and reason, of the row and, unless `flat`, of each measure."""
    import polars as pl

    names = pl.Series([one.name for one in Status])
    n, measures = len(scores.questions), [measure.name for measure in scores.measures]
    columns = {
        "status": names.gather(status.max(axis=1, initial=0).astype(np.uint32)),
        "reason": pl.Series(
            [_reason_of(reasons[q], measures) if q in reasons else None for q in range(n)], dtype=pl.String
        ),
    }
    for m, measure in enumerate(map(_safe, measures)):
        values = np.where(status[:, m] == Status.ok, scores.values[s, :, m], np.nan)
        columns[measure] = pl.Series(measure, values).fill_nan(None)
        if not flat:
            why = [_safe(reasons[q].get(m)) if q in reasons else None for q in range(n)]
            columns[f"{measure}.status"] = names.gather(status[:, m].astype(np.uint32))
            columns[f"{measure}.reason"] = pl.Series(why, dtype=pl.String)
    return columns


def _safe(value: Any) -> Any:
    return well_formed(value) if isinstance(value, str) else value


def _settings(evaluation: Evaluation) -> dict[str, tuple[list[list[Any]], Any]]:
    """alpha and k by system, else the length that all lists have as k, and how long retrieval took; with their types.

    A column that no system has a value for is left out.
    """
    import polars as pl

    scores, settings, seconds = evaluation.scores, evaluation.settings, evaluation.seconds
    width, of = len(scores.questions), [settings.get(s, {}) for s in scores.systems]
    ends = [scores.lists_end.get(s) for s in scores.systems]
    spent = [seconds.get(s) or [None] * width for s in scores.systems]
    columns = {
        "alpha": ([[one.get("alpha")] * width for one in of], pl.Float64),
        "k": ([[one.get("k", end)] * width for one, end in zip(of, ends, strict=True)], pl.Int64),
        "retrieval_time_ms": ([[None if v is None else 1000 * v for v in own] for own in spent], pl.Float64),
    }
    return {n: column for n, column in columns.items() if any(v is not None for values in column[0] for v in values)}


def _hits(evaluation: Evaluation, system: str, flat: bool) -> dict[str, pl.Series]:
    """What a system ranked: ids and scores; where `flat` ids, documents and pages, as JSON lists."""
    import polars as pl

    nothing: list[list[Any]] = [[]] * len(evaluation.scores.questions)
    columns: dict[str, pl.Series] = {}
    if evaluation.ranked:
        ids = [[well_formed(i) for i in row] for row in evaluation.ranked.get(system, nothing)]
        columns["ranked"] = _json("ranked", ids) if flat else pl.Series("ranked", ids, pl.List(pl.String))
    for name, places in (("retrieved_docs", evaluation.docs), ("retrieved_pages", evaluation.pages)):
        if flat and places:
            columns[name] = _json(name, places.get(system, [None] * len(nothing)))
    if evaluation.ranked_scores and not flat:
        lists = [list(row) for row in evaluation.ranked_scores.get(system, nothing)]
        columns["ranked_scores"] = pl.Series("ranked_scores", lists, pl.List(pl.Float64))
    return columns


def _gold(evaluation: Evaluation, questions: Sequence[Question | None]) -> dict[str, pl.Series]:
    """The gold of the questions, as JSON lists.

    Pages of the gold stand apart where pages alone decide: no entry names anything else, and no hit several pages.
    """
    gold = [[g for g in q.gold if g.grade > 0] if q is not None else [] for q in questions]
    columns = {"relevant": _json("relevant", [[g.label for g in entries] for entries in gold])} if any(gold) else {}
    if evaluation.pages and all(map(_is_page, chain.from_iterable(gold))) and _are_single(evaluation):
        columns["relevant_pages"] = _json("relevant_pages", [[g.page for g in entries] for entries in gold])
    return columns


def _are_single(evaluation: Evaluation) -> bool:
    """Whether no hit stands on several pages."""
    known = (evaluation.pages[s] for s in evaluation.scores.systems if s in evaluation.pages)
    return all("," not in page for lists in known for row in lists for page in row)


def _is_page(gold: Gold) -> bool:
    """Whether it names a page and nothing else."""
    return gold.page is not None and not any(getattr(gold, name) for name in _OTHER)


def _json(name: str, lists: Sequence[Sequence[Any] | None]) -> pl.Series:
    import polars as pl

    texts = [None if row is None else well_formed(json.dumps(list(row), ensure_ascii=False)) for row in lists]
    return pl.Series(name, texts, pl.String)


def _reason_of(reasons: Mapping[int, str] | None, measures: Sequence[str]) -> str | None:
    """Why a row lacks values: each reason once, with the measures it concerns where they are not all."""
    if reasons is None:
        return None
    parts: dict[str, list[str]] = {}
    for m, reason in reasons.items():
        parts.setdefault(reason, []).append(measures[m])
    return well_formed(
        "; ".join(
            reason if len(names) == len(measures) else f"{reason} ({', '.join(names)})"
            for reason, names in parts.items()
        )
    )
