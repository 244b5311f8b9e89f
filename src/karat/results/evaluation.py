"""Evaluation: all that one scoring found, as the reports show it. Plain data, no logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from karat.core.glance import NotebookView, Table
from karat.core.scores import Scores
from karat.core.types import TestSet
from karat.results.marks import ScoresWithLabels
from karat.results.pareto import STATISTIC, Cost, ParetoFront

SIGNIFICANT = 0.05  # an adjusted p up to this is significant
FORMATS = {"canonical": "karat JSONL"}  # formats whose registered name says little


@dataclass(frozen=True)
class InputInfo:
    """What an input was read as: printed first, so that no guess stays hidden."""

    place: str  # file name, or "results (dict)"
    format: str  # registered name of the format
    what: str  # "120 questions, 3 kinds", "bm25: 7,000 hits for 120 questions"
    notes: tuple[str, ...] = ()  # what the reader decided or noticed

    @property
    def read_as(self) -> str:
        """ "read as karat JSONL: 120 questions, 3 kinds"."""
        return f"read as {FORMATS.get(self.format, self.format)}: {self.what}"


@dataclass(frozen=True, kw_only=True)
class Matching:
    """Which matcher was used and what share of the relevant gold units it found among the hits of each system."""

    matcher: str
    unit: str  # "chunk", "document", "page", ...
    why: str
    share: Mapping[str, float]  # system -> share of relevant gold units that stand anywhere in its hits
    others: Mapping[str, float] = field(default_factory=dict)  # matcher -> share, where it would match
    suggestion: str | None = None
    unusable: int = 0  # gold entries without a unit of this kind: never found, counted as missed
    entries: int = 0  # gold entries, where that was counted
    unheld: tuple[int, int] = (0, 0)  # relevant units that no chunk of the index holds, and all of them
    strangers: Mapping[str, tuple[int, int, str]] = field(default_factory=dict)
    """Of each system with hits that are no chunks of the index: how many, of how many, and one of them."""
    unmatchable: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of each system whose hits cannot show some gold: how many relevant entries for want of which field."""
    notes: tuple[str, ...] = ()  # what else should be known of how gold was matched

    def of_systems(self, systems: Sequence[str]) -> Matching:
        """The same of some systems."""
        return replace(
            self,
            share={name: share for name, share in self.share.items() if name in systems},
            strangers={name: hits for name, hits in self.strangers.items() if name in systems},
            unmatchable={name: entries for name, entries in self.unmatchable.items() if name in systems},
        )

    @property
    def unmatchable_line(self) -> str:
        """How many gold entries cannot be matched with the hits of which systems, and for want of what."""
        counted = [
            f"{name} {sum(counts.values()):,} (no {', no '.join(counts)})" for name, counts in self.unmatchable.items()
        ]
        return f"gold entries that cannot be matched: {' · '.join(counted)}" if counted else ""

    @property
    def unranked(self) -> frozenset[str]:
        """Systems whose hits cannot show gold that those of others can: they are not ranked against these."""
        lacks = {name: frozenset(self.unmatchable.get(name, {})) for name in self.share}
        fewest = min(map(len, lacks.values()), default=0)
        ranked = next((lack for lack in lacks.values() if len(lack) == fewest), frozenset())
        return frozenset(name for name, lack in lacks.items() if lack != ranked)


