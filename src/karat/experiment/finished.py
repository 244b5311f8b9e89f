"""Finished: a run that is done, and means of it that know which questions they are of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.docs import Problem
from karat.core.errors import UsageError
from karat.core.text.words import plural
from karat.experiment.report import ExplainedMean, Report
from karat.experiment.settings import Choices, MatchSettings
from karat.experiment.store import RunFolder, find_run
from karat.report.render import console

if TYPE_CHECKING:
    from karat.core.glance import Table
    from karat.core.run import Run
    from karat.report.document import Document
    from karat.results.gating import Gate
    from karat.results.study import Study


class RunMean(ExplainedMean):
    """The mean of a measure of a run, which shows what it is of."""

    def __repr__(self) -> str:
        return self.described


class FinishedRun(Report):
    """A run that is done: a report on all its systems, its `folder`, and the `study` with the choice and the failures.

    `on_broken` is called with what a gate says that is not passed: the pytest fixture fails the test by it.
    """

    def __init__(
        self, folder: RunFolder, study: Study, runs: Sequence[Run] = (), choices: Choices | None = None
    ) -> None:
        super().__init__(study.evaluation, runs, choices or _choices_of(folder))
        self.folder, self.study = folder, study
        self.on_broken: Callable[[str], None] | None = None
        self.failed_calls = 0  # of a model that made the test set

    @property
    def n_failed(self) -> int:
        """Pairs of system and question of which at least one score failed, and calls that failed before them."""
        return super().n_failed + self.failed_calls

    @property
    def run_id(self) -> str:
        return self.folder.id

    @property
    def place(self) -> list[str]:
        return [f"run: {self.folder.path}"]

    @property
    def unread(self) -> tuple[Problem, ...]:
        """Documents that could not be read, and engines that could not be built."""
        return tuple(Problem(**problem) for problem in self.folder.manifest.get("unread", ()))

    @property
    def best(self) -> str:
        """The only system, or the best by the main measure: what `mean` and `gate` are about where none is named."""
        from karat.experiment.gate import default_system

        return default_system(self.study, self.folder.id)

    def mean(
        self, measure: str, system: str | None = None, *, where: Mapping[str, str] | None = None,
        allow_incomplete: bool = False,
    ) -> RunMean:  # fmt: skip
        """The mean of a measure (or a count, a time, a cost) as a number; `where` gives slices: `{"kind": "factual"}`.

        Rows that failed have no score: a mean without them is refused, unless `allow_incomplete` says to take it.
        """
        slices = ", ".join(f"{_quoted(name)}={_quoted(value)}" for name, value in (where or {}).items())
        rule = measure + (f"[{slices}]" if slices else "")
        verdict = self.judged(f"{rule} >= -1e300", system=system)
        if verdict.n_failed and not allow_incomplete:
            raise UsageError(
                f"{plural(verdict.n_failed, 'score')} of {verdict.system} by {verdict.subject} failed, and a mean is "
                f"of the others alone. See failures(), or write mean({measure!r}, allow_incomplete=True)."
            )
        if verdict.value is None:
            raise UsageError(f"there is no {verdict.subject} of {verdict.system}: {verdict.reason}.")
        return RunMean(verdict.value).of(self, rule, verdict.system)

    def gate(self, *rules: str, **options: Any) -> Gate:
        """Whether the run keeps all rules; without rules, those of karat.yaml. In a test it fails unless it does.

        Options: baseline, system, runs_dir, allow_incomplete, allow.
        """
        from karat.experiment.gate import gate
        from karat.report.build.gate import document
        from karat.report.document import Detail

        outcome = gate(self.folder, rules, **{"runs_dir": self.folder.path.parent, "study": self.study, **options})
        if not outcome.passed and self.on_broken is not None:
            self.on_broken(console.render(document(outcome, broken_only=True), Detail.QUIET))
        return outcome

    def save(self, path: str | os.PathLike[str], *, export: Iterable[str] = (), command: str = "") -> list[Path]:
        """As `karat show RUN -o PATH` does: a file whose ending names the form, .html too, or a folder of them all."""
        from karat.experiment.outputs import write_report

        named = tuple(export)
        return super().save(path, export=named, command=command) if named else write_report(self.study, path)

    def _document(self) -> Document:
        from karat.report.build.study import document

        return document(self.study, str(self.folder.path))

    def _line(self) -> str:
        return f"{self.study._line()}; in {self.folder.path}"

    def _table(self) -> Table:
        return self.study._table()


def study_at_hand(
    run: Report | RunFolder | str | os.PathLike[str], runs_dir: str | os.PathLike[str]
) -> tuple[RunFolder, Study | None]:
    """The folder of a run, and what it found where that is at hand; a report of `karat.score` is in no folder yet."""
    if isinstance(run, FinishedRun) or not isinstance(run, Report):
        return folder_of(run, runs_dir), run.study if isinstance(run, FinishedRun) else None
    return RunFolder(Path(run.study.name), dict(run.study.manifest)), run.study


def folder_of(run: Report | RunFolder | str | os.PathLike[str], runs_dir: str | os.PathLike[str]) -> RunFolder:
    """The folder of a run: LAST, a name, the beginning of its id, its path, or what `karat.run` returned."""
    if isinstance(run, FinishedRun):
        return run.folder
    if isinstance(run, Report):
        raise UsageError("a report of karat.score is in no folder. Give a run: what karat.run returned, or its name.")
    return run if isinstance(run, RunFolder) else find_run(runs_dir, os.fspath(run))


def _choices_of(folder: RunFolder) -> Choices:
    """What the manifest of a run says of how it was scored."""
    spec = folder.manifest.get("spec", {})
    matching = MatchSettings(rel=spec.get("rel") or 1)
    return Choices(dialect=spec.get("dialect") or "karat", matching=matching, bands=bool(spec.get("bands")))


def _quoted(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'
