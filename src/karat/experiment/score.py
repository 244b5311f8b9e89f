"""Scoring: read, match, measure, summarise, guard. The walk from inputs to a Report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from karat.core.evaluation import Evaluation, Matching, Note, Taken, Usage
    from karat.core.judged import Judged, Repeats
    from karat.core.measure import Measure
    from karat.core.order import Ties
    from karat.core.run import Run
    from karat.core.scores import Scores
    from karat.core.types import TestSet
    from karat.experiment.index import Index
    from karat.experiment.report import Report
    from karat.match import Matched, Pages, Resolution
    from karat.measures.dialects import Dialect

NO_RANKINGS = "the results hold no rankings"
NO_ANSWERS = "the results hold no answers"


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


def score(
    testset: Any,
    results: Any,
    *,
    measures: str | Iterable[str] | None = None,
    dialect: str = "karat",
    match: str | None = None,
    repeats: Repeats | None = None,
    rel: int = 1,
    by: str | Iterable[str] | None = None,
    k: int | None = None,
    ties: Ties = "float32",
    page_offset: int = 0,
    collection: int | None = None,
    columns: Mapping[str, str] | None = None,
    allow_zero_overlap: bool = False,
    intervals: bool = True,
    seed: int = 0,
    index: str | os.PathLike[str] | Index | None = None,
    pages: Pages = "physical",
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Score results against a test set.

    `testset` and `results` are paths, dicts (`{question: {doc: score}}` or `{question: [doc, ...]}`; several systems
    as `{name: run}`), polars or pandas frames, or lists of records. Without `measures` the dialect's default set is
    computed. `by` names slices: "kind", or any tag. `columns` maps unusual column names to karat's fields.
    With an `index` the gold is resolved to its chunks, so the ids of the hits are enough, and `pages` says which page
    numbers the gold means. `progress` is called with a sentence before each step that may take long.
    """
    from karat.experiment._printed import check_printed
    from karat.experiment.report import Report
    from karat.files import as_runs, as_testset

    choices = Choices(
        _texts(measures), dialect, match, repeats, rel, _texts(by), k, ties, page_offset, collection,
        dict(columns or {}), allow_zero_overlap, intervals, seed, pages,
    )  # fmt: skip
    say = progress or (lambda step: None)
    check(choices)
    say("reading the test set")
    questions, taken = as_testset(testset, columns=choices.columns)
    say("reading the results")
    runs, taken_too = as_runs(results, columns=choices.columns)
    inputs = _mapped((taken, *taken_too), choices.columns)
    runs, notes = brought_together(questions, runs, choices)
    notes += check_printed(inputs[1:], choices.columns)
    resolution = resolved(questions, index, choices, say) if index is not None else None
    evaluation = evaluate(questions, runs, choices, say, inputs, notes, resolution)
    return Report(evaluation, runs, choices)


def resolved(
    testset: TestSet, index: str | os.PathLike[str] | Index, choices: Choices, say: Callable[[str], None]
) -> Resolution:
    """The gold beside the chunks of an index that hold it."""
    from karat.experiment.index import Index
    from karat.match import resolve
    from karat.measures.dialects import dialect_named

    say("finding the gold in the index")
    opened = index if isinstance(index, Index) else Index.open(index)
    return resolve(
        testset, opened.chunks, opened.docs, by=choices.match or dialect_named(choices.dialect).match,
        page_offset=choices.page_offset, pages=choices.pages,
    )  # fmt: skip


