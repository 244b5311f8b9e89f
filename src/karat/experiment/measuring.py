"""Measuring: which measures, hits matched with gold, and every measure computed: from runs to scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.core.scores import Scores
from karat.core.text.words import plural
from karat.experiment._answered import ContextGold, answered_of, unscored_pairs
from karat.experiment.claims import ClaimMaker, with_claims
from karat.match import (
    Join,
    JudgingSettings,
    Matched,
    Resolution,
    check_questions,
    judge,
    judge_steps,
    match,
    match_resolved,
)
from karat.measures.compute import compute
from karat.measures.dialects import Dialect, dialect_named
from karat.results.evaluation import Matching, Note, StepRecord

if TYPE_CHECKING:
    from karat.core.judged import Bools, Judged
    from karat.core.measure import Measure
    from karat.core.models import Models
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.experiment.settings import Choices

NO_RANKINGS = "the results hold no rankings"
NO_ANSWERS = "the results hold no answers"
JUDGED_BY = "was judged by"


@dataclass(frozen=True)
class MeasuredRuns:
    """Scores of runs, what was judged for them and how hits were matched; None where nothing was retrieved."""

    scores: Scores
    judged: Judged | None
    matching: Matching | None
    context_gold: Mapping[str, Sequence[bool | None]] = field(default_factory=dict)  # as that of an evaluation
    steps: Mapping[str, Mapping[str, tuple[StepRecord, ...]]] = field(default_factory=dict)  # the same
    hit_gold: Mapping[str, Mapping[int, tuple[str, ...]]] = field(default_factory=dict)  # the same


def measures_of(
    testset: TestSet, runs: Sequence[Run], dialect: Dialect, choices: Choices, models: Models
) -> tuple[Measure, ...]:
    """What was asked for, else the dialect's set for what the results hold and the models that are there."""
    from karat.core.language import parse_all

    texts: Sequence[str] = choices.measures
    if not texts:
        answered = any(run.has_answers for run in runs)
        texts = dialect.measures(
            rankings=testset.has_gold and (any(run.has_rankings for run in runs) or not answered),
            answers=answered,
            references=answered and any(q.answers for q in testset.questions),
            contexts=any("text" in run.fields or any(a.contexts for a in run.answers.values()) for run in runs),
            nuggets=answered and any(q.nuggets for q in testset.questions),
            steps=any(any(run.steps.values()) for run in runs),
            k=choices.k,
            tried=tried_cuts(runs),
            able=models.able,
        )
        if not texts:
            raise UsageError(
                f"there is nothing to compute by default: {testset.name} has no gold and no reference answers that the "
                'results could be compared with. Add "gold" or "answers" to it, or name measures with -m.'
            )
    meant = partial(dialect.meant, norm=testset.norm, rel=choices.matching.rel)
    return parse_all(texts, k=choices.k, meant=meant, names=dialect.names, load_code=True)


def tried_cuts(runs: Sequence[Run]) -> tuple[int, ...]:
    """The several k that systems were tried with, as their results say; none where there is one."""
    tried = sorted({int(run.settings["k"]) for run in runs if run.settings.get("k", 0) >= 1})
    return tuple(tried) if len(tried) > 1 else ()


def measure_runs(
    testset: TestSet,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    choices: Choices,
    models: Models,
    resolutions: Sequence[Resolution | None],
) -> MeasuredRuns:
    """Every measure of every run. Runs of one resolution are matched together, the systems stay in their order."""
    groups: dict[int, tuple[list[Run], Resolution | None]] = {}
    for run, resolution in zip(runs, resolutions, strict=True):
        groups.setdefault(id(resolution), ([], resolution))[0].append(run)
    if isinstance(models.claims, ClaimMaker):
        models.claims.prepare([run.name for run in runs], testset.ids)
    parts = [_measured(testset, some, measures, choices, models, shared) for some, shared in groups.values()]
    if len(parts) == 1:
        return parts[0]
    scores = Scores.concat([part.scores for part in parts])
    return MeasuredRuns(
        scores.select(systems=[scores.systems.index(run.name) for run in runs]),
        next((part.judged for part in parts if part.judged is not None), None),
        _joined([part.matching for part in parts if part.matching is not None]),
        {name: held for part in parts for name, held in part.context_gold.items()},
        {name: records for part in parts for name, records in part.steps.items()},
        next((part.hit_gold for part in parts if part.hit_gold), {}),
    )


