"""Source: what answers questions, behind one protocol: an index, a store, a function, an endpoint, a results file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from karat.core.progress import Progress
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.match import Pages
    from karat.results.evaluation import InputInfo, Note
    from karat.results.study import Configuration
    from karat.systems.retrieval import Retrieval
    from karat.systems.retrieved import Retrieved

Align = Callable[[Sequence["Run"]], tuple[list["Run"], list["Note"]]]


class RowMemory(Protocol):
    """Rows of results by system and question: a journal keeps them, so that no question is asked twice.

    With what should be known of a system, which is not asked again for rows that are there.
    """

    def known(self, system: str) -> Mapping[str, Mapping[str, Any]]: ...

    def keep(self, system: str, row: Mapping[str, Any]) -> None: ...

    def notes(self, system: str) -> Sequence[str]: ...

    def keep_notes(self, system: str, notes: Sequence[str]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What is asked of every source: the questions, how many hits, and how far what it returns must be brought.

    `length` hits are kept of lists of karat's own; a system that is not karat's is asked for `asked_k`, and no more
    once `max_failures` questions failed. `align` brings results of a file to the ids of the test set.
    """

    testset: TestSet
    length: int
    asked_k: int
    pages: Pages
    columns: Mapping[str, str] | None
    align: Align
    rows: RowMemory
    max_failures: int | None
    progress: Progress


@dataclass(frozen=True, kw_only=True)
class SystemRun:
    """What one system returned for all questions; `retrieved` by `retrieval` where karat searched itself.

    `about` says what a system that is not karat's was recognised as, and where in its replies things were read.
    """

    configuration: Configuration
    run: Run
    seconds: Sequence[float | None] = ()
    notes: Sequence[Note] = ()
    retrieved: Retrieved | None = None
    retrieval: Retrieval | None = None
    about: InputInfo | None = None


class RunSource(Protocol):
    """One system, or the several of a results file."""

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        """What is returned, under the name of the configuration."""
        ...

    def reads(self) -> Iterator[Path]:
        """The files and folders that what it returns depends on."""
        ...


@dataclass(frozen=True)
class ResultsFile:
    """Results that stand in a file; it may hold several systems."""

    path: Path

    def read(
        self, configuration: Configuration, columns: Mapping[str, str] | None
    ) -> tuple[list[tuple[Configuration, Run]], InputInfo]:
        """The systems of the file, each under a name of its own, and what the file was read as."""
        from karat.files import read_results

        runs, info = read_results(self.path, columns=columns)
        named = []
        for run in runs:
            name = configuration.name if len(runs) == 1 else f"{configuration.name} {run.name}"
            settings = {**configuration.settings, **run.settings}
            named.append((replace(configuration, name=name, settings=settings), replace(run, name=name)))
        return named, info

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        named, info = self.read(configuration, request.columns)
        aligned, notes = request.align([run for _, run in named])
        for number, ((shown, _), run) in enumerate(zip(named, aligned, strict=True)):
            seconds = seconds_before_answering(run, request.testset.ids)
            yield SystemRun(
                configuration=shown,
                run=run,
                seconds=seconds,
                notes=() if number else notes,
                about=None if number else info,
            )

    def reads(self) -> Iterator[Path]:
        yield self.path


def seconds_before_answering(run: Run, questions: Sequence[str]) -> list[float | None]:
    """Seconds of retrieval that results give for each question; empty where they give none."""
    parts = [run.answers[qid].seconds if qid in run.answers else {} for qid in questions]
    return known_seconds(retrieval_seconds(one, run.has_answers) for one in parts)


def known_seconds(seconds: Iterable[float | None]) -> list[float | None]:
    """The seconds, or an empty list where none is known."""
    listed = list(seconds)
    return listed if any(one is not None for one in listed) else []


def whole_seconds(run: Run, questions: Sequence[str], retrieval: Sequence[float | None] = ()) -> list[float | None]:
    """Seconds of each question from first to last; None where a step that the system takes has none.

    `retrieval` are seconds of retrieval that the results do not hold.
    """
    steps = {step for step, is_taken in (("retrieve", run.has_rankings), ("answer", run.has_answers)) if is_taken}
    searched = dict(zip(questions, retrieval, strict=True)) if len(retrieval) else {}

    def whole(question: str) -> float | None:
        answer, spent = run.answers.get(question), searched.get(question)
        parts = ({"retrieve": spent} if spent is not None else {}) | dict(answer.seconds if answer else {})
        if "total" in parts:
            return parts["total"]
        return sum(parts.values()) if parts and steps <= parts.keys() else None

    return [whole(question) for question in questions]


def retrieval_seconds(parts: Mapping[str, float], answers: bool) -> float | None:
    """Seconds of retrieval: as such, or in all less those of answering; of a system that `answers` these must be known.

    >>> retrieval_seconds({"total": 3.0}, answers=False), retrieval_seconds({"total": 3.0}, answers=True)
    (3.0, None)
    """
    if "retrieve" in parts or "total" not in parts:
        return parts.get("retrieve")
    if answers and "answer" not in parts:
        return None
    return max(parts["total"] - parts.get("answer", 0.0), 0.0)
