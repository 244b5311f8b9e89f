"""Scoring, the walk: read, match and compute, summarise, guard. From inputs to an Evaluation in a Report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.progress import shown_in_notebook
from karat.core.text.words import conversations_note
from karat.diagnose.guards import Facts
from karat.experiment._answered import answers_given, missing_of
from karat.experiment.claims import ClaimsValue, claim_notes
from karat.experiment.inputs import aligned_runs, empty_notes, mapped, opened_index, resolved, slices_of
from karat.experiment.models import (
    ChatOptions,
    ChatValue,
    ModelSettings,
    check_named,
    check_needs,
    close,
    models_of,
    spent_notes,
)
from karat.experiment.ranked_lists import ranked_ids, ranked_places, ranked_scores
from karat.experiment.report import Report
from karat.experiment.settings import Choices, MatchSettings, settings_of, takes_settings, texts_of
from karat.measures.dialects import Dialect, Missing, dialect_named
from karat.results.evaluation import Evaluation, InputInfo, Note, Refusals, Usage
from karat.stats.arrays import Bools

if TYPE_CHECKING:
    from karat.core.judged import Judged
    from karat.core.models import Models
    from karat.core.run import Run
    from karat.core.scores import Scores
    from karat.core.types import TestSet
    from karat.match import Resolution
    from karat.models import EmbedderSettings
    from karat.pool import PoolChoice
    from karat.systems.index import Index

NEAR = 0.05  # how little above chance a mean similarity may be before it is warned of


@shown_in_notebook("progress")
@takes_settings(matching=MatchSettings, chat=ChatOptions)
def score(
    testset: Any,
    results: Any,
    *,
    measures: str | Iterable[str] | None = None,
    k: int | None = None,
    by: str | Iterable[str] | None = None,
    dialect: str = "karat",
    matching: str | Mapping[str, Any] | MatchSettings | None = None,
    missing: Missing | None = None,
    bands: bool = False,
    index: str | os.PathLike[str] | Index | None = None,
    columns: Mapping[str, str] | None = None,
    chat: ChatValue = None,
    embedder: str | EmbedderSettings | None = None,
    cross_encoder: str | os.PathLike[str] | None = None,
    claims: ClaimsValue = None,
    labels: str | os.PathLike[str] | None = None,
    without_bad: bool = False,
    pool: PoolChoice = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Score results against a test set.

    `testset` and `results` are paths, dicts (`{question: {doc: score}}` or `{question: [doc, ...]}`; several systems
    as `{name: run}`), polars or pandas frames, or lists of records. Without `measures` the dialect's default set is
    computed, cut at `k`. `by` names slices: "kind", or any tag. `matching` is the name of a matcher, or more of
    `MatchSettings` as a dict: `{"match": "page", "page_offset": 1}`. `missing` says what a question counts that the
    results have no answer for: "zero", or "skip" (left out of the mean) unless the dialect says otherwise; the other
    mean stands beside. `bands` shows the bands and targets of all dialects. With an `index` the gold is resolved to its
    chunks, so the ids of the hits are enough. `columns` maps unusual column names to karat's fields. `progress` is
    called with a sentence before each step that may take long. With `labels`, a labels.jsonl of `karat view`,
    the scores with the gold that people marked stand beside; `without_bad` leaves out of them what most call bad.

    Only measures that are named ask a model: SemanticSimilarity the `embedder` (the index's own by default, else
    wordllama), CrossEncoder the folder `cross_encoder`, judges the `chat` model: its name, or more of `ChatOptions` as
    a dict: `{"model": "gpt-4o-mini", "max_cost": 0.5}`. Measures of claims take a table that `claims` makes: "lexical",
    "nli:FOLDER", "model" (the chat model), a file of claims and verdicts, or more of `ClaimSource` as a dict. A `pool`
    ("ray", or more of `PoolSettings` as a dict) computes measures of answers that ask no endpoint, block by block.
    """
    from karat.experiment.blocks import block_pool
    from karat.experiment.pareto import with_fronts
    from karat.experiment.relabel import refuse_alone, with_labels
    from karat.files import as_runs, as_testset

    refuse_alone(labels, without_bad)
    choices = Choices(
        measures=texts_of(measures), k=k, by=texts_of(by), dialect=dialect,
        matching=settings_of(MatchSettings, matching), missing=missing, bands=bands, columns=dict(columns or {}),
    )  # fmt: skip
    settings = ModelSettings.of(chat, embedder=embedder, cross_encoder=cross_encoder, claims=claims)
    step = progress or (lambda sentence: None)
    step("reading the test set")
    questions, testset_info = as_testset(testset, columns=choices.columns)
    step("reading the results")
    runs, results_info = as_runs(results, columns=choices.columns)
    inputs = mapped((testset_info, *results_info), choices.columns)
    runs, notes = aligned_runs(questions, runs, choices.dialect)
    notes += _own_scores(inputs[1:])
    opened = opened_index(index) if index is not None else None
    resolution = resolved(questions, opened, choices, step) if opened is not None else None
    models = models_of(
        settings, index=opened, progress=lambda what, done, total: step(f"{what}: {done:,} of {total:,}"),
        pool=block_pool(pool),
    )  # fmt: skip
    try:
        evaluation = evaluation_of(
            questions, runs, choices, progress=step, inputs=inputs, notes=notes, resolution=resolution, models=models,
            settings=settings,
        )  # fmt: skip
        evaluation = with_fronts(replace(evaluation, notes=(*evaluation.notes, *spent_notes(models))))
        if labels is not None:
            evaluation = with_labels(
                evaluation, runs, choices, labels, without_bad=without_bad, models=models,
                resolve=lambda gold, chosen: resolved(gold, opened, chosen, step) if opened is not None else None,
            )  # fmt: skip
    finally:
        close(models)
    return Report(evaluation, runs, choices)


