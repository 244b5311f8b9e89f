"""Scoring: read, match, measure, summarise, guard. The walk from inputs to a Report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError, did_you_mean
from karat.core.progress import shown_in_notebook

if TYPE_CHECKING:
    from karat.core.judged import Repeats
    from karat.core.models import Models
    from karat.core.ranked import Ties
    from karat.core.run import Run
    from karat.core.scores import Scores
    from karat.core.types import TestSet
    from karat.experiment.report import Report
    from karat.match import Pages, Resolution
    from karat.measures.dialects import Missing
    from karat.models import EmbedderSettings
    from karat.models.chat import ChatSettings
    from karat.results.evaluation import Evaluation, InputInfo, Note
    from karat.systems.index import Index


@dataclass(frozen=True)
class Choices:
    """How to score, beside what."""

    measures: tuple[str, ...] = ()
    dialect: str = "karat"
    match: str | None = None
    repeats: Repeats | None = None
    rel: int = 1
    by: tuple[str, ...] = ()
    k: int | None = None
    ties: Ties = "float32"
    page_offset: int = 0
    collection: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    allow_zero_overlap: bool = False
    intervals: bool = True
    seed: int = 0
    pages: Pages = "physical"
    try_all: bool = False  # whether to tell what every other matcher would find
    missing: Missing | None = None
    bands: bool = False  # whether bands, targets and error classes of all dialects are shown


@shown_in_notebook("progress")
def score(
    testset: Any,
    results: Any,
    *,
    measures: str | Iterable[str] | None = None,
    dialect: str = "karat",
    match: str | None = None,
    repeats: Repeats | None = None,
    rel: int = 1,
    missing: Missing | None = None,
    by: str | Iterable[str] | None = None,
    k: int | None = None,
    ties: Ties = "float32",
    page_offset: int = 0,
    collection: int | None = None,
    columns: Mapping[str, str] | None = None,
    allow_zero_overlap: bool = False,
    intervals: bool = True,
    index: str | os.PathLike[str] | Index | None = None,
    pages: Pages = "physical",
    try_all: bool = False,
    bands: bool = False,
    embedder: str | EmbedderSettings | None = None,
    cross_encoder: str | os.PathLike[str] | None = None,
    model: str | ChatSettings | None = None,
    base_url: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    price_in: float | None = None,
    price_out: float | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    jobs: int = 8,
    per_minute: int | None = None,
    repeat: int = 1,
    calls: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    announce: Callable[[str], None] | None = None,
) -> Report:
    """Score results against a test set.

    `testset` and `results` are paths, dicts (`{question: {doc: score}}` or `{question: [doc, ...]}`; several systems
    as `{name: run}`), polars or pandas frames, or lists of records. Without `measures` the dialect's default set is
    computed. `by` names slices: "kind", or any tag. `columns` maps unusual column names to karat's fields.
    With an `index` the gold is resolved to its chunks, so the ids of the hits are enough, and `pages` says which
    page numbers the gold means. `missing` says what a question counts that the results have no answer for: "zero",
    or "skip" (left out of the mean) unless the dialect says otherwise; the other mean stands beside. `try_all` also
    tells what every other matcher would find; `bands` shows the bands and targets of all dialects. `progress` is
    called with a sentence before each step that may take long.

    Only measures that are named ask a model: SemanticSimilarity the `embedder` (the index's own by default, else
    wordllama), CrossEncoder the folder `cross_encoder`, judges the chat `model` at `base_url`, whose key is in the
    environment variable `key_env`. Prices are in USD for a million tokens, `max_cost` in USD; `repeat` is how often a
    judge is asked the same; `calls` is the file that keeps every call, so that none is paid for twice. `announce` is
    called with an estimate before the first call.
    """
    from karat.experiment._measured import measures_of
    from karat.experiment.models import ModelSettings, check_named, close, models_of, spent_notes
    from karat.experiment.report import Report
    from karat.files import as_runs, as_testset
    from karat.measures.dialects import dialect_named

    choices = Choices(
        _texts(measures), dialect, match, repeats, rel, _texts(by), k, ties, page_offset, collection,
        dict(columns or {}), allow_zero_overlap, intervals, pages=pages, try_all=try_all, missing=missing, bands=bands,
    )  # fmt: skip
    say = progress or (lambda step: None)
    check(choices)
    settings = ModelSettings.of(
        embedder=embedder, cross_encoder=cross_encoder, model=model, base_url=base_url, key_env=key_env,
        price_in=price_in, price_out=price_out, max_cost=max_cost, max_calls=max_calls, jobs=jobs,
        per_minute=per_minute, repeat=repeat, calls=calls,
    )  # fmt: skip
    say("reading the test set")
    questions, taken = as_testset(testset, columns=choices.columns)
    say("reading the results")
    runs, taken_too = as_runs(results, columns=choices.columns)
    inputs = mapped((taken, *taken_too), choices.columns)
    runs, notes = brought_together(questions, runs, choices)
    for one in inputs[1:]:
        if one.format == "healthcare" and os.path.isfile(one.place):
            from karat.diagnose.verify.own_scores import check_own_scores

            notes += check_own_scores(one.place)
    opened = _opened(index) if index is not None else None
    resolution = resolved(questions, opened, choices, say) if opened is not None else None
    models = models_of(
        settings, index=opened, announce=announce,
        progress=lambda what, done, total: say(f"{what}: {done:,} of {total:,}"),
    )  # fmt: skip
    try:
        check_named(settings, measures_of(questions, runs, dialect_named(choices.dialect), choices, models))
        evaluation = evaluate(questions, runs, choices, say, inputs, notes, resolution, models)
        evaluation = replace(evaluation, notes=(*evaluation.notes, *spent_notes(models)))
    finally:
        close(models)
    return Report(evaluation, runs, choices)


def resolved(
    testset: TestSet, index: str | os.PathLike[str] | Index, choices: Choices, say: Callable[[str], None]
) -> Resolution:
    """The gold beside the chunks of an index that hold it."""
    from karat.match import resolve
    from karat.measures.dialects import dialect_named

    say("finding the gold in the index")
    opened = _opened(index)
    return resolve(
        testset, opened.chunks, opened.docs, by=choices.match or dialect_named(choices.dialect).match,
        page_offset=choices.page_offset, pages=choices.pages, any_file=dialect_named(choices.dialect).any_file,
    )  # fmt: skip


def _opened(index: str | os.PathLike[str] | Index) -> Index:
    from karat.systems.index import Index

    return index if isinstance(index, Index) else Index.open(index)


def _texts(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def mapped(taken: Sequence[InputInfo], columns: Mapping[str, str]) -> tuple[InputInfo, ...]:
    """Inputs without the notes on mapped columns that another input has; a column that none has is refused."""
    for column, field_ in columns.items():
        about = f"--map {column}={field_}: "
        lacking = [t for t in taken if any(note.startswith(about) for note in t.notes)]
        if len(lacking) == len(taken):
            notes = [f"{note} ({t.place})" for t in lacking for note in t.notes if note.startswith(about)]
            raise UsageError(next((n for n in notes if "Did you mean" in n), notes[0]))
        taken = [replace(t, notes=tuple(n for n in t.notes if not n.startswith(about))) for t in taken]
    return tuple(taken)


def check(choices: Choices) -> None:
    """Refuse what cannot be before anything is read."""
    from karat.match import MATCHERS
    from karat.measures.dialects import dialect_named

    dialect_named(choices.dialect)
    if choices.rel < 1:
        raise UsageError(f"rel={choices.rel} would call judged-irrelevant documents relevant. Use 1 or more.")
    if choices.k is not None and choices.k < 1:
        raise UsageError(f"k={choices.k}: a cut-off is 1 or more.")
    if choices.repeats not in (None, "once", "collapse", "count"):
        raise UsageError(f"repeats={choices.repeats!r} is not one of once, collapse, count.")
    if choices.missing not in (None, "zero", "skip"):
        raise UsageError(f"missing={choices.missing!r} is not one of zero, skip.")
    if choices.ties not in ("float32", "double"):
        raise UsageError(f"ties={choices.ties!r} is not one of float32, double.")
    if choices.match not in (None, "auto"):
        MATCHERS.get(choices.match.partition(":")[0])


def brought_together(testset: TestSet, runs: Sequence[Run], choices: Choices) -> tuple[list[Run], list[Note]]:
    """The runs under names of their own and the test set's question ids, in the order the dialect ranks them."""
    from karat.experiment._align import align
    from karat.measures.dialects import dialect_named
    from karat.results.evaluation import Note

    names = [run.name for run in runs]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise UsageError(
            f"two systems are called {twice[0]!r}. Rename a file, or pass results as {{name: run}} from Python."
        )
    if not runs:
        raise UsageError("no results were given.")
    if len(set(testset.ids)) < len(testset.ids):
        twice = [q for q, count in Counter(testset.ids).items() if count > 1]
        raise UsageError(f"{testset.name} holds question {twice[0]!r} twice. Give every question an id of its own.")
    bare: list[str] = []
    if testset.is_plain or not any(g.quote is not None for q in testset.questions for g in q.gold):
        bare = [run.name for run in runs if run.has_only_texts]
        runs = [run.without_rankings() if run.has_only_texts else run for run in runs]
    aligned = [align(testset, run) for run in runs]
    by_score = dialect_named(choices.dialect).by_score
    notes = [note for _, found in aligned for note in found]
    notes += [Note("info", f"{name}: its hits are texts without ids: taken as contexts, not ranked.") for name in bare]
    for run in runs if len(runs) > 1 else ():
        if not run.asked:
            notes.append(Note("warning", f"{run.name}: holds no results for any question."))
        elif run.has_rankings and not len(run):
            notes.append(Note("warning", f"{run.name}: returned no hits for any question."))
    return [run.by_score() if by_score else run for run, _ in aligned], notes


