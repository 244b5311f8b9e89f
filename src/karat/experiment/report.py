"""Report: what a scoring returns, with every figure within reach."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Self

from karat.core.errors import UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.measures.dialects import dialect_named
from karat.report.render import console
from karat.results.study import Configuration, Study

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from karat.core.run import Run
    from karat.experiment.settings import Choices
    from karat.report.document import Document
    from karat.results.evaluation import Evaluation
    from karat.results.gating import RuleResult
    from karat.results.pareto import ParetoFront


class ExplainedMean(float):
    """The mean of a measure: a number that can say which questions are against an assertion about it."""

    report: Report
    rule: str
    system: str

    def of(self, report: Report, rule: str, system: str) -> Self:
        """The same, knowing what it is of."""
        self.report, self.rule, self.system = report, rule, system
        return self

    @property
    def described(self) -> str:
        """The figure with its measure, system, interval and number of questions."""
        from karat.report.build.gate import interval

        verdict = self.report.judged(f"{self.rule} >= -1e300", system=self.system)
        ends = interval(verdict)
        failed = f", {verdict.n_failed:,} failed" if verdict.n_failed else ""
        shown = f"{verdict.subject} of {verdict.system} {float(self):.4f}{' ' + ends if ends else ''}"
        return f"<{shown}, n {verdict.n:,}{failed}>"

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)

    def __karat_explain__(self, sign: str, other: object) -> list[str]:
        """What pytest prints where `mean sign other` does not hold: the worst questions first."""
        from karat.report.build.gate import broken_line, more_broken

        head = f"{self.described} {sign} {other!r}"
        if sign not in (">=", "<=", "==", "!=", ">", "<") or not isinstance(other, int | float) or not isfinite(other):
            return [head]
        verdict = self.report.judged(f"{self.rule} {sign} {float(other)!r}", system=self.system)
        lines = [head, verdict.reason]
        if verdict.broken:
            lines.append(f"{plural(verdict.n_broken, 'question')} against it, the worst first:")
            lines += [f"  {broken_line(one)}" for one in verdict.broken]
        if more := more_broken(verdict):
            lines.append(f"  {more}")
        return [*filter(None, lines), *self.report.place]


class Report(NotebookView):
    """Scores of one or more systems over a test set.

    `summary` and `per_query` are polars frames: one row per system x measure, and one per system x question.
    """

    def __init__(self, evaluation: Evaluation, runs: Sequence[Run], choices: Choices) -> None:
        self.evaluation, self.runs, self.choices = evaluation, tuple(runs), choices

    @property
    def systems(self) -> tuple[str, ...]:
        return self.evaluation.scores.systems

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(m.name for m in self.evaluation.scores.measures)

    @property
    def n_failed(self) -> int:
        """Pairs of system and question of which at least one score failed."""
        from karat.core.scores import Status

        return int((self.evaluation.scores.status == Status.failed).any(axis=2).sum())

    @property
    def notes(self) -> list[str]:
        """What the reader of the numbers must know, guards that fired included."""
        return [note.text for note in self.evaluation.notes]

    @cached_property
    def summary(self) -> pl.DataFrame:
        """n, mean, interval, spread and quartiles per system and measure, over all questions."""
        from karat.report.frame import summary

        return summary(self.evaluation).filter(_column("slice").is_null()).drop("slice", "value")

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """Every score of every question, with status and reason."""
        from karat.report.frame import rows

        return rows(self.evaluation)

    @property
    def place(self) -> list[str]:
        """Where more is known of it, in a line."""
        return []

    def judged(self, rule: str, *, system: str | None = None) -> RuleResult:
        """The verdict on one rule, by the rows there are."""
        from karat.experiment.gate import gate

        (verdict,) = gate(self, [rule], system=system, allow_incomplete=True).verdicts
        return verdict

    def mean(self, measure: str, system: str | None = None) -> float | None:
        """The mean of a measure; None where no question has a value. `system` may be left out when there is one."""
        name = self._computed(measure)
        if system is None:
            if len(self.systems) > 1:
                raise UsageError(f"which system? There are {', '.join(self.systems)}.")
            (system,) = self.systems
        if system not in self.systems:
            offered = f"There are {', '.join(self.systems)}."
            raise UsageError(f"there is no system {system!r}.{did_you_mean(system, self.systems)} {offered}")
        means = (s.mean for s in self.evaluation.summaries if (s.system, s.measure, s.slice) == (system, name, None))
        mean = next(means)
        return None if mean is None else ExplainedMean(mean).of(self, name, system)

    def _computed(self, measure: str) -> str:
        """The name of a measure that was computed, by any of its spellings."""
        from karat.core.language import parse

        name = measure
        if name not in self.measures:
            dialect, norm = dialect_named(self.choices.dialect), self.evaluation.testset.norm
            asked = parse(measure, k=self.choices.k, names=dialect.names, load_code=True)
            name = dialect.meant(asked, norm, self.choices.matching.rel).name
        if name not in self.measures:
            offered = f"Computed were {', '.join(self.measures)}."
            raise UsageError(f"{name} was not computed.{did_you_mean(name, self.measures)} {offered}")
        return name

    def pareto(self, measure: str | None = None, cost: str = "seconds") -> ParetoFront:
        """Which systems no other beats in a measure and in cost: seconds, tokens or cost_usd of a question.

        Without a `measure` it is the main one. `to_polars()` of what is returned has a row a system.
        """
        from karat.experiment.pareto import front_of_study

        return front_of_study(self.study, None if measure is None else self._computed(measure), cost)

    def by(self, slice: str) -> pl.DataFrame:
        """The summary for each value of a slice ("kind", or any tag of the questions)."""
        from karat.experiment.inputs import slices_of
        from karat.report.frame import summary
        from karat.stats.summary import summarise

        evaluation = self.evaluation
        if not any(s.slice == slice for s in evaluation.summaries):
            slices = slices_of(evaluation.testset, [slice], evaluation.steps)
            bands = dialect_named(self.choices.dialect, bands=self.choices.bands).bands
            sliced = summarise(evaluation.scores, slices=slices, bands=bands)
            evaluation = replace(evaluation, summaries=sliced)
        return summary(evaluation).filter(_column("slice") == slice).drop("slice").rename({"value": slice})

    def failures(self) -> pl.DataFrame:
        """Rows that failed, with the reason."""
        from karat.report.frame import rows

        frame = rows(self.evaluation, flat=True)
        return frame.filter(_column("status") == "failed").select("system", "question_id", "reason")

    def to_polars(self) -> pl.DataFrame:
        """The summary over all questions and every slice."""
        from karat.report.frame import summary

        return summary(self.evaluation)

    def to_pandas(self) -> pd.DataFrame:
        """The summary over all questions and every slice, as a pandas frame."""
        frame = self.to_polars()
        try:
            import pandas as pd
        except ImportError:
            raise UsageError("to_pandas() needs pandas: pip install 'karat[pandas]'.") from None
        return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})

    def to_markdown(self) -> str:
        """The whole report in Markdown."""
        from karat.report.outputs.markdown import render

        return render(self.evaluation)

    def to_latex(self) -> str:
        """The table of means for a paper."""
        from karat.report.outputs.latex import render

        return render(self.evaluation)

    def to_json(self, *, rows: bool = False) -> str:
        """Everything the console says, as one JSON object; `rows` adds every question."""
        from karat.report.outputs.json import render

        return render(self.evaluation, rows=rows).rstrip("\n")

    def print(self, *, quiet: bool = False, verbose: bool = False) -> None:
        """Show the report on standard output."""
        console.show(self._document(), sys.stdout, quiet=quiet, verbose=verbose)

    def __str__(self) -> str:
        return console.render(self._document())

    def _document(self) -> Document:
        from karat.report.build.evaluation import document

        return document(self.evaluation)

    def _line(self) -> str:
        return self.evaluation._line()

    def _table(self) -> Table:
        return self.evaluation._table()

    def save(self, path: str | os.PathLike[str], *, export: Iterable[str] = (), command: str = "") -> list[Path]:
        """Write row and summary files into a folder, or one file whose extension names the format.

        `export` adds, in a folder, the tables of LiveRAG ("liverag"), which hold `command`, or TREC runs ("trec").
        Results that name alpha or k get charts too.
        """
        from karat.experiment.rendering import EXPORTS, export_to, render_as, renderings
        from karat.io.writing import write_whole

        target = Path(path)
        for name in export:
            if name not in EXPORTS:
                raise UsageError(
                    f"unknown export {name!r}.{did_you_mean(name, EXPORTS)} There are {', '.join(EXPORTS)}."
                )
        if target.suffix and not target.is_dir():
            content = render_as(target, self.evaluation)
            if tuple(export):
                raise UsageError(f"--export writes into a folder, and {path} is a file. Give -o a folder.")
            write_whole(target, content)
            return [target]
        files = {name: render() for name, render in renderings(self._with_settings()).items()}
        for name, content in files.items():
            write_whole(target / name, content)
        written = [target / name for name in files]
        for name in export:
            written += export_to(name, self.evaluation, self.runs, target, command)
        return written + (self._charts(target) if any(run.settings for run in self.runs) else [])

    def to_mlflow(self, tracking_uri: str | None = None, *, with_texts: bool = False) -> str:
        """Send it to an MLflow tracking server, as `karat show RUN --to mlflow` does; what was done, in a sentence.

        The server is that of MLFLOW_TRACKING_URI unless given. `with_texts` sends questions, answers and rows too.
        """
        from karat.experiment.tracked import send

        return send(self.study, "mlflow", run=self.run_id, place=tracking_uri, with_texts=with_texts)

    @property
    def run_id(self) -> str:
        """The id of the run it is of; nothing for what is in no folder."""
        return ""

    @cached_property
    def study(self) -> Study:
        """The evaluation as the study of a run that retrieved nothing itself."""
        from karat.experiment.store import DONE
        from karat.results.decisions import headlines

        evaluation = self._with_settings()
        main = next(iter(headlines(evaluation.scores.measures, evaluation.dialect)))
        matching = self.choices.matching
        scored = {name: getattr(matching, name) for name in ("match", "repeats", "rel", "pages", "page_offset")}
        scored["dialect"] = self.choices.dialect
        return Study(
            evaluation.testset.name,
            evaluation=evaluation,
            configurations=tuple(Configuration(run.name, run.settings) for run in self.runs),
            main=main.name,
            k=main.k or 5,
            seconds=evaluation.seconds,
            manifest={"status": DONE, "spec": scored},
        )

    def _with_settings(self) -> Evaluation:
        """The evaluation with what the results say of settings and times."""
        from karat.systems.source import seconds_before_answering

        questions = self.evaluation.scores.questions
        seconds = {run.name: seconds_before_answering(run, questions) for run in self.runs}
        return replace(self.evaluation, settings={run.name: run.settings for run in self.runs}, seconds=seconds)

    def _charts(self, folder: Path) -> list[Path]:
        """The charts of results that name alpha or k, as a run draws them."""
        from karat.experiment.outputs import CHARTS
        from karat.report.charts import write_charts

        return write_charts(self.study, folder / CHARTS)


def _column(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name)