def _own_scores(results: Sequence[InputInfo]) -> list[Note]:
    """Notes on the scores that results print of themselves."""
    notes: list[Note] = []
    for one in results:
        if one.format == "healthcare" and os.path.isfile(one.place):
            from karat.diagnose.verify.own_scores import check_own_scores

            notes += check_own_scores(one.place)
    return notes


def evaluation_of(
    testset: TestSet,
    runs: Sequence[Run],
    choices: Choices,
    *,
    progress: Callable[[str], None] = lambda step: None,
    inputs: Sequence[InputInfo] = (),
    notes: Sequence[Note] = (),
    resolution: Resolution | Sequence[Resolution | None] | None = None,
    models: Models | None = None,
    settings: ModelSettings | None = None,
    repeats: Sequence[int] = (),
) -> Evaluation:
    """Score runs that are already read; `notes` are what was noticed before.

    `repeats` says how many runs, one after the other, are repeats of one system: their scores are averaged within a
    question, and what is shown of its hits and answers is that of the first.
    With a `resolution` hits are chunks of the index it was made for; there may be one for each run, None for a run
    whose hits are matched by what is known of them. `models` are the models that measures may ask, by default wordllama
    alone; one that `settings` name and no measure asks is refused.
    """
    from karat.diagnose import guards
    from karat.diagnose.decisions import verdicts
    from karat.experiment._outcomes import with_outcomes
    from karat.experiment._steps import step_notes
    from karat.experiment.frozen import changed_notes
    from karat.experiment.measuring import judge_notes, measure_runs, measures_of, reachable, spread_notes
    from karat.stats.summary import summarise, targets

    dialect = dialect_named(choices.dialect, bands=choices.bands)
    slices_of(testset, choices.by, None if any(any(run.steps.values()) for run in runs) else {})
    models = models or models_of()
    measures = measures_of(testset, runs, dialect, choices, models)
    check_needs(measures, models)
    if settings is not None:
        check_named(settings, measures)
    resolutions = list(resolution) if isinstance(resolution, Sequence) else [resolution] * len(runs)

    progress(f"matching hits and gold, computing {len(measures)} measures")
    measured = measure_runs(testset, runs, measures, choices, models, resolutions)
    scores, matching = measured.scores, measured.matching
    if any(size > 1 for size in repeats):
        notes = [*notes, *spread_notes(scores, repeats)]
        scores = scores.averaged(repeats)
        runs = [run for run in runs if run.name in scores.systems]
        matching = None if matching is None else matching.of_systems(scores.systems)

    progress("summarising")
    slices = slices_of(testset, choices.by, measured.steps)
    summaries = summarise(scores, slices=slices, bands=dialect.bands)
    answers = {run.name: answers_given(testset, run) for run in runs if run.has_answers}
    facts = _facts(testset, runs, measured.judged, answers, dialect, choices)
    remarks = [text for one in {id(one): one for one in resolutions}.values() if one is not None for text in one.notes]
    remarks += matching.notes if matching is not None else ()
    ceilings = reachable(measured.judged, scores, dialect, _findable(resolutions))
    ties = choices.matching.ties
    evaluation = Evaluation(
        testset=testset,
        scores=scores,
        summaries=summaries,
        taken=tuple(inputs),
        matching=matching,
        targets=targets(summaries, ceilings) if dialect.has_targets else (),
        ceilings=ceilings,
        usage=tuple(_usage(runs, testset.ids)),
        verdicts=verdicts(summaries, scores.measures, dialect=dialect.name),
        notes=(
            *changed_notes(testset),
            *([Note("info", turns)] if (turns := conversations_note(scores.conversations)) else []),
            *notes,
            *empty_notes(runs),
            *(Note("warning", text) for text in remarks),
            *_dialect_notes(dialect, models),
            *_floor_notes(scores, models),
            *step_notes(runs, scores, measured.steps),
            *judge_notes(scores),
            *claim_notes(models),
            *guards.check(scores, summaries, matching, facts),
        ),
        dialect=dialect.name,
        ranked=ranked_ids(testset, runs, ties),
        answers=_of_answers(testset, runs, "text"),
        ranked_scores=ranked_scores(testset, runs, ties),
        confidence=_of_answers(testset, runs, "confidence"),
        refusals=_refusals(answers),
        docs=ranked_places(testset, runs, ties, "doc"),
        pages=ranked_places(testset, runs, ties, "page"),
        context_gold=measured.context_gold,
        hit_gold=measured.hit_gold,
        steps={name: of for name, of in measured.steps.items() if name in scores.systems},
    )
    return with_outcomes(evaluation)


