"""Marks: what people say of a run in the browser: of a hit, an answer, a claim or a question. Plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from karat.core.text.words import plural

MarkKind = Literal["hit", "answer", "claim", "question"]
VALUES: Mapping[str, Mapping[str, float]] = {
    "answer": {"right": 1.0, "partly": 0.5, "wrong": 0.0},
    "claim": {"supported": 1.0, "unsupported": 0.0},
    "question": {"good": 1.0, "bad": 0.0},
}
"""What may be said of each kind but hits, which have a grade: 0 is judged not relevant."""
MOST_GRADE = 9
LABELS_FILE = "labels.jsonl"
"""What the file is called in the folder of a run."""


@dataclass(frozen=True, kw_only=True)
class MarkedHit:
    """The hit that a mark is about, as far as it is known what it is."""

    id: str
    doc: str | None = None
    page: str | None = None
    quote: str | None = None


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One thing that one person said, or took back (`undoes`)."""

    id: str
    kind: MarkKind
    question: str
    by: str
    at: str  # UTC
    system: str | None = None
    hit: MarkedHit | None = None
    claim: str | None = None
    grade: int | None = None
    value: str | None = None
    reasons: tuple[str, ...] = ()
    note: str = ""
    undoes: str | None = None
    testset: str | None = None  # its digest
    digest: str | None = None  # of the question as it was asked
    row: int = field(default=0, compare=False)

    @property
    def thing(self) -> tuple[str | None, ...]:
        """What it is about: of one person the latest mark of a thing holds."""
        if self.hit is not None:
            return self.kind, self.question, self.hit.id, self.hit.doc, self.hit.quote
        return self.kind, self.question, *((self.system, self.claim) if self.kind != "question" else ())

    @property
    def verdict(self) -> str:
        """What it says, in a word."""
        if self.kind == "hit":
            return "not gold" if not self.grade else "gold" if self.grade == 1 else f"gold {self.grade}"
        return self.value or ""


@dataclass(frozen=True)
class MarkAgreement:
    """How many things of a kind two people or more marked, and on how many of them all say the same."""

    kind: str
    n: int
    same: int


@dataclass(frozen=True, kw_only=True)
class Marks:
    """The marks of a file in the order in which they were made; `torn`: its last line was not whole, and is left out.

    A torn line was never acknowledged to who made it.
    """

    place: str
    every: tuple[Mark, ...] = ()
    torn: bool = False

    @cached_property
    def standing(self) -> tuple[Mark, ...]:
        """The latest of each person on each thing, without those that were taken back."""
        undone = {mark.undoes for mark in self.every}
        latest: dict[tuple[str | None, ...], Mark] = {}
        for mark in self.every:
            if mark.undoes is None and mark.id not in undone:
                latest.pop((mark.by, *mark.thing), None)
                latest[mark.by, *mark.thing] = mark
        return tuple(latest.values())

    @cached_property
    def by_question(self) -> Mapping[str, Sequence[Mark]]:
        """Those that stand, by question."""
        marks: dict[str, list[Mark]] = {}
        for mark in self.standing:
            marks.setdefault(mark.question, []).append(mark)
        return marks

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many stand, by question."""
        return {question: len(marks) for question, marks in self.by_question.items()}

    @property
    def people(self) -> tuple[str, ...]:
        """Everyone whose marks stand, in the order they began."""
        return tuple(dict.fromkeys(mark.by for mark in self.standing))

    @property
    def agreement(self) -> tuple[MarkAgreement, ...]:
        """By kind, where two people marked the same; a hit is gold or not, whatever its grade."""
        by_thing: dict[tuple[str | None, ...], list[object]] = {}
        for mark in self.standing:
            by_thing.setdefault(mark.thing, []).append(bool(mark.grade) if mark.kind == "hit" else mark.value)
        several = [(str(thing[0]), len({*values}) == 1) for thing, values in by_thing.items() if len(values) > 1]
        counts, same = Counter(kind for kind, _ in several), Counter(kind for kind, alike in several if alike)
        return tuple(MarkAgreement(kind, n, same[kind]) for kind, n in counts.items())

    @property
    def counted(self) -> str:
        """How many there are, of whom: "14 labels by 2 people"."""
        return counted(self.standing)


def counted(marks: Iterable[Mark]) -> str:
    """How many labels there are, of how many people."""
    marks = tuple(marks)
    people = len({mark.by for mark in marks})
    return f"{plural(len(marks), 'label')} by {people:,} {'person' if people == 1 else 'people'}"


@dataclass(frozen=True, kw_only=True)
class ScoreWithLabels:
    """A mean before and with labels; the difference is None where one of them has no value."""

    system: str
    measure: str
    before: float | None
    after: float | None
    n_before: int
    n_after: int

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, kw_only=True)
class ScoresWithLabels:
    """Scores with what labels make of the gold, beside those without them."""

    place: str
    labels: int  # of hits that were applied, and of questions that were left out by them
    people: tuple[str, ...]
    changed: int  # questions
    left_out: tuple[str, ...] = ()  # questions marked bad
    rows: tuple[ScoreWithLabels, ...] = ()