@dataclass(frozen=True, kw_only=True)
class Mean:
    """One measure of one system over some questions. None: there is no such number."""

    system: str
    measure: str
    n: int  # questions with a value
    n_undefined: int
    n_failed: int
    mean: float | None = None
    low: float | None = None  # 95% interval of the mean
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Summary(Mean):
    """The same over all questions or over a slice of them, with the spread of their values."""

    worst: float | None = None  # the mean with failed rows at the measure's lower or upper bound; None unless n_failed
    best: float | None = None
    std: float | None = None
    min: float | None = None
    q25: float | None = None
    q50: float | None = None
    q75: float | None = None
    max: float | None = None
    n_lowest: int | None = None  # questions at the least value there can be, at the greatest, and at the mean or above
    n_highest: int | None = None
    n_reaching: int | None = None
    slice: str | None = None  # "kind"
    value: str | None = None  # "factual"; "(none)" for questions without one
    band: str | None = None
    meaning: str | None = None  # of the band
    lists_end: int | None = None  # where all lists of the system end, if that is before the measure's cut-off
    n_missing: int = 0  # questions without an answer in the results that would count as 0
    mean_answered: float | None = None  # over the answered questions alone; None unless n_missing
    mean_with_missing: float | None = None  # with 0 for each missing answer; None unless n_missing
    note: str | None = None  # what must stand beside the mean wherever it is shown


@dataclass(frozen=True, kw_only=True)
class Target:
    """A value to reach, whether it was, and the highest this gold allows."""

    system: str
    measure: str
    threshold: float
    value: float | None
    met: bool | None
    ceiling: float


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Seconds, tokens or cost of a system over the rows where they are known."""

    system: str
    what: str  # "seconds", "seconds retrieve", "tokens", "cost_usd"
    n: int
    mean: float
    p50: float
    p95: float
    std: float | None = None  # None of one row, and as min and max where an earlier version stored none
    min: float | None = None
    max: float | None = None

    FIGURES = ("mean", "std", "min", "p50", "p95", "max")  # in the order that tables show them

    @property
    def figures(self) -> tuple[float | None, ...]:
        return tuple(getattr(self, name) for name in self.FIGURES)

    @property
    def total(self) -> float:
        """All the rows together."""
        return self.mean * self.n

    @property
    def typical(self) -> float:
        """What stands for the system: p50 of seconds, the mean of tokens and cost."""
        return self.p50 if STATISTIC[self.what.partition(" ")[0]] == "p50" else self.mean


@dataclass(frozen=True, kw_only=True)
class Refusals:
    """How a system declines, over the questions it was asked; a number over nothing is None."""

    system: str
    n: int
    unanswerable: int
    declined: int
    right: int  # declined and unanswerable
    empty: int  # neither answered nor declined
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None


@dataclass(frozen=True, kw_only=True)
class OutcomeShare:
    """How many answers are right, abstain or are wrong, and their share of a row with its 95% interval."""

    outcome: Literal["right", "abstained", "wrong"]
    n: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class OutcomeRow:
    """The answers whose contexts suffice, do not, or of which that is not known (None)."""

    sufficient: bool | None
    n: int
    shares: tuple[OutcomeShare, ...]


@dataclass(frozen=True, kw_only=True)
class OutcomeTable:
    """What became of a system's answers by whether their contexts suffice."""

    system: str
    sufficient_by: str  # the measures
    outcome_by: str
    n: int
    n_left_out: int  # questions without an outcome, or whose repeats are evenly divided
    rows: tuple[OutcomeRow, ...]


@dataclass(frozen=True, kw_only=True)
class SelectiveAccuracy:
    """How often a system is right if only its surest answers count.

    `accuracy` has a value for each number of answers that count, 1 to `answered`: coverage goes from 1 / n to
    answered / n in steps of 1 / n. Without `confidence` it has the last one alone, and there is no area.
    """

    system: str
    correct_by: str  # what makes an answer right
    n: int  # questions with an outcome
    answered: int  # of them answered
    right: int  # answered rightly
    n_without: int = 0  # answered without a confidence: they stand last
    accuracy: tuple[float, ...] = ()
    area: float | None = None  # under the curve, from coverage 0 to answered / n

    @property
    def coverage(self) -> float:
        """Share of the questions that are answered: where the curve ends."""
        return self.answered / self.n if self.n else 0.0