def evaluate(
    testset: TestSet,
    runs: Sequence[Run],
    choices: Choices,
    progress: Callable[[str], None] = lambda step: None,
    taken: Sequence[InputInfo] = (),
    notes: Sequence[Note] = (),
    resolution: Resolution | Sequence[Resolution | None] | None = None,
    models: Models | None = None,
) -> Evaluation:
    """Score runs that are already read; `notes` are what was noticed before.

    With a `resolution` hits are chunks of the index it was made for; there may be one for each run, None for a run
    whose hits are matched by what is known of them. `models` are the models that measures may ask, by default wordllama
    alone.
    """
    from karat.diagnose import guards
    from karat.diagnose.decisions import verdicts
    from karat.experiment._answered import answered_of
    from karat.experiment._facts import facts_of, ranked_ids, ranked_places, ranked_scores
    from karat.experiment._measured import joined_matching, joined_scores, measures_of, parted, reachable, scored
    from karat.experiment._remarks import dialect_notes, floor_notes, refusals_of, usage_of
    from karat.experiment.frozen import changed_notes
    from karat.experiment.models import check_needs, models_of
    from karat.measures.dialects import dialect_named
    from karat.results.evaluation import Evaluation, Note
    from karat.stats.summary import summarise, targets

    dialect = dialect_named(choices.dialect, bands=choices.bands)
    slices = slices_of(testset, choices.by)
    models = models or models_of()
    measures = measures_of(testset, runs, dialect, choices, models)
    check_needs(measures, models)
    answered = answered_of(testset, runs)
    progress(f"matching hits and gold, computing {len(measures)} measures")
    groups = parted(runs, resolution)
    parts = [scored(testset, some, dialect, choices, measures, found, models) for some, found in groups]
    scores = joined_scores([run.name for run in runs], [part for part, _, _ in parts])
    judged = next((judged for _, judged, _ in parts if judged is not None), None)
    progress("summarising")
    summaries = summarise(
        scores, slices=slices, intervals=choices.intervals, bands=dialect.bands
    )  # fmt: skip
    repeats = choices.repeats or dialect.repeats
    facts = facts_of(testset, runs, judged, answered, dialect.name, repeats, dialect.counts_missing(choices.missing))
    matching = joined_matching([matching for _, _, matching in parts if matching is not None])
    notes = (
        *changed_notes(testset),
        *notes,
        *(Note("warning", text) for _, found in groups if found is not None for text in found.notes),
        *(Note("warning", text) for text in (matching.notes if matching is not None else ())),
        *dialect_notes(dialect, models),
        *floor_notes(scores, models),
        *_judge_notes(scores),
        *guards.check(scores, summaries, matching, facts),
    )
    ceilings = reachable(judged, scores, dialect)
    return Evaluation(
        testset=testset,
        scores=scores,
        summaries=summaries,
        taken=tuple(taken),
        matching=matching,
        targets=targets(summaries, ceilings) if dialect.has_targets else (),
        ceilings=ceilings,
        usage=tuple(usage_of(runs)),
        verdicts=verdicts(summaries, scores.measures, dialect=dialect.name),
        notes=notes,
        dialect=dialect.name,
        ranked=ranked_ids(testset, runs, choices.ties),
        answers=_of_answers(testset, runs, "text"),
        ranked_scores=ranked_scores(testset, runs, choices.ties),
        confidence=_of_answers(testset, runs, "confidence"),
        refusals=refusals_of(testset, runs, answered),
        docs=ranked_places(testset, runs, choices.ties, "doc"),
        pages=ranked_places(testset, runs, choices.ties, "page"),
    )


def _judge_notes(scores: Scores) -> list[Note]:
    if not any("chat" in measure.needs for measure in scores.measures):
        return []
    from karat.experiment.judge import judge_notes

    return judge_notes(scores)


def _of_answers(testset: TestSet, runs: Sequence[Run], what: str) -> dict[str, list[Any]]:
    """A field of the answers of each system that gives any, a value for each question."""
    found = {
        run.name: [getattr(run.answers[q], what) if q in run.answers else None for q in testset.ids]
        for run in runs
        if run.has_answers
    }
    return found if what == "text" else {name: row for name, row in found.items() if any(v is not None for v in row)}


def slices_of(testset: TestSet, by: Sequence[str]) -> dict[str, list[str | None]]:
    """The value of each slice for every question."""
    known = testset.slices if by else ()
    for name in by:
        if name not in known:
            offered = f"There are {', '.join(known)}." if known else "Its questions have no kind and no tags."
            raise UsageError(f"the test set has no slice {name!r}.{did_you_mean(name, known)} {offered}")
    return {name: [q.slice_value(name) for q in testset.questions] for name in by}
