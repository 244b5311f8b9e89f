"""TestSetCheck: what is wrong with a test set, what it covers and what it can show, as reports write it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.results.serial import plain

Severity = Literal["broken", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("broken", "warning", "info")
FORMAT = 2
ALL = "all"
"""Stands for all kinds together."""


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


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """How some numbers lie: how many there are, the least, the quarters and the most."""

    n: int
    least: float
    low: float
    median: float
    high: float
    most: float


@dataclass(frozen=True, kw_only=True)
class KindRow:
    """The questions of one kind. Words are counted by white space.

    `overlap` is the share of a question's content words, by their stems, that stand in its gold; `run` the longest
    run of words that both have. `literal` counts the questions of a semantic kind that are in fact literal; None
    where the kind may be literal, or where nothing is known of the gold.
    """

    kind: str
    questions: int
    unanswerable: int
    without_answer: int  # answerable, and no reference answer
    question_words: Quartiles | None = None
    answer_words: Quartiles | None = None
    overlap: Quartiles | None = None
    run: Quartiles | None = None
    literal: int | None = None


@dataclass(frozen=True, kw_only=True)
class EngineRecall:
    """Recall@k over the questions of a kind with relevant gold: by each engine alone, and at most.

    `better` takes the better engine for each question; `ceiling` is what any ranking could reach (`exact`: one does).
    None where there is no such engine.
    """

    kind: str
    questions: int
    k: int
    bm25: float | None
    dense: float | None
    better: float | None
    ceiling: float
    exact: bool = True


@dataclass(frozen=True)
class LanguageRow:
    """Questions asked in a language, and those of them whose gold is in another."""

    language: str
    questions: int
    elsewhere: int = 0


@dataclass(frozen=True)
class DocRow:
    """A document: its chunks, and the questions that have gold in it."""

    doc: str
    chunks: int
    questions: int


@dataclass(frozen=True, kw_only=True)
class TopicRow:
    """Chunks that are about the same, by the words that set them apart, and the questions that have gold in them."""

    words: tuple[str, ...]
    chunks: int
    docs: int
    questions: int
    expected: float  # questions, if they were spread over the chunks evenly
    thin: bool = False


@dataclass(frozen=True, kw_only=True)
class TopicCoverage:
    """How the questions lie over the corpus. `gini`: 0 if documents are asked about by their size, 1 if one has all."""

    questions: int  # with gold that some chunk holds
    docs: int
    docs_asked: int
    chunks: int
    chunks_asked: int
    gini: float | None
    by_doc: tuple[DocRow, ...] = ()
    topics: tuple[TopicRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DetectableDifference:
    """The smallest difference of two systems that so many questions tell at 80% power, two-sided at 5%, paired.

    `spread` is the standard deviation of the differences it goes by and `basis` says of what; `needed` is how many
    questions would tell `aim`.
    """

    measure: str
    questions: int
    basis: str
    spread: float
    difference: float
    aim: float
    needed: int


@dataclass(frozen=True, repr=False, kw_only=True)
class TestSetCheck(NotebookView):
    """All that was found about a test set, gravest first. `broken`: scores over it would measure mistakes.

    Without an index `chunks`, `docs`, `reach` and `coverage` are None, and `not_run` names the checks that need one,
    each with the reason. With some checks alone (`only`) the tables from `kinds` on are empty.
    """

    __test__ = False  # not a pytest class, whatever its name

    testset: str
    digest: str
    questions: int
    chunks: int | None = None
    docs: int | None = None
    findings: tuple[Finding, ...] = ()
    reach: GoldCoverage | None = None
    matchers: Mapping[str, int] = field(default_factory=dict)  # matcher -> relevant units looked for by it
    ceilings: tuple[Ceiling, ...] = ()
    kinds: tuple[KindRow, ...] = ()
    languages: tuple[LanguageRow, ...] = ()
    attained: tuple[EngineRecall, ...] = ()
    coverage: TopicCoverage | None = None
    detectable: tuple[DetectableDifference, ...] = ()
    not_run: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def broken(self) -> bool:
        """Whether anything found is broken."""
        return bool(self.of("broken"))

    @property
    def faulty(self) -> int:
        """How many questions something broken or a warning concerns."""
        return len({id_ for finding in self.findings if finding.severity != "info" for id_ in finding.questions})

    @property
    def reachable(self) -> float | None:
        """Share of the relevant gold that some chunk holds; None where there is none, or no index."""
        return self.reach.share if self.reach is not None else None

    def plain(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts and numbers, under keys that stay."""
        document = {"format": FORMAT, "broken": self.broken, "faulty": self.faulty, **plain(self)}
        if self.reach is not None:
            document["reach"]["share"] = self.reach.share
        return document

    def _line(self) -> str:
        counts = ", ".join(f"{len(self.of(severity)):,} {severity}" for severity in SEVERITIES)
        return f"{self.testset!r}, {plural(self.questions, 'question')}; findings: {counts}"

    def _table(self) -> Table:
        rows = ((f.severity, f.check, f.title, len(f.questions)) for f in self.findings)
        return ("severity", "check", "finding", "questions"), rows
