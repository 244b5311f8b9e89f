"""Putting a study together: scores, the choice, pairs, failures, and the hits that a report shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.core.types import NO_VALUE
from karat.experiment._shown_hits import shown_hits
from karat.measures.dialects import MAIN_CUT, dialect_named
from karat.results.evaluation import Evaluation, InputInfo, Note, Usage
from karat.results.study import Choice, Failure, FailureCount, Study, StudyAnswer
from karat.stats.arrays import Floats
from karat.systems.source import SystemRun, whole_seconds

if TYPE_CHECKING:
    from karat.core.docs import Problem
    from karat.core.measure import Measure
    from karat.core.models import Models, Need
    from karat.core.run import Run
    from karat.core.scores import Scores
    from karat.core.types import TestSet
    from karat.experiment.settings import Choices
    from karat.match import Resolution
    from karat.results.comparison import Pair


MAIN = "Recall@5"
SHOWN_SYSTEMS = 6
MOST_PAIRED = 12  # systems of which all pairs are compared; of more, only those with the best


@dataclass(frozen=True, kw_only=True)
class StudySystem(SystemRun):
    """A system of a study and what it returned, beside the gold in the index that its hits are matched by."""

    resolution: Resolution | None = None

    @property
    def name(self) -> str:
        return self.configuration.name

    @property
    def timed(self) -> int | None:
        """How many questions were timed, where karat searched and timed a sample alone."""
        n = sum(spent is not None for spent in self.seconds)
        return n if self.retrieved is not None and n < len(self.seconds) else None

    @cached_property
    def indexed(self) -> Resolution | None:
        """The resolution, where every hit is a chunk of its index."""
        strange = self.resolution is None or (len(self.run) > 0 and self.resolution.index.rows_of(self.run).min() < 0)
        return None if strange else self.resolution


@dataclass(frozen=True)
class Plan:
    """What a study computes: how to score, and the main measure.

    `cuts` are cut-offs that the usual measures are computed at besides its own. `answers` says that there will be
    answers, `judges` what a language model measures of them, and `able` which kinds of model there are for those of a
    dialect. `steps`: results have steps.
    """

    choices: Choices
    main: str = MAIN
    cuts: tuple[int, ...] = ()
    answers: bool = False
    judges: tuple[str, ...] = ()
    able: tuple[Need, ...] = ()
    steps: bool = False

    @property
    def base(self) -> Measure:
        """The main measure as it is scored: what the dialect means by it, at the relevance threshold."""
        rel = self.choices.matching.rel
        return dialect_named(self.choices.dialect).meant(self._parsed(self.main), rel=rel)

    @property
    def recall(self) -> str:
        """The name of the recall by which a question fails or not."""
        return self._parsed(f"Recall@{self.k}").with_rel(self.choices.matching.rel).name

    def _parsed(self, text: str) -> Measure:
        from karat.core.language import parse

        return parse(text, k=self.choices.k, load_code=True)

    def check(self) -> None:
        """Refuse a main measure that cannot decide between rankings."""
        base = self.base
        if base.spec.stage != "retrieval" or base.spec.direction == "none" or not base.is_mean:
            raise UsageError(
                f"{self.main} cannot be the main measure: choose one of ranking, such as Recall@5 or nDCG@10."
            )

    @property
    def k(self) -> int:
        """The cut-off by which a question fails or not."""
        return self.base.k or MAIN_CUT

    @property
    def measures(self) -> tuple[str, ...]:
        """All measures to compute: those asked for or the usual ones, and the main one."""
        asked = self.choices.measures or (*usual({self.k, *self.cuts}), *self._of_steps, *self._of_answers)
        return tuple(dict.fromkeys((*asked, self.base.name, *self.judges)))

    @property
    def _of_steps(self) -> tuple[str, ...]:
        return dialect_named(self.choices.dialect).of_steps if self.steps else ()

    @property
    def _of_answers(self) -> tuple[str, ...]:
        """The measures of answers where none are named: the dialect's, what each sentence rests on, and refusals."""
        if not self.answers:
            return ()
        dialect = dialect_named(self.choices.dialect)
        measures = dialect.measures(rankings=False, answers=True, references=True, contexts=True, able=self.able)
        return (*measures, "SentenceSupport", "Refusal")