def _findable(resolutions: Sequence[Resolution | None]) -> Bools | None:
    """Which gold units stand in a chunk of some index; None where hits may be anything."""
    known = [one for one in resolutions if one is not None]
    return np.any([one.reached for one in known], axis=0) if known and len(known) == len(resolutions) else None


def _of_answers(testset: TestSet, runs: Sequence[Run], field: str) -> dict[str, list[Any]]:
    """A field of the answers of each system that gives any, a value for each question."""
    rows = {
        run.name: [getattr(run.answers[q], field) if q in run.answers else None for q in testset.ids]
        for run in runs
        if run.has_answers
    }
    return {name: row for name, row in rows.items() if field == "text" or any(v is not None for v in row)}


def _facts(
    testset: TestSet,
    runs: Sequence[Run],
    judged: Judged | None,
    answers: Mapping[str, Sequence[tuple[str, bool]]],
    dialect: Dialect,
    choices: Choices,
) -> Facts:
    """What the guards need to know of where runs and test set meet."""
    known = set(testset.ids)
    listed = {run.name: {*run.question_ids, *run.failed} for run in runs if run.has_rankings}
    gold = next((g.label for q in testset.questions for g in q.gold), None) if not testset.is_plain else None
    depth = {run.name: int(np.diff(run.offsets).max()) for run in runs if run.has_rankings}
    complete = {run.name for run in runs if run.complete}
    return Facts(
        dialect=dialect.name,
        repeats=choices.matching.repeats or dialect.repeats,
        extra={run.name: len(set(run.asked) - known) for run in runs},
        missing={name: len(known - ids) for name, ids in listed.items()},
        missing_answers={run.name: len(missing_of(testset, run)) for run in runs},
        missing_is_zero=dialect.counts_missing(choices.missing),
        empty_answers={name: (sum(not text for text, _ in rows), len(rows)) for name, rows in answers.items()},
        depth={name: max(depth.values()) if name in complete else hits for name, hits in depth.items()},
        unjudged=_unjudged(judged) if judged is not None else {},
        gold_example=gold,
        hit_examples={run.name: run.first_doc for run in runs if len(run)},
    )


