"""Checkup: what the doctor found about a test set and an index, as the reports show it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.results.serial import plain

if TYPE_CHECKING:
    from karat.results.audit import Audit

Severity = Literal["broken", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("broken", "warning", "info")
FORMAT = 1


@dataclass(frozen=True)
class Finding:
    """One thing that was found: how grave it is, in figures, with examples, and what to do about it."""

    check: str
    severity: Severity
    title: str
    _: KW_ONLY
    text: str = ""
    numbers: Mapping[str, int | float | str | None] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    """Ids of all questions it concerns."""
    examples: tuple[str, ...] = ()
    remedy: str = ""


class TestSetFindings(NotebookView):
    """What a checkup and an audit have in common: findings about the questions of a test set."""

    testset: str
    questions: int
    findings: tuple[Finding, ...]

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def broken(self) -> bool:
        """Whether anything found is broken."""
        return bool(self.of("broken"))

    def plain(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts and numbers, under keys that stay."""
        return {"format": FORMAT, "broken": self.broken, **plain(self)}

    def _line(self) -> str:
        counts = ", ".join(f"{len(self.of(severity)):,} {severity}" for severity in SEVERITIES)
        return f"{self.testset!r}, {plural(self.questions, 'question')}; findings: {counts}"

    def _table(self) -> Table:
        rows = ((f.severity, f.check, f.title, len(f.questions)) for f in self.findings)
        return ("severity", "check", "finding", "questions"), rows


@dataclass(frozen=True, kw_only=True)
class GoldCoverage:
    """How much of the relevant gold some chunk holds."""

    units: int
    reached: int
    questions: int  # with relevant gold
    whole: int  # all of whose relevant gold is held
    without: int  # none of whose relevant gold is held

    @property
    def share(self) -> float | None:
        """Share of the relevant units that can be found; None where there are none."""
        return self.reached / self.units if self.units else None


@dataclass(frozen=True)
class Ceiling:
    """The highest mean that any ranking of the chunks could reach over the questions with relevant gold.

    `exact`: a ranking reaches it. Otherwise none passes it, and whether one reaches it was too much to work out.
    """

    measure: str  # "Recall"
    k: int
    value: float
    exact: bool = True


@dataclass(frozen=True, repr=False, kw_only=True)
class Checkup(TestSetFindings):
    """All that the doctor found, gravest first. `broken`: scores over this index would measure mistakes.

    `audit` is how good the questions themselves are, where that was looked at.
    """

    testset: str
    questions: int
    chunks: int
    docs: int
    reach: GoldCoverage
    kinds: Mapping[str, int] = field(default_factory=dict)  # matcher -> relevant units looked for by it
    findings: tuple[Finding, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    notes: tuple[str, ...] = ()
    audit: Audit | None = None

    @property
    def broken(self) -> bool:
        """Whether anything found is broken."""
        return super().broken or (self.audit is not None and self.audit.broken)

    @property
    def reachable(self) -> float | None:
        """Share of the relevant gold that some chunk holds."""
        return self.reach.share

    def plain(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts and numbers, under keys that stay."""
        document = super().plain()
        document["reach"]["share"] = self.reach.share
        if self.audit is not None:
            return {**document, "audit": self.audit.brief()}
        del document["audit"]
        return document
