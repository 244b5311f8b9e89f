"""Study: systems compared over a test set, the choice between them, why questions fail, and what goes with settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from karat.core.docs import Chunk
from karat.core.errors import UsageError
from karat.core.glance import NotebookView, Table
from karat.core.text.words import number, plural
from karat.results.comparison import Pair
from karat.results.evaluation import Evaluation, InputInfo, Note
from karat.results.pareto import ParetoFront, cost_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.core.measure import Measure

FailureLabel = Literal[
    "gold_not_in_corpus", "gold_not_indexed", "not_in_pool", "lost_in_fusion", "below_k",
    "cut_by_budget", "refused", "unsupported", "wrong_answer",
]  # fmt: skip


@dataclass(frozen=True)
class Configuration:
    """A system of a study: its name, what tells it apart in plain values, and where that comes from.

    `settings` may hold engine, legs, fusion, alpha, normalise, rrf_k, depth, rewrite, rerank, chunk, embedder; of a
    system that is not karat's, its source (results, call, http).
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    use_case: str = ""

    @property
    def alpha(self) -> float | None:
        """The weight of the dense leg where the system is one of a sweep over it: dense alone is 1, sparse alone 0."""
        value = self.settings.get("alpha")
        return float(value) if value is not None else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A system at one cut-off, by the main measure."""

    system: str
    measure: str  # the main measure at this cut-off: Recall@5
    k: int | None
    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class KindChoice:
    """The best cell for one kind of question, and which others do not differ significantly from it."""

    kind: str
    n: int
    best: Cell
    equals: tuple[str, ...]  # systems that do not differ significantly from it


@dataclass(frozen=True, repr=False, kw_only=True)
class Choice(NotebookView):
    """The best cell by the main measure, with all that keeps it from being taken for more than it is."""

    measure: str
    cells: tuple[Cell, ...]
    best: Cell
    equals: tuple[Pair, ...]  # best against each cell that does not differ significantly from it
    beaten: tuple[Pair, ...]  # best against each cell that does
    cross_validated: float | None  # mean of cells chosen without the questions they are scored on
    optimism: float | None  # what choosing on the same questions added
    picks: Mapping[str, int]  # cell -> how many folds chose it
    oracle: float | None  # mean if the best cell were known for each question
    by_kind: tuple[KindChoice, ...] = ()
    sentences: tuple[str, ...] = ()  # the choice in words
    expected_low: float | None = None  # 95% interval of `cross_validated`
    expected_high: float | None = None
    higher_is_better: bool = True
    ties: tuple[str, ...] = ()  # systems with exactly the mean of the best
    barred: tuple[str, ...] = ()  # systems without a value on more than a tenth of the questions: never the best
    ahead: tuple[Pair, ...] = ()  # best against each barred one that is better where both have values
    too_few: Mapping[str, int] = field(default_factory=dict)  # kind -> questions, too few to choose for

    @property
    def ranked(self) -> list[Cell]:
        """The cells that have a mean, best first."""
        known = [cell for cell in self.cells if cell.mean == cell.mean]
        return sorted(known, key=lambda cell: -cell.mean if self.higher_is_better else cell.mean)

    def _line(self) -> str:
        best = self.best
        return f"best of {len(self.cells):,}: {best.system}, {best.measure} {number(best.mean)}, n {best.n:,}"

    def _table(self) -> Table:
        rows = ((c.system, c.measure, c.mean, c.low, c.high, c.n) for c in self.ranked)
        return ("system", "measure", "mean", "95% low", "95% high", "n"), rows


@dataclass(frozen=True)
class Failure:
    """Why a question fails for a system, by one label."""

    system: str
    question: str
    label: FailureLabel
    _: KW_ONLY
    detail: str  # one sentence with the numbers
    leg: str | None = None  # that had it, where the fusion lost it
    rank: int | None = None  # where the first missing unit stands
    depth: int | None = None  # of a pool that would find it


@dataclass(frozen=True)
class FailureCount:
    """How many questions of a system fail in one way, and what mending that would add to a mean.

    That is the mean recall for the labels of retrieval, and for those of answers (cut_by_budget, refused, unsupported,
    wrong_answer) the mean of `measure`, an answer score: the two are not to be added up or compared.
    """

    system: str
    label: FailureLabel
    _: KW_ONLY
    questions: tuple[str, ...]
    gain: float
    measure: str = ""  # whose mean the gain is of; empty: recall at the study's k


@dataclass(frozen=True)
class StudyHit:
    """A hit as the question explorer shows it."""

    rank: int
    score: float | None
    chunk: Chunk
    _: KW_ONLY
    holds: tuple[str, ...] = ()  # gold units it credits
    legs: Mapping[str, tuple[int, float]] = field(default_factory=dict)  # leg -> rank and score there


@dataclass(frozen=True, eq=False, kw_only=True)
class HitTable(Mapping[str, Sequence[StudyHit]]):
    """The first hits of a system for every question as columns; those of a question are made when they are asked for.

    Hits of question i stand at `offsets[i]:offsets[i + 1]`, best first. `rows` are their places in `chunks`, a score
    is NaN where there is none, `holds` is by number of the hit, and a rank in a leg is 0 where that has not found it.
    """

    questions: Sequence[str]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    chunks: Sequence[Chunk]
    holds: Mapping[int, tuple[str, ...]]
    legs: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {question: number for number, question in enumerate(self.questions)}

    def __getitem__(self, question: str) -> tuple[StudyHit, ...]:
        number = self._number_of[question]
        begin, end = int(self.offsets[number]), int(self.offsets[number + 1])
        return tuple(self._hit(rank, place) for rank, place in enumerate(range(begin, end), 1))

    def _hit(self, rank: int, place: int) -> StudyHit:
        score = float(self.scores[place])
        legs = {name: (int(ranks[place]), float(scores[place])) for name, (ranks, scores) in self.legs.items()}
        legs = {name: at for name, at in legs.items() if at[0]}
        chunk = self.chunks[int(self.rows[place])]
        return StudyHit(rank, score if score == score else None, chunk, holds=self.holds.get(place, ()), legs=legs)

    def __iter__(self) -> Iterator[str]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)


@dataclass(frozen=True)
class StudyAnswer:
    """What a system said to one question, as reports show it. `text` None: it said nothing; `error` says why.

    `given` are the ids of the contexts that the answerer was given, best first, and None where that is not known;
    `used` those it says it used, and `contexts` their texts. Unknown numbers are None, never 0. `seconds` are of
    answering alone: `Study.seconds` has those of retrieval.
    """

    system: str
    question: str
    text: str | None = None
    _: KW_ONLY
    error: str | None = None
    contexts: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    given: tuple[str, ...] | None = None
    model: str | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    confidence: float | None = None
    declined: bool = False
    seconds: float | None = None
    seconds_total: float | None = None  # of the whole question; None where a step that the system takes has none


@dataclass(frozen=True, repr=False)
class Study(NotebookView):
    """One run: what was compared, every score, the choice, the failures, and where all of it comes from."""

    name: str
    _: KW_ONLY
    evaluation: Evaluation
    configurations: tuple[Configuration, ...]
    main: str  # the main measure, Recall@5
    k: int  # the cut-off by which a question fails or not
    choice: Choice | None = None
    pairs: tuple[Pair, ...] = ()
    failures: tuple[Failure, ...] = ()
    failure_counts: tuple[FailureCount, ...] = ()
    error_classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # system -> class -> questions
    hits: Mapping[str, Mapping[str, Sequence[StudyHit]]] = field(default_factory=dict)  # system -> question -> hits
    texts_for_ids: tuple[str, ...] = ()  # systems of which hits have no ids, so that the text of each serves as one
    seconds: Mapping[str, Sequence[float | None]] = field(default_factory=dict)  # system -> per question
    timed: Mapping[str, int] = field(default_factory=dict)
    """System -> questions that were searched alone and timed, where the others were searched in batches."""
    answers: Mapping[str, Mapping[str, StudyAnswer]] = field(default_factory=dict)  # system -> question -> answer
    manifest: Mapping[str, Any] = field(default_factory=dict)
    answer_gold: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """System -> question -> what of the gold that was found the answerer was not given; empty where it got all."""

    def pareto(self, measure: str | None = None, cost: str = "seconds") -> ParetoFront:
        """Which systems no other beats in the main measure and in cost: seconds, tokens or cost_usd of a question."""
        asked = cost_named(cost)
        if measure not in (None, self.main):
            raise UsageError(f"a study holds fronts of {self.main} alone: report.pareto({measure!r}) makes others.")
        front = next((front for front in self.evaluation.pareto if front.cost == asked), None)
        if front is None:
            raise UsageError(f"fewer than two systems have both {self.main} and {asked}, so that there is no front.")
        return front

    def _line(self) -> str:
        best = "" if self.choice is None else f"; {self.choice._line()}"
        counts = f"{plural(len(self.configurations), 'system')}; {plural(len(self.evaluation.testset), 'question')}"
        return f"{self.name!r}, {counts}{best}"

    def _table(self) -> Table:
        return self.evaluation._table() if self.choice is None else self.choice._table()


@dataclass(frozen=True, kw_only=True)
class SweepView:
    """What is shown of a sweep: the choice among its configurations at each cut-off of the main measure."""

    choice: Choice  # at the main cut-off
    choices: Sequence[Choice]  # one for each of the measures
    configurations: Sequence[Configuration]
    measures: Sequence[Measure]  # the main one at each cut-off
    taken: Sequence[InputInfo] = ()
    notes: Sequence[Note] = ()
    slice: str | None = None  # by which the best of each kind was chosen


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What goes with one factor, or with two together beyond what goes with each.

    `f` and `p` are None where nothing is left to compare with. `eta` is the share of all spread, `omega` that share
    without what chance alone would give.
    """

    factors: tuple[str, ...]
    freedom: int
    error_freedom: int
    squares: float
    f: float | None
    p: float | None
    eta: float
    omega: float
    adjusted: float | None = None  # Holm, over all effects of the analysis

    @property
    def name(self) -> str:
        """The factors in words."""
        return " x ".join(self.factors)


@dataclass(frozen=True)
class FactorLevel:
    """One level of a factor: the mean of its scores, over all levels of the others."""

    name: str
    n: int
    mean: float


@dataclass(frozen=True, kw_only=True)
class FactorAnalysis:
    """Scores of a grid, taken apart by its factors. `choice` is among the cells of a table with blocks."""

    source: str
    score: str
    n: int
    factors: Mapping[str, tuple[FactorLevel, ...]]
    balanced: bool
    by: str | None  # the column whose values are blocks
    blocks: int
    effects: tuple[Effect, ...]
    choice: Choice | None
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
