"""Evaluate: any system as it is, asked every question of a test set and scored. From systems to a Report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from karat.core.errors import NoOverlapError, UsageError
from karat.core.progress import shown_in_notebook
from karat.core.run import Run
from karat.experiment.claims import ClaimsValue
from karat.experiment.models import ChatOptions, ChatValue, ModelSettings, check_needs, close, models_of, spent_notes
from karat.experiment.report import Report
from karat.experiment.settings import Choices, MatchSettings, settings_of, takes_settings, texts_of
from karat.files import as_runs, as_testset, described
from karat.io.frames import is_frame
from karat.results.evaluation import InputInfo
from karat.results.study import Configuration
from karat.systems.defaults import system_for
from karat.systems.index import Index
from karat.systems.index_folder import is_index
from karat.systems.outside import AskedSettings, HttpSettings, ObjectSettings
from karat.systems.settings import DEPTH, LENGTH
from karat.systems.source import ResultsFile, RunRequest, RunSource, SystemRun
from karat.systems.system import System

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.types import TestSet
    from karat.measures.dialects import Missing
    from karat.models import EmbedderSettings

_BODY = {"question": "{question}", "k": "{k}"}


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """How systems are asked: seconds for a question, questions at once, failures after which one is left alone."""

    timeout_seconds: float | None = None  # 60
    jobs: int | None = None  # 4 for a URL, 1 for anything else
    max_failures: int | None = None

    def __post_init__(self) -> None:
        seconds = self.timeout_seconds
        if seconds is not None and (isinstance(seconds, str | bool) or not 0 < seconds < float("inf")):
            raise UsageError(f"timeout_seconds={seconds!r}: it is a number above 0.")
        for name in ("jobs", "max_failures"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise UsageError(f"{name}={value!r}: it is a whole number of 1 or more.")


def system(
    target: Any,
    *,
    hits: Callable[[Any], Any] | None = None,
    answer: Callable[[Any], Any] | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    timeout_seconds: float | None = None,
    jobs: int | None = None,
) -> ObjectSettings:
    """A system for `karat.evaluate`, where its shape alone does not tell how to read it.

    `target` is a function or an object that is asked; `hits` and `answer` are functions of what it returns: the list
    of hits (ids, pairs, dicts, documents), and the text of the answer. `columns` maps names in its hits to karat's
    fields: `{"ref_doc_id": "doc"}`. `jobs` questions are asked at once, in threads; that and `timeout_seconds` are as
    `asking` says unless given.
    """
    AskSettings(timeout_seconds=timeout_seconds, jobs=jobs)  # refuses what cannot be
    for what, read in (("hits", hits), ("answer", answer)):
        if not (read is None or callable(read)):
            raise UsageError(f"{what}= is a function of what the system returns, not {type(read).__name__}.")
    return ObjectSettings(
        target=target, name=name, hits=hits, answer=answer, columns=columns, timeout_seconds=timeout_seconds,
        jobs=jobs or 0,
    )  # fmt: skip


@shown_in_notebook("progress")
@takes_settings(matching=MatchSettings, chat=ChatOptions, asking=AskSettings)
def evaluate(
    testset: Any,
    systems: Any,
    *,
    k: int = 5,
    measures: str | Iterable[str] | None = None,
    by: str | Iterable[str] | None = None,
    dialect: str = "karat",
    matching: str | Mapping[str, Any] | MatchSettings | None = None,
    missing: Missing | None = None,
    index: str | os.PathLike[str] | Index | None = None,
    columns: Mapping[str, str] | None = None,
    repeat: int = 1,
    asking: Mapping[str, Any] | AskSettings | None = None,
    chat: ChatValue = None,
    embedder: str | EmbedderSettings | None = None,
    cross_encoder: str | os.PathLike[str] | None = None,
    claims: ClaimsValue = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Ask systems every question of a test set and score what they return.

    `systems` is one system, or several as `{name: system}`. A system is a function (async too), an object with
    `retrieve`, `invoke`, `query` or `run`, a retriever, runnable, query engine, chat engine, pipeline or module of
    LangChain, LlamaIndex, Haystack or DSPy, a URL, an index of karat's, or results: a path, dict, frame or list of
    records. What each was taken for, and where in its replies ids, pages, scores and answers were read, stands in the
    report; `karat.system` says it where the shape does not tell. A question that fails is a failed row.

    `repeat` asks systems that may vary several times: a question's value is the mean of its repeats, n counts
    questions, and the spread is reported. `asking` holds more of `AskSettings`: `{"timeout_seconds": 20, "jobs": 4}`.
    Everything else is as in `karat.score`.
    """
    from karat.core.language import parse_all
    from karat.experiment.inputs import Resolutions, aligned_runs, mapped, opened_index, refuse_textless, slices_of
    from karat.experiment.pareto import with_fronts
    from karat.experiment.score import evaluation_of

    for name, number in (("k", k), ("repeat", repeat)):
        if type(number) is not int or number < 1:
            raise UsageError(f"{name}={number!r}: it is a whole number of 1 or more.")
    choices = Choices(
        measures=texts_of(measures), k=k, by=texts_of(by), dialect=dialect,
        matching=settings_of(MatchSettings, matching), missing=missing, columns=dict(columns or {}),
    )  # fmt: skip
    settings = ModelSettings.of(chat, embedder=embedder, cross_encoder=cross_encoder, claims=claims)
    options = settings_of(AskSettings, asking)
    step = progress or (lambda sentence: None)
    step("reading the test set")
    questions, testset_info = as_testset(testset, columns=choices.columns)
    named = parse_all(choices.measures, k=k, load_code=True) if choices.measures else ()
    depth = _depth(named, k)
    sources = _named_sources(systems, questions, _Asking(choices.columns, depth, options))
    if any(not isinstance(source, ResultsFile | _GivenRuns) for _, source in sources):
        refuse_textless(questions, testset_info.place)
    _check_sources(sources)
    slices_of(questions, choices.by)
    indexes = [opened_index(index)] if index is not None else []
    indexes += [source.index for _, source in sources if isinstance(source, System) and source.index is not None]
    models = models_of(settings, index=next(iter(indexes), None))
    check_needs(named, models)  # all that can be refused is refused before anybody is asked
    request = RunRequest(
        testset=questions,
        length=depth,
        asked_k=max(depth, LENGTH),  # what a system returns beyond k counts for measures without a cut-off
        pages=choices.matching.pages,
        columns=choices.columns,
        align=lambda runs: (list(runs), []),  # all are aligned together
        rows=_NoMemory(),
        max_failures=options.max_failures,
        progress=lambda what, done, total: step(f"{what}: {done:,} of {total:,}" if total > 1 else what),
    )
    runs: Sequence[Run] = ()
    try:
        # files first, so that one which cannot be read costs no call
        ordered = sorted(sources, key=lambda pair: isinstance(pair[1], AskedSettings))
        read = {name: list(_asked(name, source, request, repeat)) for name, source in ordered}
        systems_asked = [one for name, _ in sources for one in read[name]]
        returned = [one for asked in systems_asked for one in asked.repeats]
        runs, notes = aligned_runs(questions, [one.run for one in returned], dialect)
        _refuse_bare(runs, returned)
        resolutions = Resolutions(questions, indexes, choices)
        infos = [testset_info, *(one.about for one in returned if one.about is not None)]
        evaluation = evaluation_of(
            questions, runs, choices,
            progress=step,
            inputs=mapped(infos, choices.columns),
            notes=[*(note for one in returned for note in one.notes), *notes],
            resolution=[
                resolutions.of(run, index)
                for run, index in zip(runs, (a.index for a in systems_asked for _ in a.repeats), strict=True)
            ],
            models=models,
            settings=settings,
            repeats=[len(asked.repeats) for asked in systems_asked],
        )  # fmt: skip
        evaluation = with_fronts(replace(evaluation, notes=(*evaluation.notes, *spent_notes(models))))
    except NoOverlapError as error:
        error.runs = tuple(runs)
        error.add_note("What the systems returned is in the error's `runs`: karat.score(testset, error.runs) takes it.")
        raise
    finally:
        close(models)
    return Report(evaluation, [run for run in runs if run.name in evaluation.scores.systems], choices)


