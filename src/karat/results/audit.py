"""Audit: how good a test set is, as the reports show it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from karat.results.checkup import Finding, TestSetFindings

ALL = "all"
"""Stands for all kinds together."""


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
class Audit(TestSetFindings):
    """All that was found about a test set, gravest first. `broken`: scores over it would measure mistakes.

    `left_out` names checks that were not made, each with the reason.
    """

    testset: str
    digest: str
    questions: int
    chunks: int | None  # None: no corpus was given
    docs: int | None
    findings: tuple[Finding, ...] = ()
    kinds: tuple[KindRow, ...] = ()
    languages: tuple[LanguageRow, ...] = ()
    attained: tuple[EngineRecall, ...] = ()
    coverage: TopicCoverage | None = None
    detectable: tuple[DetectableDifference, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def faulty(self) -> int:
        """How many questions something broken or a warning concerns."""
        return len({id_ for f in self.findings if f.severity != "info" for id_ in f.questions})

    def brief(self) -> dict[str, Any]:
        """What `karat check` says of it: how many questions want a look, and what was found, without the rest."""
        found = [
            {"check": f.check, "severity": f.severity, "title": f.title, "questions": len(f.questions)}
            for f in self.findings
        ]
        return {"broken": self.broken, "faulty": self.faulty, "findings": found}

    def plain(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts and numbers, under keys that stay."""
        return {**super().plain(), "faulty": self.faulty}
