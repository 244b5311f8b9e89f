"""Gating: rules that a run must keep, and the verdict on each. Plain data, no logic but what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, get_args

from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.results.evaluation import Note

Sign = Literal[">=", "<=", "==", "!=", ">", "<"]
SIGNS: tuple[Sign, ...] = get_args(Sign)
GateOutcome = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a run must keep: a subject, of one slice and one system perhaps, beside a bound.

    The bound is `number`, or `factor` times the baseline's value plus `number`. `confidence` asks that every value of
    the interval at this level keeps the rule, not the mean alone.
    """

    text: str  # as it was written
    subject: str
    sign: Sign
    number: float
    system: str | None = None
    where: tuple[tuple[str, str], ...] = ()  # slices, all of which a question must be in
    factor: float | None = None  # None: no baseline
    confidence: float | None = None

    @property
    def needs_baseline(self) -> bool:
        return self.factor is not None

    @property
    def bound(self) -> str:
        """The right side in words: "baseline - 0.02"."""
        if self.factor is None:
            return f"{self.number:g}"
        times = "" if self.factor == 1 else f" * {self.factor:g}"
        more = "" if self.number == 0 else f" {'-' if self.number < 0 else '+'} {abs(self.number):g}"
        return f"baseline{times}{more}"

    @property
    def is_kept_by_more(self) -> bool | None:
        """Whether a higher value keeps the rule sooner; None where it is about one exact value."""
        return {">": True, "<": False}.get(self.sign[0])


@dataclass(frozen=True)
class RuleCounterexample:
    """A question that speaks against a rule: its value, that of the baseline before, and why where that is known."""

    question: str
    _: KW_ONLY
    value: float | None
    before: float | None = None
    text: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """Whether a rule is kept. None: there is no such number.

    `low` and `high` are the interval of the value or, beside a baseline, of the value less `factor` times its value.
    """

    rule: Rule
    outcome: GateOutcome
    system: str
    subject: str  # by its full name
    value: float | None
    bound: float | None
    n: int  # questions that the value is of
    low: float | None = None
    high: float | None = None
    level: float | None = None  # of the interval
    baseline: float | None = None
    baseline_system: str | None = None
    reason: str = ""  # why it is not kept, or cannot be told
    broken: tuple[RuleCounterexample, ...] = ()
    n_broken: int = 0  # of all, where `broken` holds the first
    n_failed: int = 0  # rows of the subject that failed, the baseline's too


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A run that later ones are held against, by a name; `system` where one of several is meant.

    `scores` are the values of each measure and count of one system, in the order of `questions`: with them a baseline
    stands by itself, where the folder of its run is gone. What failed is None in them.
    """

    name: str
    run: str
    testset: str  # digest
    system: str | None = None
    set_at: str = ""
    scored_by: Mapping[str, Any] = field(default_factory=dict)
    scores_of: str | None = None
    questions: tuple[str, ...] = ()
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by measure and question, why


@dataclass(frozen=True, repr=False, kw_only=True)
class Gate(NotebookView):
    """What became of all rules, of what is missing from the run, and of the guards that fired on it."""

    run: str
    verdicts: tuple[RuleResult, ...]
    baseline: str | None = None  # its name
    baseline_run: str | None = None
    incomplete: tuple[str, ...] = ()  # what is missing, a sentence each
    allows_incomplete: bool = False
    guards: tuple[Note, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> GateOutcome:
        """fail: a rule is broken or a guard fired; unknown: what is missing could change it; pass: neither."""
        if self.guards or any(verdict.outcome == "fail" for verdict in self.verdicts):
            return "fail"
        missing = bool(self.incomplete) and not self.allows_incomplete
        if missing or not self.verdicts or any(verdict.outcome == "unknown" for verdict in self.verdicts):
            return "unknown"
        return "pass"

    @property
    def passed(self) -> bool:
        return self.outcome == "pass"

    def __bool__(self) -> bool:
        return self.passed

    def of(self, outcome: GateOutcome) -> tuple[RuleResult, ...]:
        """The verdicts of one outcome."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == outcome)

    def _line(self) -> str:
        rules = plural(len(self.verdicts), "rule")
        return f"{self.outcome}: {len(self.of('fail')):,} of {rules} broken; run {self.run}"

    def _table(self) -> Table:
        rows = ((v.rule.text, v.outcome, v.system, v.value, v.bound, v.reason) for v in self.verdicts)
        return ("rule", "outcome", "system", "value", "bound", "reason"), rows
