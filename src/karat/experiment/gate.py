"""Gate: rules held against a stored run, and against a baseline where they name one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.core.scores import Status
from karat.core.text.words import conversations_note, names
from karat.core.types import NO_VALUE
from karat.experiment._judgement import HeldRule, judged
from karat.experiment._subjects import Subject, check_system, failed_rows, subject_of
from karat.experiment.finished import study_at_hand
from karat.experiment.rules import parse_rules
from karat.experiment.settings import scored_by, settings_apart, texts_of
from karat.results.decisions import best_system
from karat.results.gating import Baseline, Gate, Rule, RuleResult
from karat.results.serial import STUDY, load_study
from karat.stats.arrays import Bools

if TYPE_CHECKING:
    from karat.experiment.report import Report
    from karat.experiment.store import RunFolder
    from karat.results.evaluation import Note
    from karat.results.study import Study

_EQUAL_N = "equal n"
_OF_FAILED = ("failed rows", _EQUAL_N)  # guards that say of rows that failed what an incomplete run says


@dataclass(frozen=True)
class _Side:
    """A run that rules look at: the gated one, or the baseline."""

    id: str
    study: Study
    system: str | None = None  # that stands in for rules which name none

    @property
    def systems(self) -> tuple[str, ...]:
        return self.study.evaluation.scores.systems

    def named(self, name: str) -> str:
        check_system(self.id, name, self.systems)
        return name

    @property
    def default(self) -> str:
        """The system asked for, the only one, or the best by the main measure."""
        return self.named(self.system) if self.system is not None else default_system(self.study, self.id)

    def subject(self, system: str, ours: Subject, name: str) -> Subject:
        """What a rule is about, called `name` in it, of a system here; `ours` is the same of the gated run."""
        return subject_of(self.study, system, name)

    def failed_questions(self, system: str) -> list[str]:
        """The questions of a system of which at least one score failed."""
        return [self.study.evaluation.scores.questions[int(q)] for q in np.flatnonzero(failed_rows(self.study, system))]


@dataclass(frozen=True)
class _SavedSide:
    """A baseline whose run is gone: what its file holds of one system."""

    saved: Baseline
    questions: tuple[str, ...]  # in the order of the gated run

    @property
    def id(self) -> str:
        return self.saved.run

    @property
    def system(self) -> str | None:
        return self.saved.system

    @property
    def default(self) -> str:
        return str(self.saved.scores_of)

    def named(self, name: str) -> str:
        if name != self.default:
            raise UsageError(
                f"run {self.id} is gone, and the file of the baseline {self.saved.name} holds the scores of "
                f"{self.default} alone, not of {name}. Keep the run beside it, or save it with --system {name}."
            )
        return name

    def subject(self, system: str, ours: Subject, name: str) -> Subject:
        if ours.name not in self.saved.scores:
            raise UsageError(
                f"run {self.id} is gone, and the file of the baseline {self.saved.name} holds no {name!r}. It has "
                f"{names(list(self.saved.scores), 24)}. Keep the run beside it for anything else."
            )
        place = {qid: number for number, qid in enumerate(self.saved.questions)}
        values = np.array(self.saved.scores[ours.name], np.float64)
        why = self.saved.failed.get(ours.name, {})
        return replace(
            ours,
            values=values[[place[q] for q in self.questions]],
            failed=np.array([q in why for q in self.questions], bool),
            missing=np.zeros(len(self.questions), bool),
            why={number: why[q] for number, q in enumerate(self.questions) if q in why},
        )

    def failed_questions(self, system: str) -> list[str]:
        failed = {qid for questions in self.saved.failed.values() for qid in questions}
        return [qid for qid in self.questions if qid in failed]


def gate(
    run: Report | RunFolder | str | os.PathLike[str],
    rules: str | Sequence[str] = (),
    *,
    baseline: str | os.PathLike[str] | None = None,
    system: str | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
    allow_incomplete: bool = False,
    allow: str | Sequence[str] = (),
    study: Study | None = None,
) -> Gate:
    """Hold rules against a run; without rules, those of its karat.yaml. `allow` names guards that may fire.

    What it returns is true where all rules hold (`passed`); `verdicts` say what became of each.

    `run` is LAST, a name, the beginning of its id, its folder, what `karat.run` returned, or a report of `karat.score`.
    `study` is what the run found, where it is at hand, else it is read.

    A rule that names no system is about `system` or, without it, the only system or the best by the main measure, and
    is held against the same of the baseline.
    """
    folder, stored = study_at_hand(run, runs_dir)
    study = study or stored
    baseline, allow = None if baseline is None else os.fspath(baseline), texts_of(allow)
    asked = parse_rules(texts_of(rules) or tuple(folder.manifest.get("spec", {}).get("gate") or ()))
    if not asked:
        raise UsageError(
            f'there are no rules to hold run {folder.id} to. Give some, such as "Recall@5 >= 0.6", or write them into '
            "karat.yaml as a list under gate."
        )
    missing = (
        [] if folder.is_done else [f"run {folder.id} is {folder.state}, not finished: resume it with `karat run`."]
    )
    if missing and (not allow_incomplete or not (folder.path / STUDY).is_file()):
        return Gate(
            run=folder.id,
            verdicts=(),
            baseline=baseline,
            baseline_run=None,
            incomplete=tuple(missing),
            allows_incomplete=allow_incomplete,
        )
    ours = _Side(folder.id, study or load_study(folder.path), system)
    theirs, notes = _baseline(asked, baseline, runs_dir, folder, ours)
    verdicts = []
    for rule in asked:
        try:
            verdicts.append(_verdict(rule, ours, theirs, allow_incomplete))
        except KaratError as problem:
            raise UsageError(f"rule {rule.text!r}, position {_place(rule, str(problem))}: {problem}") from None
    missing += _missing(verdicts, ours, theirs)
    fired = _fired(ours.study, {v.subject for v in verdicts})
    let = (*allow, *(_OF_FAILED if (ours.study.evaluation.scores.status == Status.failed).any() else ()))
    guards = tuple(n for n in fired if n.guard is not None and n.level == "warning" and n.guard not in let)
    resampled = conversations_note(ours.study.evaluation.scores.conversations)
    return Gate(
        run=folder.id,
        verdicts=tuple(verdicts),
        baseline=baseline if theirs is not None else None,
        baseline_run=theirs.id if theirs is not None else None,
        incomplete=tuple(missing),
        allows_incomplete=allow_incomplete,
        guards=guards,
        notes=(*_chosen(verdicts, ours), *notes, *_allowed(fired, allow), *([resampled] if resampled else [])),
    )


def _place(rule: Rule, problem: str) -> int:
    """Where in a rule the name stands that a problem quotes; the subject, where it quotes none of the others."""
    names = [rule.system, *(part for pair in rule.where for part in reversed(pair))]
    quoted = next((name for name in names if name is not None and repr(name) in problem), rule.subject)
    return rule.text.find(quoted) + 1


def default_system(study: Study, run: str) -> str:
    """The only system of a run, or the best by its main measure."""
    systems = study.evaluation.scores.systems
    best = systems[0] if len(systems) == 1 else best_system(study)
    if best is None:
        raise UsageError(
            f"run {run} has {len(systems)} systems and no best one by {study.main}. Name one with --system, or in the "
            f'rule: "{systems[0]}: MRR > .5".'
        )
    return best


def _baseline(
    rules: Sequence[Rule], name: str | None, runs_dir: str | os.PathLike[str], folder: RunFolder, ours: _Side
) -> tuple[_Side | _SavedSide | None, list[str]]:
    """The run that rules are held against, and what should be known of it; None where no rule asks for one."""
    from karat.experiment.baseline import baselines_in, open_baseline
    from karat.experiment.frozen import same_testset

    wanting = [rule for rule in rules if rule.needs_baseline]
    if name is None:
        if wanting:
            saved = baselines_in(runs_dir)
            offered = f"There are {', '.join(saved)}." if saved else "Save one: `karat gate RUN --save main`."
            raise UsageError(f"rule {wanting[0].text!r} needs a baseline: name it with --baseline. {offered}")
        return None, []
    before, about = open_baseline(runs_dir, name)
    if not wanting:
        return None, [f"no rule asks for the baseline {name}."]
    theirs: _Side | _SavedSide
    evaluation = ours.study.evaluation
    if before is None:
        same_testset([{"inputs": {"testset": {"digest": about.testset, "path": about.name}}}, folder.manifest])
        how = about.scored_by
        if set(about.questions) != set(evaluation.scores.questions):
            raise UsageError(f"the baseline {name} holds other questions than run {folder.id}. Save it again.")
        theirs = _SavedSide(about, evaluation.scores.questions)
    else:
        study = load_study(before.path)
        same_testset([before.manifest, folder.manifest], [study.evaluation.testset, evaluation.testset])
        how = scored_by(before.manifest, study.evaluation.matching)
        theirs = _Side(before.id, study, about.system)
    if apart := settings_apart(how, scored_by(folder.manifest, evaluation.matching)):
        raise UsageError(
            f"the baseline {name} and run {folder.id} are not scored alike ({apart}): their figures cannot be "
            "compared. Score both alike, then save the baseline again."
        )
    return theirs, [f"the baseline {name} is this run itself."] if theirs.id == folder.id else []


def _verdict(rule: Rule, ours: _Side, theirs: _Side | _SavedSide | None, allow_incomplete: bool) -> RuleResult:
    system, name = rule.system, rule.subject
    if system is None and ":" in name and name not in {m.name for m in ours.study.evaluation.scores.measures}:
        system, _, name = (part.strip() for part in name.partition(":"))
        rule = replace(rule, system=system, subject=name)
    gated = ours.named(system) if system is not None else ours.default
    subject = subject_of(ours.study, gated, name)
    if rule.confidence is not None and not subject.is_measure:
        raise UsageError(
            f"{subject.name} has no interval, so that @{rule.confidence:.4g} means nothing for it. Leave @ out."
        )
    chosen = _in_slice(ours.study, rule, gated)
    beside, other = None, None
    if rule.needs_baseline:
        assert theirs is not None
        other = theirs.system if theirs.system is not None else system if system is not None else ours.system
        other = theirs.named(other) if other is not None else theirs.default
        try:
            beside = theirs.subject(other, subject, name).of(chosen)
        except KaratError as problem:
            raise UsageError(f"of the baseline: {problem}") from None
    testset = ours.study.evaluation.testset
    held = HeldRule(
        rule, gated, subject.of(chosen), int(chosen.sum()), beside, other, testset.ids,
        {q.id: q.text for q in testset}, int(ours.study.manifest.get("seed", 0)), allow_incomplete,
        ours.study.evaluation.scores.conversations,
    )  # fmt: skip
    return judged(held)


def _in_slice(study: Study, rule: Rule, system: str) -> Bools:
    """The questions that a rule is about; `system` says which, where a slice differs by system."""
    from karat.experiment.inputs import slices_of

    testset = study.evaluation.testset
    chosen = np.ones(len(testset), bool)
    for name, wanted in rule.where:
        slice_ = slices_of(testset, [name], study.evaluation.steps)[name]
        of_system = slice_.get(system) or [None] * len(testset) if isinstance(slice_, Mapping) else slice_
        values = [value or NO_VALUE for value in of_system]
        if wanted not in values:
            known = sorted(set(values))
            near = did_you_mean(wanted, known)
            raise UsageError(f"no question has {name} {wanted!r}.{near} There are {names(known, 12)}.")
        chosen &= np.array([value == wanted for value in values], bool)
    if not chosen.any():
        shown = ", ".join(f"{name}={value}" for name, value in rule.where)
        raise UsageError(f"no question is in all of these slices: {shown}. Ask for less.")
    return chosen


def _missing(verdicts: Sequence[RuleResult], ours: _Side, theirs: _Side | _SavedSide | None) -> list[str]:
    """What failed in the systems that rules are about, a sentence each."""
    sides: list[tuple[str, _Side | _SavedSide, Iterable[str]]] = [("", ours, dict.fromkeys(v.system for v in verdicts))]
    if theirs is not None:
        others = dict.fromkeys(v.baseline_system for v in verdicts if v.baseline_system is not None)
        sides.append(("the baseline's ", theirs, others))
    sentences = []
    for whose, side, systems in sides:
        for name in systems:
            if failed := side.failed_questions(name):
                of = f"{len(failed):,} of {len(ours.study.evaluation.scores.questions):,} rows"
                sentences.append(f"{whose}{name}: {of} failed, the first of them {failed[0]}.")
    return sentences


def _chosen(verdicts: Sequence[RuleResult], ours: _Side) -> list[str]:
    """Which system was taken where a rule names none and there are several."""
    taken = [v.system for v in verdicts if v.rule.system is None]
    if not taken or ours.system is not None or len(ours.systems) == 1:
        return []
    by = ours.study.choice.best.measure if ours.study.choice is not None else ours.study.main
    return [f"rules that name no system are about {taken[0]}, the best of {len(ours.systems)} by {by}."]


def _fired(study: Study, subjects: set[str]) -> tuple[Note, ...]:
    """The notes of a run. Unequal n counts for what the rules are about and for the measure that chose the system.

    Answers have a different n by measures that not every answer can have, such as NumberSupport of one without numbers.
    """
    from karat.diagnose.guards import equal_n

    evaluation = study.evaluation
    about = {study.main, *subjects}
    compared = equal_n(one for one in evaluation.summaries if one.slice is None and one.measure in about)
    return (*(note for note in evaluation.notes if note.guard != _EQUAL_N), *compared)


def _allowed(fired: Sequence[Note], allow: Sequence[str]) -> list[str]:
    allowed = dict.fromkeys(note.guard for note in fired if note.guard in allow)
    return [f"the guard {name!r} fired and is allowed." for name in allowed]