@dataclass(frozen=True, kw_only=True)
class StepHit:
    """A hit of a step, with the gold units that it holds; `new`: one of them no hit before it held."""

    id: str
    holds: tuple[str, ...] = ()
    new: bool = False


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A call that a system made for a question. `hits` None: it was the call of a tool that retrieves nothing.

    `recall` is that of all hits so far and `gained` what this call added, None where that is not known.
    """

    query: str | None = None
    tool: str | None = None
    hits: tuple[StepHit, ...] | None = None
    recall: float | None = None
    gained: float | None = None
    repeated: bool | None = None  # the same was asked before; None without a query
    seconds: float | None = None
    tokens: float | None = None


@dataclass(frozen=True)
class Note:
    """Something the reader of the table must know: a guard that fired, a dialect's meaning, a loss."""

    level: Literal["info", "warning"]
    text: str
    guard: str | None = None  # name of the guard, when one fired


@dataclass(frozen=True, repr=False, kw_only=True)
class Evaluation(NotebookView):
    """Everything a report shows. `summaries` has the whole set first, then the slices."""

    testset: TestSet
    scores: Scores
    summaries: tuple[Summary, ...]
    taken: tuple[InputInfo, ...] = ()
    matching: Matching | None = None
    targets: tuple[Target, ...] = ()
    ceilings: Mapping[str, float] = field(default_factory=dict)
    """Measure of retrieval -> the highest mean that any ranking could reach with this gold."""
    usage: tuple[Usage, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)  # system -> one line
    notes: tuple[Note, ...] = ()
    dialect: str = "karat"
    ranked: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)  # system -> ids per question
    answers: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    ranked_scores: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)  # beside `ranked`
    confidence: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    """How sure a system says it is of each answer, 0 to 1; None where it does not say."""
    context_gold: Mapping[str, Sequence[bool | None]] = field(default_factory=dict)
    """Whether the contexts of each answer hold all relevant gold; None where that is not known."""
    hit_gold: Mapping[str, Mapping[int, tuple[str, ...]]] = field(default_factory=dict)
    """System -> place of a hit in its run -> the gold it holds; a study keeps it with its hits."""
    outcomes: tuple[OutcomeTable, ...] = ()  # where both sufficiency and CRAG are computed
    selective: tuple[SelectiveAccuracy, ...] = ()  # where CRAG is computed
    pareto: tuple[ParetoFront, ...] = ()  # the main measure against each cost that two systems or more are known by
    refusals: Mapping[str, Refusals] = field(default_factory=dict)  # where anything is unanswerable or declined
    docs: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)  # of each hit, beside `ranked`
    pages: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """The page of each hit, beside `ranked`: several joined by a comma, N/A where it is not known."""
    steps: Mapping[str, Mapping[str, Sequence[StepRecord]]] = field(default_factory=dict)
    """System -> question -> the calls that it made, of systems whose results say them."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # system -> alpha, k ..., where known
    seconds: Mapping[str, Sequence[float | None]] = field(default_factory=dict)  # system -> of retrieval per question
    failures: Mapping[str, Mapping[str, str]] | None = None  # system -> question -> label; None: nobody looked
    labelled: ScoresWithLabels | None = None  # where people's labels were given

    def usage_of(self, system: str, cost: Cost) -> Usage | None:
        """Tokens, cost or seconds of whole questions; None where they are not known, or a part of the seconds alone."""
        own = {usage.what: usage for usage in self.usage if usage.system == system}
        if cost != "seconds":
            return own.get(cost)
        steps = [
            step for step, systems in (("retrieve", self.ranked), ("answer", self.answers)) if system in [*systems]
        ]
        alone = f"seconds {steps[0]}" if len(steps) == 1 else ""
        return own.get("seconds total") or own.get("seconds") or own.get(alone)

    def _line(self) -> str:
        return self.scores._line()

    def _table(self) -> Table:
        measures = [measure.name for measure in self.scores.measures]
        means = {(s.system, s.measure): s.mean for s in self.summaries if s.slice is None}
        rows = ([system, *(means.get((system, name)) for name in measures)] for system in self.scores.systems)
        return ["system", *measures], rows