def _measured(
    testset: TestSet,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    choices: Choices,
    models: Models,
    resolution: Resolution | None,
) -> MeasuredRuns:
    """Scores of runs that are matched alike."""
    from karat.experiment._shown_hits import HitGold
    from karat.experiment._steps import step_records

    dialect = dialect_named(choices.dialect)
    matched = _matched(testset, runs, dialect, choices, resolution)
    judged = matched.judged if matched is not None else None
    if matched is not None and any(m.tokens is not None for m in measures):
        judged = judge(testset, runs, matched.join, replace(matched.settings, tokens=True))
    steps: Mapping[str, Mapping[str, tuple[StepRecord, ...]]] = {}
    if matched is not None and judged is not None and any(run.steps for run in runs):
        judged = replace(judged, steps=(stepped := judge_steps(testset, runs, matched)))
        steps = step_records(runs, stepped, choices.matching.rel)
    absent = {
        "retrieval": {run.name: NO_RANKINGS for run in runs if not run.has_rankings},
        "answer": {run.name: NO_ANSWERS for run in runs if not run.has_answers},
    }
    unmatchable = matched.unmatchable if matched is not None else {}
    unscored = replace(unscored_pairs(testset, runs), unmatchable=unmatchable, absent=absent)
    of_answers = [m for m in measures if m.spec.stage == "answer"]
    contexts_do = any(not m.spec.needs_answer for m in of_answers)
    held = ContextGold(testset, runs, matched, choices.matching.rel) if matched is not None else {}
    wanted = held if any(m.params.get("by") == "gold" for m in of_answers) else None
    answered = answered_of(testset, runs, models, unasked=contexts_do, context_gold=wanted) if of_answers else None
    scores = compute(
        measures, [run.name for run in runs], testset.ids, judged=judged, answered=with_claims(answered, measures),
        missing_is_zero=dialect.counts_missing(choices.missing),
        no_gold_is_zero=dialect.no_gold_is_zero,
        unscored=unscored,
        conversations=testset.conversations,
    )  # fmt: skip
    ends = {run.name: end for run in runs if (end := run.common_length) is not None}
    matching = matched.matching if matched is not None else None
    gold: Mapping[str, Mapping[int, tuple[str, ...]]] = {}
    if matched is not None and resolution is None:  # hits of an index are looked up in it
        gold = HitGold(testset, runs, matched, choices.matching.rel)
    return MeasuredRuns(replace(scores, lists_end=ends), judged, matching, held, steps, gold)