@dataclass(frozen=True)
class _SystemRuns:
    """What one system returned, once or several times over, and the index that it searched where that is karat's."""

    repeats: Sequence[SystemRun]
    index: Index | None = None


class _NoMemory:
    """No reply is known from before, and none is kept."""

    def known(self, system: str) -> Mapping[str, Mapping[str, Any]]:
        return {}

    def keep(self, system: str, row: Mapping[str, Any]) -> None:
        pass

    def notes(self, system: str) -> Sequence[str]:
        return ()

    def keep_notes(self, system: str, notes: Sequence[str]) -> None:
        pass


@dataclass(frozen=True)
class _GivenRuns:
    """Results that stand in no file: a dict, a frame, records, runs."""

    results: Any

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        name = configuration.name or None
        runs, infos = as_runs(self.results, name, columns=request.columns)
        aligned, notes = request.align(runs)
        for number, run in enumerate(aligned):
            about = infos[number] if number < len(infos) else None
            named = Configuration(run.name, dict(run.settings))
            yield SystemRun(configuration=named, run=run, notes=() if number else notes, about=about)

    def reads(self) -> Iterator[Path]:
        return iter(())


def _asked(name: str, source: RunSource, request: RunRequest, repeat: int) -> Iterator[_SystemRuns]:
    """What a source returns, `repeat` times where it is asked anew each time; results are read once."""
    index = source.index if isinstance(source, System) else None
    if not isinstance(source, AskedSettings):
        for one in source.runs(Configuration(name), request):
            yield _SystemRuns([one if index is None else replace(one, about=_about_index(one.run))], index)
        return
    repeats = []
    for number in range(1, repeat + 1):
        label = name if number == 1 else f"{name} #{number}"
        (one,) = source.runs(Configuration(label), request)
        repeats.append(one if number == 1 else replace(one, about=None))
    yield _SystemRuns(repeats)