def _unjudged(judged: Judged) -> dict[str, float]:
    """Share of each system's top 10 hits that nobody judged, where somebody judged hits as not relevant."""
    from karat.core.language import parse

    if not judged.judged_not_relevant.any():
        return {}
    share = np.asarray(parse("Judged@10").of(judged)).reshape(len(judged.systems), -1)
    return {
        name: float(1 - np.nanmean(row))
        for name, row in zip(judged.systems, share, strict=True)
        if not np.isnan(row).all()
    }


def _dialect_notes(dialect: Dialect, models: Models) -> Iterator[Note]:
    """What a dialect does differently, and which of its measures are left out for want of a model."""
    for text in dialect.differs:
        yield Note("info", f"dialect {dialect.name}: {text}")
    if left_out := dialect.left_out(models.able):
        text = f"left out, because they need a model: {', '.join(left_out)}."
        yield Note("info", f"dialect {dialect.name}: {text}")


def _floor_notes(scores: Scores, models: Models) -> Iterator[Note]:
    """What chance gives, beside the mean over the same answers, which is to be read against it."""
    by = f" ({models.embedder_label})" if models.embedder_label else ""
    for (s, m), floor in sorted(scores.floors.items(), key=lambda item: (item[0][1], item[0][0])):
        assert floor.own is not None  # of scores that were just computed
        text = (
            f"{scores.measures[m].name} of {scores.systems[s]}: {floor.own:.3f} over {floor.n:,} answers is to be read "
            f"against {floor.chance:.3f}, the mean over the same answers and the references of other questions{by}."
        )
        near = floor.own - floor.chance < NEAR
        if near:
            text += " Its answers are hardly nearer to their own references than to any other."
        yield Note("warning" if near else "info", text)


def _usage(runs: Sequence[Run], questions: Sequence[str]) -> Iterator[Usage]:
    """Seconds, tokens and cost of each system, where they are known."""
    from karat.stats.summary import usage
    from karat.systems.source import whole_seconds

    for run in runs:
        answers = run.answers.values()
        steps = dict.fromkeys(step for a in answers for step in a.seconds)
        columns: dict[str, list[float | None]] = {
            f"seconds {s}".strip(): [a.seconds.get(s) for a in answers] for s in steps
        }
        if len(steps) > 1:
            columns["seconds total"] = whole_seconds(run, questions)
        columns |= {"tokens": [a.tokens for a in answers], "cost_usd": [a.cost_usd for a in answers]}
        for what, values in columns.items():
            figures = usage(run.name, what, values)
            if figures is not None:
                yield figures


def _refusals(answers: Mapping[str, Sequence[tuple[str, bool]]]) -> dict[str, Refusals]:
    """How each system declines, where any question is unanswerable or any answer declines; failed rows are left out."""
    if not answers:  # the patterns of refusals take long to compile
        return {}
    from karat.core.text.refusals import declines
    from karat.stats.summary import refusals

    counts = {
        name: refusals(
            name, [declines(text) if text else None for text, _ in rows], [answerable for _, answerable in rows]
        )
        for name, rows in answers.items()
    }
    return counts if any(one.unanswerable or one.declined for one in counts.values()) else {}
