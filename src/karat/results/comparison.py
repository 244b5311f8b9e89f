"""Comparison: systems over the same questions, pair by pair, and what a test set can tell. Plain data, no logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.core.glance import NotebookView, Table
from karat.core.text.words import names, plural
from karat.results.evaluation import InputInfo, Mean, Note, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.core.measure import Direction


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure that systems are compared by."""

    name: str
    direction: Direction = "higher"
    low: float | None = 0.0  # the least and greatest value it can take; None: no end is known
    high: float | None = 1.0


@dataclass(frozen=True, kw_only=True)
class SystemMean(Mean):
    """A system by a measure over the compared questions. `over` is its mean relative to the baseline's, less 1."""

    over: float | None = None


@dataclass(frozen=True)
class Flip:
    """A question on which one of two systems is better, and what both have."""

    question: str
    a: float
    b: float
    text: str = ""

    @property
    def difference(self) -> float:
        return self.b - self.a


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two systems (or cells) by one measure over the questions that both have a value for: b - a.

    None: there is no such number. `p` is that of the test that decides. `adjusted` is the same, corrected over all that
    is shown together: pairs and measures, slices where it is of one; in a choice, also for having picked the best
    afterwards.
    """

    measure: str
    a: str
    b: str
    n: int
    difference: float | None
    low: float | None  # 95% interval of the difference
    high: float | None
    p: float
    adjusted: float
    wins: int  # questions on which b is better
    ties: int
    losses: int


@dataclass(frozen=True, kw_only=True)
class SlicePair(Pair):
    """A pair within one slice of the questions."""

    slice: str  # "kind"
    value: str  # "factual"; "(none)" for questions without one


@dataclass(frozen=True, kw_only=True)
class ComparedPair(Pair):
    """A pair with every test, effect sizes and the questions that make the difference."""

    mean_a: float | None
    mean_b: float | None
    permutation: float
    wilcoxon: float
    t: float | None
    mcnemar: float | None  # of measures that are 0 or 1
    tukey: float | None  # of more than two systems; corrected over the pairs of the measure
    d: float | None  # Cohen's, of paired values: mean over standard deviation of the differences
    biserial: float | None  # matched rank-biserial correlation
    spread: float | None  # standard deviation of the differences
    detectable: float | None  # the smallest difference that n questions of this spread find with 80% power
    over: float | None  # the mean of b relative to that of a, less 1
    judge_share: float | None = None  # of the variance of the differences that is the judge's own
    better: tuple[Flip, ...] = ()  # questions on which b is better, the largest differences first
    worse: tuple[Flip, ...] = ()


@dataclass(frozen=True)
class DroppedQuestions:
    """What aligning on the common questions left out of an input."""

    place: str
    questions: int
    kept: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class JudgeNoise:
    """What the repeats of a judge say about its scores of a system.

    `error` is the standard error of the system's mean that is the judge's: asked again about the same answers, the
    mean would move by about this much.
    """

    system: str
    measure: str
    rows: int  # asked at least twice
    repeats: float  # how often, on average
    flips: float  # share of rows whose repeats are not all the same
    icc: float | None  # intraclass correlation of one reply
    icc_mean: float | None  # of a score, which is the mean of its repeats
    variance: float  # of a score about what the judge would say on average
    error: float


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(NotebookView):
    """Systems compared over the same questions, paired by question."""

    systems: tuple[str, ...]
    measures: tuple[ComparedMeasure, ...]
    questions: tuple[str, ...]  # that all inputs hold, in the order of their ids
    means: tuple[SystemMean, ...]
    pairs: tuple[ComparedPair, ...]  # measure by measure
    slices: tuple[SlicePair, ...] = ()
    baseline: str | None = None
    test: str = "permutation"
    correction: str = "holm"
    level: float = 0.05  # an adjusted p up to this tells two systems apart
    tests: int = 0  # that the correction is over
    slice_tests: int = 0
    draws: int = 0
    seed: int = 0
    taken: tuple[InputInfo, ...] = ()
    losses: tuple[DroppedQuestions, ...] = ()
    noise: tuple[JudgeNoise, ...] = ()
    notes: tuple[Note, ...] = ()
    costs: tuple[
        Usage, ...
    ] = ()  # seconds, tokens and cost_usd of each system over the compared questions, where known
    cost_pairs: tuple[Pair, ...] = ()  # the same between two systems; the correction is over these alone

    @property
    def failed(self) -> int:
        """Scores that failed, and so left a question out of their pairs."""
        return sum(mean.n_failed for mean in self.means)

    def is_told_apart(self, pair: Pair) -> bool:
        """Whether the correction leaves a difference."""
        return pair.adjusted <= self.level

    def _line(self) -> str:
        apart = sum(map(self.is_told_apart, self.pairs))
        questions = plural(len(self.questions), "question")
        return f"{names(self.systems)}; {questions}; {plural(len(self.pairs), 'pair')}, {apart:,} significant"

    def _table(self) -> Table:
        heads = ("measure", "a", "b", "n", "b - a", "95% low", "95% high", "adjusted p")
        rows = ((p.measure, p.a, p.b, p.n, p.difference, p.low, p.high, p.adjusted) for p in self.pairs)
        return heads, rows


@dataclass(frozen=True, kw_only=True)
class PairSpread:
    """How far apart two systems are from question to question by a measure, and what that lets questions tell."""

    measure: str
    source: str  # where the spread comes from, in words
    pairs: int  # of systems that it was seen in; 0 of one system
    n: int  # questions it was seen on
    questions: int  # of the test set that count
    least: (
        float | None
    )  # standard deviation of the differences: of the most alike pair, the middle one, the least alike
    middle: float
    most: float | None
    detectable: float  # by the questions of the test set, for the middle one
    detectable_least: float | None
    detectable_most: float | None
    needed: int | None = None  # questions for the difference asked about
    needed_least: int | None = None
    needed_most: int | None = None
    judge: float | None = None  # share of the middle variance that is the judge's own
    without_judge: float | None = None  # what could be told of scores without it


@dataclass(frozen=True, kw_only=True)
class Power:
    """What so many questions can tell, and how many it takes."""

    testset: str
    questions: int
    run: str | None
    measures: tuple[PairSpread, ...]
    level: float
    power: float
    comparisons: int = 1  # tests that the level is divided by
    difference: float | None = None
    taken: tuple[InputInfo, ...] = ()
    noise: Sequence[JudgeNoise] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """Scores read from a table: system x question x measure, NaN where there is none, and what rows say beside.

    `held` says which questions a system has a row for, `failed` where that row says it failed.
    """

    place: str
    systems: tuple[str, ...]
    questions: tuple[str, ...]
    measures: tuple[str, ...]  # as the columns are called
    values: NDArray[np.float64]
    held: NDArray[np.bool_]  # system x question
    failed: NDArray[np.bool_]
    slices: Mapping[str, Mapping[str, str]]  # name -> question -> value
    texts: Mapping[str, str]  # question -> its text
    taken: InputInfo
