"""Judge: measures of stored answers by a language model; nothing is retrieved or answered again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError, did_you_mean
from karat.core.progress import Progress, shown_in_notebook
from karat.core.scores import Scores, Status
from karat.experiment.claims import BEGINS, CLAIMS, ClaimMaker, ClaimSource, ClaimsValue, claim_notes, with_claims
from karat.experiment.finished import FinishedRun, folder_of
from karat.experiment.measuring import JUDGED_BY, judge_notes
from karat.experiment.models import (
    BLOCKS,
    CALLS,
    ChatOptions,
    ChatValue,
    ModelSettings,
    check_needs,
    close,
    models_of,
    spent_by,
)
from karat.experiment.outputs import ALL, ANSWERS, write_study
from karat.experiment.settings import takes_settings, texts_of
from karat.experiment.store import MANIFEST, RunFolder
from karat.measures.entailment import LEXICAL, MODEL

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.models import Models
    from karat.core.run import Run
    from karat.pool import PoolChoice
    from karat.results.evaluation import Evaluation, Note, Summary
    from karat.results.study import Failure, FailureCount, Study

NOT_JUDGED = "not judged"
_ANEW = ("failed rows", "equal n")  # guards that more measures may change


@shown_in_notebook("progress")
@takes_settings(chat=ChatOptions)
def judge(
    run: FinishedRun | RunFolder | str | os.PathLike[str] = "LAST",
    measures: str | Iterable[str] = (),
    *,
    chat: ChatValue = None,
    systems: str | Iterable[str] = (),
    claims: ClaimsValue = None,
    runs_dir: str | os.PathLike[str] = "runs",
    pool: PoolChoice = None,
    progress: Progress | None = None,
) -> FinishedRun:
    """A stored run with more measures of its answers, in its folder and as it is returned.

    `run` is LAST, a name, the beginning of its id, its folder, or what `karat.run` returned. `systems` are those to
    judge, all that answered unless given. What was measured before under the same name is measured anew. `chat` is the
    model as in `karat.score`; what it leaves open is as the run's karat.yaml says. `claims` says who judges claims, as
    there; a file of claims corrects the table that the run has stored. A `pool` ("ray", or more of `PoolSettings` as a
    dict) does what asks no endpoint, block by block.
    """
    from karat.experiment.blocks import block_pool
    from karat.results.serial import load_study, save_study

    say = progress or (lambda what, done, total: None)
    folder = folder_of(run, runs_dir)
    wanted = measures_to_judge(measures)
    settings = replace(judging(folder, chat, claims), shared=folder.path.parent / CALLS)
    with folder.held():
        folder.check(CLAIMS)
        models = models_of(settings.within(folder.path), progress=say, pool=block_pool(pool, folder.path / BLOCKS))
        check_needs(wanted, models)
        study = load_study(folder.path)
        runs = answers_to_judge(folder, texts_of(systems))
        folder.update(files={name: seal for name, seal in folder.manifest.get("files", {}).items() if name != CLAIMS})
        try:
            judged = _scored(study, runs, wanted, models)
        finally:
            folder.update(files=folder.manifest.get("files", {}) | folder.seal(CLAIMS))
            close(models)
            if (spent := spent_by(models)) is not None:
                folder.update(models=[*folder.manifest.get("models", []), spent])
        say("summarising", 0, 1)
        spec = folder.manifest.get("spec", {})
        before = folder.manifest.get("claims", {}).get("judged_by")
        same = not isinstance(models.claims, ClaimMaker) or models.claims.judged_by in ("", before)
        study = _renewed(study, _joined(study.evaluation, judged, claim_notes(models), same))
        outputs = [name for name in spec.get("outputs", ALL) if name in ALL]
        write_study(study, folder.path, outputs, say=say)
        save_study(study, folder.path)
        names = dict.fromkeys((*folder.manifest.get("judged", []), *(measure.name for measure in wanted)))
        folder.update(judged=list(names))
        if isinstance(models.claims, ClaimMaker) and models.claims.judged_by:
            folder.update(claims={"judge": settings.claims.judge, "judged_by": models.claims.judged_by})
    return FinishedRun(folder, study, runs)


def measures_to_judge(measures: str | Iterable[str]) -> tuple[Measure, ...]:
    """The measures of answers that are named."""
    from karat.core.language import parse_all

    named = texts_of(measures)
    if not named:
        raise UsageError("no measure of answers is named. Name one with -m, such as -m Faithfulness.")
    wanted = parse_all(named, load_code=True)
    others = [m.name for m in wanted if m.spec.stage != "answer"]
    if others:
        raise UsageError(f"{others[0]} is no measure of answers, which are all that is judged. Leave it out.")
    return tuple(wanted)


def _renewed(study: Study, evaluation: Evaluation) -> Study:
    """The study with all that follows from the scores of its answers: their failures and classes of error."""
    from karat.diagnose.answers import LABELS, answer_scores, attribute_answers
    from karat.diagnose.failures import Attribution
    from karat.experiment.study import error_classes

    failures: list[Failure] = []
    counts: list[FailureCount] = []
    for name in evaluation.scores.systems:
        gold = study.answer_gold.get(name)
        dropped = LABELS if gold is not None else ()
        attribution = Attribution(
            tuple(one for one in study.failures if one.system == name and one.label not in dropped),
            tuple(one for one in study.failure_counts if one.system == name and one.label not in dropped),
        )
        if gold is not None:
            scores = answer_scores(evaluation.scores, name)
            attribution = attribute_answers(attribution, name, evaluation.testset, study.answers[name], scores, gold)
        failures += attribution.failures
        counts += attribution.counts
    recall = next((m.name for m in evaluation.scores.measures if m.spec.name == "Recall" and m.k == study.k), "")
    return replace(
        study, evaluation=evaluation, failures=tuple(failures), failure_counts=tuple(counts),
        error_classes=error_classes(evaluation, recall) if study.error_classes else {},
    )  # fmt: skip


def answers_to_judge(folder: RunFolder, systems: Sequence[str]) -> list[Run]:
    """The answers that a run has stored, of these systems or of all."""
    from karat.files import read_results

    path = folder.path / ANSWERS
    if not path.is_file():
        raise UsageError(f"the run {folder.id} holds no answers. Make some with `karat run --answer extractive`.")
    folder.check(ANSWERS)
    runs, _ = read_results(path)
    known = [run.name for run in runs]
    for name in systems:
        if name not in known:
            raise UsageError(f"no system of this run is called {name!r}.{did_you_mean(name, known)}")
    return [run for run in runs if not systems or run.name in systems]


def judging(folder: RunFolder, chat: ChatValue = None, claims: ClaimsValue = None) -> ModelSettings:
    """The model, the budget and the repeats of the run's karat.yaml, with what `chat` says in their place.

    Claims are judged by whom `claims` names, else by a model that `chat` names, else as they were before.
    """
    settings, source = _chat_of(folder, chat), ClaimSource.of(claims)
    spec: Mapping[str, Any] = folder.manifest.get("spec", {})
    judge = source.judge or (MODEL if ChatOptions.of(chat).model is not None else None)
    for before in (folder.manifest.get("claims", {}).get("judge"), *(spec.get("claims") or ())):
        if judge is None and (before == LEXICAL or (before == MODEL and settings.chat is not None)):
            judge = before
    return replace(settings, claims=replace(source, judge=judge, folder=folder.path))


def _chat_of(folder: RunFolder, chat: ChatValue) -> ModelSettings:
    """The chat model of a run.

    What the run's manifest says of a model is data: its host is asked only if the user has named it, its key is the
    user's choice, and no variable of the environment is filled in.
    """
    from karat.experiment.spec import chat_settings, option_values
    from karat.models.hosts import KEY_ENV, permitted
    from karat.systems.environment import filled, variables

    options = ChatOptions.of(chat)
    given = options.values(*(one.name for one in fields(options) if one.name not in ("calls", "announce")))
    spec: Mapping[str, Any] = folder.manifest.get("spec", {})
    written = {"model": spec.get("judge_model") or spec.get("model"), "budgets": spec.get("budgets")}
    if not isinstance(options.model, str | None) or (written["model"] is None and options.model is None):
        if options.model is None:
            option_values({}, **given)  # refuses what is for a model
        return ModelSettings.of(options)
    stored = written["model"].get("name") if isinstance(written["model"], Mapping) else written["model"]
    values = written | option_values(written, **given)
    place = str(folder.path / MANIFEST)
    for name in variables(values["model"]):
        raise UsageError(
            f"{place} names its model by ${{{name}}}, and no variable is filled into what a stored run says. Name the "
            "model with --model and --base-url."
        )
    asked = chat_settings(filled(values["model"]), place)
    if options.base_url is None and options.model in (None, stored):
        asked = permitted(asked, place)
    if options.base_url is not None or options.key_env is not None:
        asked = replace(asked, key_env=options.key_env or KEY_ENV)
    limits = values["budgets"] or {}
    return ModelSettings.of(
        ChatOptions(
            model=asked, max_cost=limits.get("max_cost_usd"), max_calls=limits.get("max_calls"),
            repeat=values.get("judge_repeat", spec.get("judge_repeat", 1)), calls=options.calls,
            announce=options.announce,
        )
    )  # fmt: skip


def _scored(study: Study, runs: Sequence[Run], measures: Sequence[Measure], models: Models) -> Scores:
    from karat.experiment._answered import answered_of, unscored_pairs
    from karat.experiment._limited import unasked
    from karat.measures.compute import compute
    from karat.measures.dialects import dialect_named

    testset = study.evaluation.testset
    if isinstance(models.claims, ClaimMaker):
        models.claims.prepare(study.evaluation.scores.systems, testset.ids)
    dialect, spec = dialect_named(study.evaluation.dialect), study.manifest.get("spec", {})
    rows = ([qid for qid in testset.ids if qid in run.answers or qid in run.failed] for run in runs)
    # every question that was to be answered has a row
    runs = [replace(run, unasked=unasked(testset, asked)) for run, asked in zip(runs, rows, strict=True)]
    held = answered_of(testset, runs, models, context_gold=study.evaluation.context_gold)
    answered = with_claims(held, measures)
    return compute(
        measures, [run.name for run in runs], testset.ids, answered=answered,
        missing_is_zero=dialect.counts_missing(spec.get("missing")), unscored=unscored_pairs(testset, runs),
        conversations=testset.conversations,
    )  # fmt: skip


def _joined(evaluation: Evaluation, judged: Scores, claims: Sequence[Note], same_claims: bool) -> Evaluation:
    """The evaluation with the judged measures after its own.

    Systems that were not judged keep what the same judge said of them before, and have no value otherwise: scores of
    two judges do not stand in one column.
    """
    from karat.diagnose.decisions import verdicts
    from karat.experiment._outcomes import with_outcomes
    from karat.experiment.inputs import slices_of
    from karat.stats.summary import summarise, targets

    old, names = evaluation.scores, {measure.name for measure in judged.measures}
    unjudged = [number for number, measure in enumerate(old.measures) if measure.name not in names]
    more = [
        judged.select(systems=[judged.systems.index(name)])
        if name in judged.systems
        else _before(old, s, judged, same_claims)
        for s, name in enumerate(old.systems)
    ]
    scores = Scores.concat([old.select(measures=unjudged), Scores.concat(more)], axis="measures")
    by = tuple(dict.fromkeys(one.slice for one in evaluation.summaries if one.slice is not None))
    banded = {one.measure for one in evaluation.summaries if one.band}
    bands = {measure.spec.name for measure in scores.measures if measure.name in banded}
    summaries = summarise(scores, slices=slices_of(evaluation.testset, by, evaluation.steps), bands=bands)
    ceilings = {target.measure: target.ceiling for target in evaluation.targets}
    joined = replace(
        evaluation, scores=scores, summaries=summaries,
        targets=targets(summaries, ceilings) if evaluation.targets else (),
        verdicts=verdicts(summaries, scores.measures, dialect=evaluation.dialect),
        notes=(*_notes(evaluation.notes, judged, scores, summaries, bool(claims)), *claims),
    )  # fmt: skip
    return with_outcomes(joined)


def _before(old: Scores, system: int, judged: Scores, same_claims: bool) -> Scores:
    """What the same judge said of a system before, by the measures now judged."""
    column_of = {measure.name: number for number, measure in enumerate(old.measures)}
    columns = []
    for number, measure in enumerate(judged.measures):
        column = column_of.get(measure.name)
        known = column is not None and (old.status[system, :, column] == Status.ok).any()
        other = (
            "chat" in measure.needs and column is not None and _judges(old, column, system) != _judges(judged, number)
        )
        if column is None or not known or other or (measure.relations and not same_claims):
            columns.append(Scores.without_values([old.systems[system]], old.questions, [measure], NOT_JUDGED))
        else:
            columns.append(old.select(systems=[system], measures=[column]))
    return Scores.concat(columns, axis="measures")


def _judges(scores: Scores, measure: int, system: int | None = None) -> set[tuple[Any, ...]]:
    """Who judged by a measure: models, the versions of their prompts, and how often they were asked."""
    return {
        (shown["model"], shown.get("prompt"), len(shown.get("repeats") or ()))
        for (s, _, m), shown in scores.details.items()
        if m == measure and system in (None, s) and shown.get("model")
    }


def _notes(
    before: Sequence[Note], judged: Scores, scores: Scores, summaries: Sequence[Summary], claims: bool
) -> tuple[Note, ...]:
    """The notes as they are true now: what was said of a measure that is judged anew goes."""
    from karat.diagnose.guards import equal_n, failed_rows

    fresh = (*failed_rows(scores), *equal_n(one for one in summaries if one.slice is None))
    again = (*(f"{measure.name} {JUDGED_BY} " for measure in judged.measures), *([BEGINS] if claims else []))
    standing = [n for n in before if n.guard not in _ANEW and not n.text.startswith(again)]
    return (*standing, *fresh, *judge_notes(judged))
