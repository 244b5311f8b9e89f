"""Ran: a run under test, and means of it that say which questions broke when an assertion about them fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.experiment.gate import best_system, gate
from karat.report import gated

if TYPE_CHECKING:
    import polars as pl

    from karat.core.gating import Gate, Verdict
    from karat.core.study import Study
    from karat.experiment.store import RunFolder

_RUN = ("fresh", "retry_errors", "changed_testset")  # options of a run that are no keys of its karat.yaml


class Mean(float):
    """The mean of a measure: a number that knows what it is of."""

    verdict: Verdict
    explained: Mapping[str, Any]

    def __repr__(self) -> str:
        shown = f"{self.verdict.subject} of {self.verdict.system} {float(self):.4f}"
        ends = gated.interval(self.verdict)
        return f"<{shown}{' ' + ends if ends else ''}, n {self.verdict.n:,}>"

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)

    def __karat_explain__(self, sign: str, other: object) -> list[str]:
        """What pytest prints where `mean sign other` does not hold: the worst questions first."""
        head = f"{self!r} {sign} {other!r}"
        if sign not in (">=", "<=", "==", "!=", ">", "<") or not isinstance(other, int | float) or not isfinite(other):
            return [head]
        run: Ran = self.explained["run"]
        rule = f"{self.explained['rule']} {sign} {float(other)!r}"
        verdict = run.judged(rule, system=self.verdict.system)
        lines = [head, verdict.reason]
        if verdict.broken:
            many = verdict.n_broken
            lines.append(f"{many:,} {'question' if many == 1 else 'questions'} against it, the worst first:")
            lines += [f"  {gated.broken_line(one)}" for one in verdict.broken]
        if more := gated.more_broken(verdict):
            lines.append(f"  {more}")
        return [*filter(None, lines), f"run: {run.folder.path}"]


@dataclass(frozen=True)
class Ran:
    """A finished run: its folder and all it found."""

    folder: RunFolder
    study: Study

    @property
    def systems(self) -> tuple[str, ...]:
        return self.study.evaluation.scores.systems

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.study.evaluation.scores.measures)

    @property
    def best(self) -> str:
        """The only system, or the best by the main measure: what `mean` and `gate` are about where none is named."""
        return best_system(self.study, self.folder.id)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """Every score of every question and system, with status and reason."""
        from karat.report.frame import rows

        return rows(self.study.evaluation)

    def failures(self) -> pl.DataFrame:
        """Rows that failed, with the reason."""
        import polars as pl

        from karat.report.frame import rows

        frame = rows(self.study.evaluation, flat=True)
        return frame.filter(pl.col("status") == "failed").select("system", "question_id", "reason")

    def mean(
        self, measure: str, system: str | None = None, *, where: Mapping[str, str] | None = None,
        allow_incomplete: bool = False,
    ) -> Mean:  # fmt: skip
        """The mean of a measure (or a count, a time, a cost) as a number; `where` gives slices: `{"kind": "factual"}`.

        Rows that failed have no score: a mean without them is refused, unless `allow_incomplete` says to take it.
        """
        slices = ", ".join(f"{_quoted(name)}={_quoted(value)}" for name, value in (where or {}).items())
        rule = measure + (f"[{slices}]" if slices else "")
        verdict = self.judged(f"{rule} >= -1e300", system=system)
        if verdict.n_failed and not allow_incomplete:
            raise UsageError(
                f"{verdict.n_failed:,} scores of {verdict.system} by {verdict.subject} failed, and a mean is of the "
                f"others alone. See failures(), or write mean({measure!r}, allow_incomplete=True)."
            )
        if verdict.value is None:
            raise UsageError(f"there is no {verdict.subject} of {verdict.system}: {verdict.reason}.")
        made = Mean(verdict.value)
        made.verdict, made.explained = verdict, {"run": self, "rule": rule}
        return made

    def judged(self, rule: str, *, system: str | None = None) -> Verdict:
        """The verdict on one rule, by the rows there are."""
        (verdict,) = gate(self.folder, [rule], system=system, allow_incomplete=True, study=self.study).verdicts
        return verdict

    def gate(self, *rules: str, **options: Any) -> Gate:
        """Fail the test unless all rules are kept; without rules, those of karat.yaml.

        Options: baseline, system, runs_dir, allow_incomplete, allow.
        """
        import pytest

        found = gate(self.folder, rules, **{"runs_dir": self.folder.path.parent, "study": self.study, **options})
        if not found.passed:
            pytest.fail(gated.render(found, quiet=True), pytrace=False)
        return found


def ran(spec: Path, runs_dir: str | os.PathLike[str], **options: Any) -> Ran:
    """Do what a karat.yaml says; of its outputs only the rows are written, unless `outputs` asks for more."""
    from karat.experiment.run import run
    from karat.experiment.spec import load_spec

    chosen = load_spec(spec).changed({"outputs": list(options.pop("outputs", ()))})
    doing = {name: options.pop(name) for name in _RUN if name in options}
    done = run(chosen.with_options(**options), runs_dir=runs_dir, command=["pytest"], **doing)
    return Ran(done.folder, done.study)


def sweep_out(runs_dir: Path) -> None:
    """Remove the finished runs of a folder: those of earlier sessions. Indexes stay, and what can be resumed."""
    from karat.experiment.store import runs_in

    for old in runs_in(runs_dir):
        if old.is_done:
            shutil.rmtree(old.path, ignore_errors=True)


def _quoted(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'