def usual(cuts: set[int]) -> tuple[str, ...]:
    """The measures of a study that names none."""
    names = [f"{name}@{cut}" for name in ("Precision", "Recall", "F1", "Hit", "nDCG") for cut in sorted(cuts)]
    return (*names, "MRR", "MAP")


def study_of(
    name: str,
    testset: TestSet,
    systems: Sequence[StudySystem],
    plan: Plan,
    *,
    problems: Sequence[Problem] = (),
    taken: Sequence[InputInfo] = (),
    notes: Sequence[Note] = (),
    manifest: Mapping[str, Any] | None = None,
    models: Models | None = None,
    say: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Study:
    """Score what the systems returned and say what follows from it.

    Hits that are chunks of an index are scored by which of them hold the gold, others by what is known of them.
    Failures are traced for systems whose hits are chunks of an index. `models` are the models that measures ask.
    """
    from karat.experiment.measuring import tried_cuts
    from karat.experiment.pareto import tested_pairs, with_fronts
    from karat.experiment.score import evaluation_of

    spoken = dialect_named(plan.choices.dialect, bands=plan.choices.bands)
    answered, able = any(c.run.has_answers for c in systems), models.able if models is not None else ()
    runs, resolutions = [c.run for c in systems], [c.resolution for c in systems]
    stepped = any(any(run.steps.values()) for run in runs)
    cuts = (*plan.cuts, *tried_cuts(runs))
    plan = replace(plan, answers=plan.answers or answered, able=able, cuts=cuts, steps=stepped)
    choices = replace(plan.choices, measures=plan.measures)
    evaluation = evaluation_of(
        testset, runs, choices, progress=lambda step: say(step, 0, 1), inputs=taken, notes=notes,
        resolution=resolutions, models=models,
    )  # fmt: skip
    evaluation = replace(
        evaluation,
        usage=(*evaluation.usage, *_retrieval_times(systems, evaluation, testset)),
        notes=(*evaluation.notes, *_timed_notes(systems, testset)),
    )
    say("choosing", 0, 1)
    choice, pairs = _chosen(evaluation, plan, systems, testset)
    main = next((m for m in evaluation.scores.measures if m.name == plan.base.name), None)
    evaluation = with_fronts(evaluation, main, tested_pairs(choice, pairs))
    failures, counts, answer_gold = _failures(systems, plan.k, problems, evaluation, say)
    shown, held = _shown(systems, choice), evaluation.hit_gold
    evaluation = replace(evaluation, hit_gold={})
    return Study(
        name,
        evaluation=evaluation,
        configurations=tuple(c.configuration for c in systems),
        main=plan.base.name,
        k=plan.k,
        choice=choice,
        pairs=pairs,
        failures=failures,
        failure_counts=counts,
        error_classes=error_classes(evaluation, plan.recall) if spoken.has_error_classes else {},
        hits={c.name: shown_hits(c, testset, {} if c.resolution else held.get(c.name, {})) for c in shown},
        texts_for_ids=tuple(c.name for c in systems if c.retrieved is None and c.run.has_texts_for_ids),
        seconds={c.name: tuple(c.seconds) for c in systems if len(c.seconds)},
        timed={c.name: c.timed for c in systems if c.timed is not None},
        answers={c.name: answers_of(c, testset) for c in systems if c.run.has_answers},
        manifest=dict(manifest or {}),
        answer_gold=answer_gold,
    )


def _retrieval_times(systems: Sequence[StudySystem], evaluation: Evaluation, testset: TestSet) -> Iterator[Usage]:
    """Seconds of retrieval of systems whose results do not say them, and of whole questions of those that answer."""
    from karat.stats.summary import usage

    stated = {u.system for u in evaluation.usage if u.what in ("seconds retrieve", "seconds total")}
    for system in (c for c in systems if c.name not in stated and len(c.seconds)):
        columns = {"seconds retrieve": system.seconds}
        if system.run.has_answers:
            columns["seconds total"] = whole_seconds(system.run, testset.ids, system.seconds)
        for what, values in columns.items():
            figures = usage(system.name, what, values)
            if figures is not None:
                yield figures


def _timed_notes(systems: Sequence[StudySystem], testset: TestSet) -> Iterator[Note]:
    """A note on seconds that were measured on a sample, or not at all."""
    if any(system.retrieval is not None and not len(system.seconds) for system in systems):
        yield Note("info", "Seconds of retrieval are unknown: they are measured by the local pool alone.")
    timed = {system.timed for system in systems if system.timed is not None}
    if timed:
        yield Note(
            "info",
            f"Seconds of retrieval are of {max(timed):,} of {len(testset):,} questions, each searched alone; the "
            "others were searched in batches.",
        )


def answers_of(system: StudySystem, testset: TestSet) -> dict[str, StudyAnswer]:
    """The answers of a system as reports show them."""
    from karat.core.text.refusals import declines

    whole = dict(zip(testset.ids, whole_seconds(system.run, testset.ids, system.seconds), strict=True))
    return {
        qid: StudyAnswer(
            system.name,
            qid,
            a.text,
            error=a.error,
            contexts=a.contexts or (),
            used=a.used or (),
            given=a.used if a.given is None else a.given,
            model=a.model,
            tokens=a.tokens,
            cost_usd=a.cost_usd,
            confidence=a.confidence,
            declined=declines(a.text or ""),
            seconds=a.seconds.get("answer"),
            seconds_total=whole.get(qid),
        )
        for qid, a in system.run.answers.items()
    }


def values_of(scores: Scores, measure: str) -> Floats:
    """Values of a measure, systems x questions; NaN where there is none."""
    return scores.of_measure([m.name for m in scores.measures].index(measure))


def choice_of(
    main: Measure, systems: Sequence[str], values: Floats, testset: TestSet, *, kinds: Sequence[str | None], seed: int
) -> Choice | None:
    """The best system by a measure, its equals, and the best for each kind, of values by system and question."""
    from karat.diagnose.decisions import in_words
    from karat.stats.choose import cells_of, choose

    cells = cells_of(
        [(name, main.name, main.k) for name in systems], values, bounds=main.bounds, clusters=testset.conversations
    )
    labels = [NO_VALUE if kind is None else kind for kind in kinds] if any(kind is not None for kind in kinds) else []
    choice = choose(
        main.name, cells, values, kinds=labels or None, ids=testset.ids, bounds=main.bounds, seed=seed,
        higher_is_better=main.spec.direction != "lower", clusters=testset.conversations,
    )  # fmt: skip
    turns = tuple(zip(testset.conversations or (), labels or kinds, strict=False))
    many = {kind: len({number for number, of in turns if kind in (None, of)}) for kind in {None, *labels}}
    return in_words(choice, many if turns else None)


def _chosen(
    evaluation: Evaluation, plan: Plan, systems: Sequence[StudySystem], testset: TestSet
) -> tuple[Choice | None, tuple[Pair, ...]]:
    """The choice among systems, and the pairs of systems, by the main measure.

    Systems whose hits cannot show all the gold that those of others can are no part of either.
    """
    from karat.stats.compare import pairs

    seed, main, matching = plan.choices.seed, plan.base, evaluation.matching
    unranked = matching.unranked if matching is not None else frozenset[str]()
    places = [s for s, c in enumerate(systems) if c.name not in unranked]
    names = [systems[s].name for s in places]
    if not names or main.name not in {m.name for m in evaluation.scores.measures}:
        return None, ()
    values = values_of(evaluation.scores, main.name)[places]
    choice = choice_of(main, names, values, testset, kinds=[q.kind for q in testset], seed=seed)
    best = names.index(choice.best.system) if choice is not None else 0
    wanted = None if len(names) <= MOST_PAIRED else [(i, best) for i in range(len(names)) if i != best]
    higher = main.spec.direction != "lower"
    return choice, pairs(
        main.name, names, values, wanted, ids=testset.ids, seed=seed, higher_is_better=higher,
        clusters=evaluation.scores.conversations,
    )  # fmt: skip


def _failures(
    systems: Sequence[StudySystem],
    k: int,
    problems: Sequence[Problem],
    evaluation: Evaluation,
    say: Callable[[str, int, int], None],
) -> tuple[tuple[Failure, ...], tuple[FailureCount, ...], dict[str, dict[str, str]]]:
    """Failures with their counts; and of each system that answers what gold its answerer was not given."""
    from karat.diagnose.answers import answer_scores, attribute_answers, gold_given
    from karat.diagnose.failures import attribute

    failures: list[Failure] = []
    counts: list[FailureCount] = []
    answer_gold: dict[str, dict[str, str]] = {}
    for place, system in enumerate(systems):
        say("tracing failures", place, len(systems))
        resolution, retrieved = system.indexed, system.retrieved
        if resolution is None or not system.run.has_rankings:
            continue
        number = {qid: q for q, qid in enumerate(resolution.testset.ids)}
        ranked = retrieved.whole if retrieved else _as_ranked(system.run, resolution)
        skipped = [number[qid] for qid in system.run.failed if qid in number]
        attribution = attribute(
            system.name, resolution, ranked, k,
            legs=retrieved.legs if retrieved else None,
            problems=problems,
            deep=system.retrieval.ranks_of(retrieved.settings) if retrieved and system.retrieval else None,
            skipped=skipped,
        )  # fmt: skip
        if system.run.has_answers:
            name, scored = system.name, answer_scores(evaluation.scores, system.name)
            given = answers_of(system, evaluation.testset)
            answers = {qid: a for qid, a in given.items() if qid not in system.run.failed}
            answer_gold[name] = gold_given(resolution, ranked, k, answers)
            attribution = attribute_answers(attribution, name, resolution.testset, answers, scored, answer_gold[name])
        failures += attribution.failures
        counts += attribution.counts
    say("tracing failures", len(systems), len(systems))
    return tuple(failures), tuple(counts), answer_gold


def error_classes(evaluation: Evaluation, recall_name: str) -> dict[str, dict[str, int]]:
    """How many questions of each system are of each class of the hybrid-rag document."""
    from karat.diagnose.answers import answer_scores
    from karat.diagnose.failures import error_class

    scores = evaluation.scores
    columns = {m.name: i for i, m in enumerate(scores.measures)}
    recall = columns.get(recall_name)
    classes: dict[str, dict[str, int]] = {}
    for s, system in enumerate(scores.systems if recall is not None else ()):
        assert recall is not None
        answers, counted = answer_scores(scores, system, ("TokenF1",)), dict[str, int]()
        for q in range(len(scores.questions)):
            name = error_class(scores.value(s, q, recall), answers.value(q))
            if name is not None:
                counted[name] = counted.get(name, 0) + 1
        classes[system] = counted
    return classes


def _as_ranked(run: Run, resolution: Resolution) -> Ranked:
    """The hits of a run, all of them chunks of the index, in the order they stand; a repeated one keeps its slot."""
    list_of = {qid: number for number, qid in enumerate(run.question_ids)}
    lists = [list_of.get(qid, len(list_of)) for qid in resolution.testset.ids]  # the last is empty
    rows = resolution.index.rows_of(run)
    whole = Ranked(np.append(run.offsets, len(rows)), rows, -np.arange(len(rows), dtype=np.float64))
    return whole.take(np.array(lists, np.int64))


def _shown(systems: Sequence[StudySystem], choice: Choice | None) -> list[StudySystem]:
    """The systems whose hits a report shows: the best, single engines and those of others, then the first."""
    best = [c for c in systems if choice is not None and c.name == choice.best.system]
    alone = [c for c in systems if c.retrieved is None or len(c.retrieved.legs) == 1]
    ordered = {c.name: c for c in (*best, *alone[: SHOWN_SYSTEMS - 2], *systems)}
    return list(ordered.values())[:SHOWN_SYSTEMS]
