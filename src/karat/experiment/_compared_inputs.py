"""What a comparison is given (runs, result files, score tables), as systems with scores for each question."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.core.language import parse
from karat.core.scores import Status
from karat.core.text.words import plural
from karat.experiment._subjects import check_system
from karat.experiment.report import Report
from karat.experiment.store import RunFolder, find_run
from karat.files import as_score_table, is_score_table
from karat.results.comparison import ComparedMeasure, ScoreTable
from karat.results.decisions import main_measures
from karat.results.evaluation import Evaluation, InputInfo, Matching
from karat.results.study import Study
from karat.stats.arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.core.types import TestSet
    from karat.experiment._costs import Costs
    from karat.experiment.settings import MatchSettings

Repeats = Mapping[int, Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class ScoredSystem:
    """One system: a value and a status for each of its questions and measures."""

    name: str
    questions: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats  # questions x measures
    status: NDArray[np.uint8]
    repeats: Mapping[str, Repeats] = field(default_factory=dict)  # measure -> number of a question -> a judge's replies
    costs: Costs = field(default_factory=dict)  # seconds, tokens, cost_usd -> a value for each question

    def column(self, measure: str) -> Floats:
        """The values by one measure."""
        column: Floats = self.values[:, self.measures.index(measure)]
        return column


def score_arrays(
    systems: Sequence[ScoredSystem], questions: Sequence[str], measures: Sequence[ComparedMeasure]
) -> tuple[Floats, NDArray[np.uint8]]:
    """Values and status, measures x systems x questions; what a system was not asked has no value."""
    values = np.full((len(measures), len(systems), len(questions)), np.nan)
    status = np.full(values.shape, Status.undefined, np.uint8)
    for s, system in enumerate(systems):
        row_of = {question: row for row, question in enumerate(system.questions)}
        here = [q for q, question in enumerate(questions) if question in row_of]
        rows = np.array([row_of[questions[q]] for q in here], np.int64)[:, None]
        columns = [system.measures.index(measure.name) for measure in measures]
        values[:, s, here] = system.values[rows, columns].T
        status[:, s, here] = system.status[rows, columns].T
    return values, status


@dataclass(frozen=True, kw_only=True)
class ComparedInput:
    """One input with its systems; `main` are the measures that matter most, first of all."""

    place: str
    label: str  # put before a system's name where two have the same
    id: str  # the same where labels are no better
    systems: tuple[ScoredSystem, ...]
    measures: Mapping[str, ComparedMeasure]
    main: tuple[str, ...]
    taken: tuple[InputInfo, ...] = ()
    testset: TestSet | None = None
    manifest: Mapping[str, Any] | None = None
    matching: Matching | None = None
    slices: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)  # of a score table
    texts: Mapping[str, str] = field(default_factory=dict)
    conversations: Mapping[str, int] = field(default_factory=dict)  # the number of that of each question


def compared_inputs(
    inputs: Sequence[Any],
    *,
    testset: Any = None,
    measures: Sequence[str] = (),
    runs_dir: str | os.PathLike[str] = "runs",
    lower: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    matching: str | Mapping[str, Any] | MatchSettings | None = None,
) -> list[ComparedInput]:
    """Each input read; result files are scored together against the test set, by these measures or the default ones."""
    from karat.experiment.finished import FinishedRun

    sources: list[ComparedInput] = []
    results: list[Any] = []
    for given in (one.study if isinstance(one, FinishedRun) else one for one in inputs):
        if isinstance(given, Report):
            sources.append(_reported(given, "report", "report", f"report {len(sources) + 1}"))
        elif isinstance(given, Study):
            sources.append(_studied(given, given.name, given.name, f"{given.name} {len(sources) + 1}", given.manifest))
        elif not isinstance(given, str | os.PathLike):
            sources.append(_table(given, lower, columns))
        elif not os.path.isfile(given):
            sources.append(_run(os.fspath(given), runs_dir))
        elif testset is not None:
            results.append(given)
        else:
            sources.append(_file(given, lower, columns))
    if results:
        from karat.experiment.score import score

        report = score(
            testset, results, measures=measures or None, matching=matching, columns=columns,
            progress=lambda step: None,
        )  # fmt: skip
        names = ", ".join(os.fspath(path) for path in results)
        sources.append(_reported(report, names, Path(names).stem, names))
    elif testset is not None:
        raise UsageError(
            "--testset is for files of results, and there is none among what is to be compared. Leave it out."
        )
    _refuse_idle(lower, sources)
    return sources


def _refuse_idle(lower: Sequence[str], sources: Sequence[ComparedInput]) -> None:
    """Refuse a --lower that would do nothing."""
    columns = [one for source in sources if source.testset is None for one in source.measures.values()]
    for name in lower:
        meant = next((one for one in columns if one.name == _measured(name, lower).name), None)
        if meant is None:
            offered = f"There are {', '.join(one.name for one in columns)}." if columns else "There is no score table."
            near = did_you_mean(name, [one.name for one in columns])
            raise UsageError(f"--lower {name}: no score table has such a column.{near} {offered}")
        if meant.direction != "lower":
            raise UsageError(
                f"--lower {name}: karat knows {meant.name}, and of it less is not better. Rename the column if it is "
                "something else."
            )


def _file(given: str | os.PathLike[str], lower: Sequence[str], columns: Mapping[str, str] | None) -> ComparedInput:
    if not is_score_table(given, columns):
        raise UsageError(
            f"{os.fspath(given)} holds no scores. If it holds results, add --testset FILE, and they are scored first; "
            "a score table has columns for the question's id, the system, and each measure."
        )
    return _table(given, lower, columns)


def _table(given: Any, lower: Sequence[str], columns: Mapping[str, str] | None) -> ComparedInput:
    table: ScoreTable = as_score_table(given, columns)
    measures = [_measured(column, lower) for column in table.measures]
    names = tuple(measure.name for measure in measures)
    systems = []
    for number, system in enumerate(table.systems):
        places = np.flatnonzero(table.held[number])
        values = table.values[number, places]
        lost = np.where(table.failed[number, places], Status.failed, Status.undefined)[:, None]
        systems.append(
            ScoredSystem(
                name=system,
                questions=tuple(table.questions[q] for q in places.tolist()),
                measures=names,
                values=values,
                status=np.where(np.isfinite(values), Status.ok, lost).astype(np.uint8),
            )
        )
    named = {measure.name: measure for measure in measures}
    return ComparedInput(
        place=table.place, label=Path(table.place).stem, id=table.place, systems=tuple(systems), measures=named,
        main=_best_known(named), taken=(table.taken,), slices=table.slices, texts=table.texts,
    )  # fmt: skip


def _best_known(names: Collection[str]) -> tuple[str, ...]:
    """Names of measures, the best known first, then what karat does not know."""
    known = []
    for name in names:
        with suppress(UsageError):
            known.append(parse(name))
    return tuple(dict.fromkeys([*(measure.name for measure in main_measures(known)), *names]))


_LESS = ("seconds", "latency", "time", "times", "cost", "costs", "tokens", "error", "errors")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # of time_ms, elapsedTime and latencyMS


def _measured(column: str, lower: Sequence[str]) -> ComparedMeasure:
    """What a column's name says: a measure of karat's by any of its spellings, else one of which more is better."""
    with suppress(UsageError):
        return _of(parse(column))
    less = column in lower or any(word.lower() in _LESS for word in _WORD.findall(column))
    return ComparedMeasure(column, "lower" if less else "higher", None, None)


def _of(measure: Measure) -> ComparedMeasure:
    low, high = (float(end) if np.isfinite(end) else None for end in measure.bounds)
    return ComparedMeasure(measure.name, measure.spec.direction, low, high)


def _run(reference: str, runs_dir: str | os.PathLike[str]) -> ComparedInput:
    """LAST, a name, a prefix or a path; behind a colon one system of it."""
    from karat.results.serial import load_study

    system: str | None = None
    try:
        folder: RunFolder = find_run(runs_dir, reference)
    except UsageError:
        run, colon, system = reference.partition(":")
        if not colon:
            if Path(reference).suffix:
                raise UsageError(
                    f"{reference}: there is no such file, and no run of this name in {runs_dir}."
                ) from None
            raise
        folder = find_run(runs_dir, run)
    name = str(folder.manifest.get("name", folder.id))
    source = _studied(load_study(folder.path), reference, name, folder.id, folder.manifest)
    if system is None:
        return source
    check_system(folder.id, system, [one.name for one in source.systems])
    taken = (InputInfo(reference, "stored run", f"{system} of {folder.id}"),)
    return replace(source, systems=tuple(e for e in source.systems if e.name == system), taken=taken)


def _studied(study: Study, place: str, label: str, id_: str, manifest: Mapping[str, Any]) -> ComparedInput:
    from karat.experiment._costs import study_costs

    source = _evaluated(study.evaluation, place, label, id_, study.main, study_costs(study))
    what = f"{plural(len(source.systems), 'system')} over {len(study.evaluation.testset)} questions"
    return replace(source, manifest=manifest or None, taken=(InputInfo(place, "stored run", f"{id_}: {what}"),))


def _reported(report: Report, place: str, label: str, id_: str) -> ComparedInput:
    from karat.experiment._costs import run_costs

    costs = run_costs(report.runs, report.evaluation.scores.questions)
    return _evaluated(report.evaluation, place, label, id_, costs=costs)


def _evaluated(
    evaluation: Evaluation,
    place: str,
    label: str,
    id_: str,
    main: str | None = None,
    costs: Mapping[str, Costs] | None = None,
) -> ComparedInput:
    scores = evaluation.scores
    ordered = [measure.name for measure in main_measures(scores.measures, evaluation.dialect)]
    measures = {measure.name: _of(measure) for measure in scores.measures if measure.is_mean}
    repeats: dict[tuple[int, int], dict[int, Sequence[float | None]]] = {}
    for (s, q, m), detail in scores.details.items():
        if detail.get("repeats"):
            repeats.setdefault((s, m), {})[q] = detail["repeats"]
    names = tuple(measure.name for measure in scores.measures)
    broken = (scores.status == Status.ok) & ~np.isfinite(scores.values)
    status = np.where(broken, np.uint8(Status.failed), scores.status)
    values = np.where(status == Status.ok, scores.values, np.nan)
    systems = tuple(
        ScoredSystem(
            name=system, questions=scores.questions, measures=names, values=values[s], status=status[s],
            repeats={name: repeats[s, m] for m, name in enumerate(names) if (s, m) in repeats},
            costs=(costs or {}).get(system, {}),
        )
        for s, system in enumerate(scores.systems)
    )  # fmt: skip
    first = [main] if main in measures else []
    order = tuple(dict.fromkeys([*first, *ordered, *measures]))
    texts = {question.id: question.text for question in evaluation.testset if question.text}
    return ComparedInput(
        place=place, label=label, id=id_, systems=systems, measures=measures, main=order, taken=evaluation.taken,
        testset=evaluation.testset, matching=evaluation.matching, texts=texts,
        conversations=dict(zip(scores.questions, scores.conversations or (), strict=False)),
    )  # fmt: skip


def named(sources: Sequence[ComparedInput]) -> list[ScoredSystem]:
    """All systems in order, each under a name of its own: where two share one, their run or file goes before it."""
    every = [(source, system) for source in sources for system in source.systems]
    names = [system.name for _, system in every]
    often, labels = Counter(names), Counter(f"{source.label}:{system.name}" for source, system in every)
    renamed = []
    for source, system in every:
        longer = f"{source.label}:{system.name}"
        longer = longer if labels[longer] == 1 else f"{source.id}:{system.name}"
        renamed.append(replace(system, name=system.name if often[system.name] == 1 else longer))
    doubled = next((name for name, many in Counter(system.name for system in renamed).items() if many > 1), None)
    if doubled is not None:
        raise UsageError(f"{doubled} is named twice. A system cannot be compared with itself: name another.")
    return renamed


def conversations_of(sources: Sequence[ComparedInput], questions: Sequence[str]) -> tuple[int, ...] | None:
    """The number of each question's conversation, by the first input that knows any; None where none does."""
    known = next((source.conversations for source in sources if source.conversations), None)
    return tuple(known.get(question, -1 - place) for place, question in enumerate(questions)) if known else None


def slice_values(sources: Sequence[ComparedInput], name: str) -> dict[str, str | None]:
    """The value of a slice for each question, by the test set or a column of a table."""
    known: dict[str, None] = {}
    for source in sources:
        if source.testset is not None:
            known.update(dict.fromkeys(source.testset.slices))
            if name in source.testset.slices:
                return {question.id: question.slice_value(name) for question in source.testset}
        known.update(dict.fromkeys(source.slices))
        if name in source.slices:
            return dict(source.slices[name])
    offered = f"There are {', '.join(known)}." if known else "The questions have no kind and no tags."
    raise UsageError(f"there is no slice {name!r}.{did_you_mean(name, known)} {offered}")


def lacking(sources: Sequence[ComparedInput], measure: str) -> Iterator[str]:
    """Inputs that were not scored by a measure."""
    return (source.place for source in sources if measure not in source.measures)