def _matched(
    testset: TestSet, runs: Sequence[Run], dialect: Dialect, choices: Choices, resolution: Resolution | None
) -> Matched | None:
    """Judged hits of all runs; the matcher is chosen by those that hold hits. None where none holds a ranking.

    A run without any stands beside others as it is: `aligned_runs` warns of it.
    """
    check_questions(testset, [run for run in runs if run.asked] or runs)
    ranked = [run for run in runs if run.has_rankings]
    if not ranked:
        return None
    ranked = [run for run in ranked if len(run)] or ranked
    matching = choices.matching
    settings = JudgingSettings(
        repeats=matching.repeats or dialect.repeats, ties=matching.ties, collection=matching.collection
    )
    if not testset.has_gold:
        join = Join(testset, runs)
        return Matched(judged=judge(testset, runs, join, settings), matching=None, join=join, settings=settings)
    if resolution is not None:
        matched = match_resolved(resolution, ranked, settings, allow_zero=matching.allow_zero_overlap)
        return matched if len(ranked) == len(runs) else match_resolved(resolution, runs, settings, allow_zero=True)
    matched = match(
        testset, ranked, settings, by=matching.match or dialect.match, page_offset=matching.page_offset,
        any_file=dialect.any_file, allow_zero=matching.allow_zero_overlap, try_all=matching.try_all,
    )  # fmt: skip
    if len(ranked) == len(runs):
        return matched
    place, width = {run.name: s for s, run in enumerate(runs)}, len(testset)
    pairs = {place[ranked[pair // width].name] * width + pair % width: why for pair, why in matched.unmatchable.items()}
    return replace(matched, judged=judge(testset, runs, matched.join, matched.settings), unmatchable=pairs)


def _joined(parts: Sequence[Matching]) -> Matching | None:
    """How hits were matched, over all parts."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return replace(
        parts[0],
        matcher=", ".join(dict.fromkeys(part.matcher for part in parts)),
        unit=", ".join(dict.fromkeys(part.unit for part in parts)),
        why="; ".join(dict.fromkeys(f"{part.why} ({', '.join(part.share)})" for part in parts)),
        share={name: share for part in parts for name, share in part.share.items()},
        others={},
        suggestion=next((part.suggestion for part in parts if part.suggestion), None),
        unusable=max(part.unusable for part in parts),
        entries=max(part.entries for part in parts),
        strangers={name: count for part in parts for name, count in part.strangers.items()},
        unmatchable={name: counts for part in parts for name, counts in part.unmatchable.items()},
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def reachable(
    judged: Judged | None, scores: Scores, dialect: Dialect, findable: Bools | None = None
) -> dict[str, float]:
    """The highest mean any list could reach under this gold: that of the perfect list of the units that are `findable`.

    A hit that holds several units can do better than one unit a hit, so no ceiling is below what a system reached.
    """
    columns = [
        i
        for i, m in enumerate(scores.measures)
        if m.spec.stage == "retrieval" and m.tokens is None and m.spec.direction == "higher" and not m.spec.needs_steps
    ]
    if judged is None or not columns:
        return {}
    ranking = [scores.measures[i] for i in columns]
    few, findable, like = judged.alike(findable)
    perfect = few.perfect(max((m.k or 0 for m in ranking), default=0), findable)
    best = compute(ranking, ["perfect"], few.questions, judged=perfect, no_gold_is_zero=dialect.no_gold_is_zero)
    ceilings = {}
    for place, i in enumerate(columns):
        known = best.status[0, like, place] == 0
        reached = np.where(scores.status[:, :, i] == 0, scores.values[:, :, i], -np.inf).max(axis=0)
        if known.any():
            ceilings[ranking[place].name] = float(np.maximum(best.values[0, like, place][known], reached[known]).mean())
    return ceilings


def judge_notes(scores: Scores) -> list[Note]:
    """Who judged by each measure that asks a model, and how often one that was asked again said something else."""
    from karat.stats.repeats import repeats

    notes = []
    for m, measure in enumerate(scores.measures):
        if "chat" not in measure.needs:
            continue
        details = [detail for (_, _, at), detail in scores.details.items() if at == m]
        if not details:
            continue
        models = ", ".join(sorted({str(detail["model"]) for detail in details if detail.get("model")}))
        text = f"{measure.name} {JUDGED_BY} {models or 'a language model'}."
        repeated = repeats([detail.get("repeats") or () for detail in details])
        if repeated is not None:
            text += (
                f" Asked again, it said something else of {repeated.flips:.0%} of {repeated.rows:,} answers; "
                f"{repeated.disagree:.0%} of pairs of repeats differ."
            )
        notes.append(Note("info", text))
    return notes


def spread_notes(scores: Scores, repeats: Sequence[int]) -> Iterator[Note]:
    """How far the means of a system's repeats lie apart, and how many questions vary."""
    begin = 0
    for size in repeats:
        block, name = scores.values[begin : begin + size], scores.systems[begin]
        begin += size
        known = (block == block).sum(axis=0)
        whole = known == size
        if size == 1 or not known.any():
            continue
        text = f"{name}: the scores of a question are the means of {size} repeats"
        varying = ((np.fmax.reduce(block) > np.fmin.reduce(block)) & (known > 0)).any(axis=1).sum()
        if not varying:
            text += ", which are all the same."
        else:
            means = np.where(whole, block, 0).sum(axis=1) / np.maximum(whole.sum(axis=0), 1)
            spreads = zip(scores.measures, means.std(axis=0, ddof=1), strict=True)
            listed = ", ".join(f"{measure.name} {spread:.3f}" for measure, spread in spreads if spread)
            text += (
                f"; {plural(int(varying), 'question')} of {len(scores.questions):,} vary. Standard deviation of the "
                f"mean from repeat to repeat: {listed}. Hits and answers shown are those of the first."
            )
        yield Note("info", text)
        if partly := int(((known > 0) & ~whole).any(axis=1).sum()):
            lacking = f"{plural(partly, 'question')} of {len(scores.questions):,} lack a value in some repeats"
            yield Note("warning", f"{name}: {lacking}: they are the means of the others, or have failed.")