def _texts(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _mapped(taken: Sequence[Taken], columns: Mapping[str, str]) -> tuple[Taken, ...]:
    """Inputs without the notes on mapped columns that another input has; a column that none has is refused."""
    from dataclasses import replace

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
    if choices.ties not in ("float32", "double"):
        raise UsageError(f"ties={choices.ties!r} is not one of float32, double.")
    if choices.match not in (None, "auto"):
        MATCHERS.get(choices.match.partition(":")[0])


def brought_together(testset: TestSet, runs: Sequence[Run], choices: Choices) -> tuple[list[Run], list[Note]]:
    """The runs under names of their own and the test set's question ids, in the order the dialect ranks them."""
    from karat.core.evaluation import Note
    from karat.experiment._align import align
    from karat.measures.dialects import dialect_named

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
    return [run.by_score() if by_score else run for run, _ in aligned], notes


def evaluate(
    testset: TestSet,
    runs: Sequence[Run],
    choices: Choices,
    progress: Callable[[str], None] = lambda step: None,
    taken: Sequence[Taken] = (),
    notes: Sequence[Note] = (),
    resolution: Resolution | Sequence[Resolution | None] | None = None,
) -> Evaluation:
    """Score runs that are already read; `notes` are what was noticed before.

    With a `resolution` hits are chunks of the index it was made for; there may be one for each run, None for a run
    whose hits are matched by what is known of them.
    """
    from karat.core.evaluation import Evaluation, Note
    from karat.diagnose import guards
    from karat.experiment._answered import answered_of
    from karat.experiment._facts import facts_of, ranked_ids, ranked_scores
    from karat.experiment._parts import joined_matching, joined_scores, parted
    from karat.experiment._reachable import reachable
    from karat.measures.dialects import dialect_named
    from karat.report.verdict import verdicts
    from karat.stats.summary import summarise
    from karat.stats.targets import targets

    dialect = dialect_named(choices.dialect)
    slices = slices_of(testset, choices.by)
    answered = answered_of(testset, runs)
    measures = _measures(testset, runs, dialect, choices, answered is not None)
    progress(f"matching hits and gold, computing {len(measures)} measures")
    groups = parted(runs, resolution)
    parts = [_scored(testset, some, dialect, choices, measures, found) for some, found in groups]
    scores = joined_scores([run.name for run in runs], [part for part, _, _ in parts])
    judged = next((judged for _, judged, _ in parts if judged is not None), None)
    progress("summarising")
    summaries = summarise(scores, slices=slices, intervals=choices.intervals, seed=choices.seed)
    repeats = choices.repeats or dialect.repeats
    facts = facts_of(testset, runs, judged, answered, dialect.name, repeats)
    matching = joined_matching([matching for _, _, matching in parts if matching is not None])
    notes = (
        *notes,
        *(Note("warning", text) for _, found in groups if found is not None for text in found.notes),
        *_dialect_notes(dialect),
        *guards.check(scores, summaries, matching, facts),
    )
    return Evaluation(
        testset,
        scores,
        summaries,
        tuple(taken),
        matching,
        targets(summaries, reachable(judged, scores, dialect)),
        tuple(_usage(runs)),
        verdicts(summaries, scores.measures, dialect=dialect.name),
        notes,
        dialect.name,
        ranked_ids(testset, runs, choices.ties),
        {
            run.name: [run.answers[q].text if q in run.answers else None for q in testset.ids]
            for run in runs
            if run.has_answers
        },
        ranked_scores(testset, runs, choices.ties),
    )


def _scored(
    testset: TestSet,
    runs: Sequence[Run],
    dialect: Dialect,
    choices: Choices,
    measures: Sequence[Measure],
    resolution: Resolution | None,
) -> tuple[Scores, Judged | None, Matching | None]:
    """Scores of runs that are matched alike, with what was judged and how."""
    from karat.experiment._answered import answered_of
    from karat.measures.compute import compute

    matched = _match(testset, runs, dialect, choices, resolution)
    judged = matched.judged if matched else None
    if judged is not None and matched is not None and any(m.tokens is not None for m in measures):
        judged = _with_tokens(testset, runs, matched)
    absent = {
        "retrieval": {run.name: NO_RANKINGS for run in runs if not run.has_rankings},
        "answer": {run.name: NO_ANSWERS for run in runs if not run.has_answers},
    }
    scores = compute(
        measures, [run.name for run in runs], testset.ids, judged=judged, answered=answered_of(testset, runs),
        failed=_failed(testset, runs), absent=absent, no_gold_is_zero=dialect.no_gold_is_zero,
    )  # fmt: skip
    return scores, judged, matched.matching if matched else None


def _match(
    testset: TestSet, runs: Sequence[Run], dialect: Dialect, choices: Choices, resolution: Resolution | None
) -> Matched | None:
    """Judged hits of all runs; the matcher is chosen by those that hold rankings. None where none does."""
    from dataclasses import replace

    from karat.match import MATCHERS, Matched, Settings, check_questions, judge, match, match_resolved

    check_questions(testset, runs)
    ranked = [run for run in runs if run.has_rankings]
    if not ranked:
        return None
    settings = Settings(
        MATCHERS.get("exact"),
        repeats=choices.repeats or dialect.repeats,
        ties=choices.ties,
        collection=choices.collection,
    )
    if not any((testset.qrels or {}).values()):
        return Matched(judge(testset, runs, settings), None, settings)
    if resolution is not None:
        return match_resolved(resolution, runs, settings, allow_zero=choices.allow_zero_overlap)
    matched = match(
        testset, ranked, settings,
        by=choices.match or dialect.match, page_offset=choices.page_offset, allow_zero=choices.allow_zero_overlap,
    )  # fmt: skip
    return matched if len(ranked) == len(runs) else replace(matched, judged=judge(testset, runs, matched.settings))


def _with_tokens(testset: TestSet, runs: Sequence[Run], matched: Matched) -> Judged:
    from dataclasses import replace

    from karat.match import judge

    return judge(testset, runs, replace(matched.settings, tokens=True))


def _measures(
    testset: TestSet, runs: Sequence[Run], dialect: Dialect, choices: Choices, answered: bool
) -> tuple[Measure, ...]:
    """What was asked for, else the dialect's set for what the results hold."""
    from karat.core.language import parse_all

    texts: Sequence[str] = choices.measures
    if not texts:
        has_gold = any((testset.qrels or {}).values())
        texts = dialect.measures(
            rankings=has_gold and (any(run.has_rankings for run in runs) or not answered),
            answers=answered,
            references=answered and any(q.answers for q in testset.questions),
            contexts=_have_contexts(runs),
            k=choices.k,
        )
        if not texts:
            raise UsageError(
                f"there is nothing to compute by default: {testset.name} has no gold and no reference answers that the "
                'results could be held against. Add "gold" or "answers" to it, or name measures with -m.'
            )
    found = parse_all(texts, k=choices.k)
    if choices.measures:
        found = tuple(dict.fromkeys(dialect.meant(m) for m in found))
    return tuple(m.with_rel(choices.rel) for m in found)


def _have_contexts(runs: Sequence[Run]) -> bool:
    return any("text" in run.fields or any(a.contexts for a in run.answers.values()) for run in runs)


def slices_of(testset: TestSet, by: Sequence[str]) -> dict[str, list[str | None]]:
    """The value of each slice for every question."""
    known = testset.slices if by else ()
    for name in by:
        if name not in known:
            offered = f"There are {', '.join(known)}." if known else "Its questions have no kind and no tags."
            raise UsageError(f"the test set has no slice {name!r}.{did_you_mean(name, known)} {offered}")
    return {name: [q.slice_value(name) for q in testset.questions] for name in by}


def _failed(testset: TestSet, runs: Sequence[Run]) -> dict[int, str]:
    index = {qid: q for q, qid in enumerate(testset.ids)}
    return {
        s * len(index) + index[qid]: reason
        for s, run in enumerate(runs)
        for qid, reason in run.failed.items()
        if qid in index
    }


def _usage(runs: Sequence[Run]) -> Iterable[Usage]:
    from karat.stats.usage import usage

    for run in runs:
        answers = run.answers.values()
        steps = dict.fromkeys(step for a in answers for step in a.seconds)
        columns: dict[str, list[float | None]] = {
            f"seconds {s}".strip(): [a.seconds.get(s) for a in answers] for s in steps
        }
        columns["tokens"] = [a.tokens for a in answers]
        columns["cost_usd"] = [a.cost_usd for a in answers]
        for what, values in columns.items():
            found = usage(run.name, what, values)
            if found is not None:
                yield found


def _dialect_notes(dialect: Dialect) -> list[Note]:
    from karat.core.evaluation import Note

    notes = [Note("info", f"dialect {dialect.name}: {text}") for text in dialect.differs]
    if dialect.left_out:
        names = ", ".join(dialect.left_out)
        notes.append(Note("info", f"dialect {dialect.name}: left out, because they need a model: {names}."))
    return notes