def _about_index(run: Run) -> InputInfo:
    return InputInfo(run.name, "karat index", described([run]).removeprefix(f"{run.name}: "))


def _refuse_bare(runs: Sequence[Run], returned: Sequence[SystemRun]) -> None:
    """Refuse a system without answers whose hits are texts, where the gold holds no quotes: nothing can be compared."""
    for run, one in zip(runs, returned, strict=True):
        if one.run.has_only_texts and not run.has_rankings and not run.has_answers:
            raise UsageError(
                f"{run.name}: its hits are texts without ids, and the gold names no quotes to find in them. Say what "
                "they are: karat.system(..., hits=lambda reply: [...]) returns their ids."
            )


def _depth(measures: Sequence[Measure], k: int) -> int:
    """How many hits a system is asked for: k, or what a measure that is named needs beyond it."""
    if any(m.tokens is not None for m in measures):
        return DEPTH
    uncut = any(m.spec.stage == "retrieval" and m.k is None for m in measures)
    return max(k, LENGTH if uncut else 0, *(m.k or 0 for m in measures))


@dataclass(frozen=True)
class _Asking:
    """How sources are made: names in hits that are the user's own, hits that are asked for, and limits."""

    columns: Mapping[str, str]
    k: int
    limits: AskSettings

    def filled(self, source: ObjectSettings) -> ObjectSettings:
        """A source with what it leaves open."""
        return replace(
            source, columns={**self.columns, **(source.columns or {})}, k=self.k,
            timeout_seconds=source.timeout_seconds or self.limits.timeout_seconds,
            jobs=source.jobs or self.limits.jobs or 1,
        )  # fmt: skip


def _named_sources(systems: Any, questions: TestSet, asking: _Asking) -> list[tuple[str, RunSource]]:
    """Every system under its name. A dict by questions of the test set is results, whatever its values look like."""
    if isinstance(systems, Mapping) and set(map(str, systems)).isdisjoint(questions.ids):
        if any(_is_system(value) for value in systems.values()):
            return [(str(name), _source(value, asking)) for name, value in systems.items()]
    elif isinstance(systems, list | tuple) and any(_is_system(value) for value in systems):
        return [(_label(value), _source(value, asking)) for value in systems]
    return [("" if isinstance(systems, Mapping) else _label(systems), _source(systems, asking))]


def _check_sources(sources: Sequence[tuple[str, RunSource]]) -> None:
    """Refuse two systems of one name, and one that cannot be asked."""
    names = [name for name, _ in sources]
    for name, source in sources:
        if name and names.count(name) > 1:
            raise UsageError(f"two systems are called {name!r}. Name them: systems={{name: system, ...}}.")
        if isinstance(source, AskedSettings):
            source.open(name).close()


def _is_system(value: Any) -> bool:
    """Whether a value is a system rather than what a system returned."""
    if isinstance(value, str | os.PathLike):
        return _is_address(value) or os.path.exists(value)
    if isinstance(value, Mapping | list | tuple | set | int | float | None) or is_frame(value):
        return False
    return not hasattr(value, "tolist")  # an array is a list of hits


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))


def _label(value: Any) -> str:
    """What a system is called where nobody names it; nothing for results, which name themselves."""
    if isinstance(value, ObjectSettings):
        return value.label
    if _is_address(value):
        return urlsplit(value).hostname or "http"
    if isinstance(value, str | os.PathLike):
        return Path(value).name.split(".")[0] or str(value)
    if isinstance(value, Index):
        return system_for(value).settings.name
    return ObjectSettings(target=value).label if _is_system(value) and not isinstance(value, Run) else ""


def _source(value: Any, asking: _Asking) -> RunSource:
    """What answers for a system."""
    if isinstance(value, ObjectSettings):
        return asking.filled(value)
    if isinstance(value, System | AskedSettings):
        return value
    if isinstance(value, Index):
        return system_for(value)
    if _is_address(value):
        is_template, limits = "{question}" in value, asking.limits
        return HttpSettings(
            value, method="GET" if is_template else "POST", body=None if is_template else _BODY,
            timeout_seconds=limits.timeout_seconds or HttpSettings.timeout_seconds,
            jobs=limits.jobs or HttpSettings.jobs, columns=asking.columns, k=asking.k,
        )  # fmt: skip
    if isinstance(value, str | os.PathLike):
        return system_for(Index.open(value)) if is_index(value) else ResultsFile(Path(value))
    if not _is_system(value) or isinstance(value, Run):
        return _GivenRuns(value)
    return asking.filled(ObjectSettings(target=value))
