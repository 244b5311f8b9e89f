"""Calibration: people's labels, and how far a measure and a system's confidence agree with them. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.results.evaluation import InputInfo, Note, SelectiveAccuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """What one person says of one answer by one measure. None: the file does not say."""

    question: str
    value: float
    system: str | None = None
    measure: str | None = None
    rater: str | None = None
    row: int = 0
    is_word: bool = False  # 1 for yes, 0 for no, rather than a number of a scale


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The labels of a file, and how many of its rows hold none."""

    place: str
    unit: str  # what a row of it is called: line, row, record
    rows: tuple[HumanLabel, ...]
    empty: int
    taken: InputInfo


@dataclass(frozen=True, kw_only=True)
class Judgements:
    """What people and judges say of the same answers, and what may bias a judge. Keys: system and question."""

    place: str
    people: Labels | None  # None: there is nobody to compare judges with but each other
    judges: Mapping[str, Labels]
    lengths: Mapping[tuple[str | None, str], float] = field(default_factory=dict)
    positions: Mapping[tuple[str | None, str], str] = field(default_factory=dict)
    taken: tuple[InputInfo, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far two or more raters agree. None: undefined, and `why` says why."""

    raters: int
    n: int  # items that at least two of them rated
    kappa: float | None = None
    low: float | None = None  # 95% interval of kappa
    high: float | None = None
    linear: float | None = None  # kappa with linear weights, of more than two categories
    linear_low: float | None = None
    linear_high: float | None = None
    weighted: float | None = None  # kappa with quadratic weights, of more than two categories
    weighted_low: float | None = None
    weighted_high: float | None = None
    alpha: float | None = None  # Krippendorff's
    metric: str = "nominal"  # of alpha
    alphas: Mapping[str, float | None] = field(default_factory=dict)  # by every metric
    why: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """An answer that people and the measure put into different categories."""

    system: str
    question: str
    people: float  # their mean
    score: float


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """People's categories by row, the measure's by column."""

    categories: tuple[float, ...]  # in the measure's scale
    names: tuple[str, ...]  # as the labels wrote them
    cuts: tuple[float, ...]  # scores from which the next category begins
    counts: tuple[tuple[int, ...], ...]
    ties: int  # items on which people are divided evenly between two categories: in no cell
    is_exact: bool = False  # whether each score is a category itself, so that none was cut
    off: tuple[Disagreement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CorrectedMean:
    """A system's mean by the measure alone, by people alone, and by the measure corrected by people."""

    system: str
    n: int  # rows with a label and a score
    n_scored: int  # rows with a score
    measure_mean: float | None
    people_mean: float | None
    people_low: float | None
    people_high: float | None
    mean: float | None = None  # prediction-powered
    low: float | None = None
    high: float | None = None
    weight: float | None = None  # given to the measure: the slope of labels on its scores
    effective: float | None = None  # labels that alone would give an interval as narrow
    why: str = ""  # there is no corrected mean


@dataclass(frozen=True, kw_only=True)
class SystemOrder:
    """Kendall's tau-b of the systems' means by two raters, over the answers that both graded."""

    n: int  # systems
    n_answers: int
    tau: float | None
    low: float | None = None  # the middle 95% over questions drawn again
    high: float | None = None
    why: str = ""  # there is no tau, or what it cannot say


@dataclass(frozen=True, kw_only=True)
class SlantGroup:
    """Answers of about the same length, or of the same position."""

    name: str
    n: int
    judge_mean: float
    people_mean: float
    bias: float  # judge - people
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Slant:
    """Whether a judge leans to long answers, or to those in one position, more than people do."""

    by: str  # length, position
    groups: tuple[SlantGroup, ...]  # from the shortest, or the first
    difference: float | None  # bias in the last group - bias in the first
    low: float | None
    high: float | None
    spearman: float | None  # of bias and length, or position where it is a number


@dataclass(frozen=True, kw_only=True)
class JudgeIdentity:
    """Which judge gave scores. None: not recorded."""

    by: str  # model, heuristic
    model: str | None = None
    fingerprint: str | None = None  # of the model's settings
    prompt: str | None = None  # with its version
    prompt_digest: str | None = None  # of its words


@dataclass(frozen=True, kw_only=True)
class LabelledScore:
    """An answer that has both a score and people's label."""

    system: str
    question: str
    score: float
    people: float  # their mean, in the measure's scale


@dataclass(frozen=True, kw_only=True)
class JudgePair:
    """Two judges of the same answers; the first by row of the table, the second by column."""

    a: str
    b: str
    agreement: Agreement
    confusion: Confusion | None
    spearman: float | None
    difference: float | None  # mean of b - a
    low: float | None
    high: float | None
    order: SystemOrder


@dataclass(frozen=True, kw_only=True)
class MeasureCalibration:
    """One measure against people."""

    measure: str
    n_labels: int
    n_items: int  # answers labelled
    n_scored: int  # of them with a score
    n_undefined: int
    n_failed: int
    raters: tuple[str, ...]
    people: Agreement
    agreement: Agreement  # the measure against people's mean
    spearman: float | None
    bias: float | None  # the measure - people
    bias_low: float | None
    bias_high: float | None
    confusion: Confusion | None
    systems: tuple[CorrectedMean, ...]
    flips: float | None = None  # share of answers whose repeated judgements differ
    n_repeated: int = 0
    order: SystemOrder | None = None
    slants: tuple[Slant, ...] = ()
    judges: tuple[JudgeIdentity, ...] = ()  # one, unless several gave the scores; none of a measure that asks nobody
    sample: tuple[LabelledScore, ...] = ()
    ends: tuple[float, float] | None = None  # the two values of labels that have no more
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Answers of about the same confidence."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """How far a system's confidence can be believed."""

    system: str
    correct_by: str  # what makes an answer right
    n: int
    n_left_out: int  # answers with a confidence of which nothing says whether they are right
    confidence: float
    accuracy: float
    ece_width: float
    ece_mass: float
    brier: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """All that labels tell about a run, or about judges of the same answers."""

    run: str  # or the file of the labels
    taken: InputInfo
    measures: tuple[MeasureCalibration, ...]
    others: tuple[InputInfo, ...] = ()  # further files that judges are read from
    pairs: tuple[JudgePair, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    selective: tuple[SelectiveAccuracy, ...] = ()
    unmatched: Mapping[str, int] = field(default_factory=dict)  # "measure X", "system Y", "question Z" -> labels
    notes: tuple[Note, ...] = ()

    @property
    def failed(self) -> int:
        """Labelled answers on which the measure failed."""
        return sum(measure.n_failed for measure in self.measures)


@dataclass(frozen=True, kw_only=True)
class AppliedMeasure:
    """A run's means by a measure, corrected by labels of other answers that the same judge scored."""

    measure: str
    judge: JudgeIdentity | None
    n_labels: int
    systems: tuple[CorrectedMean, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AppliedCalibration:
    """A stored calibration held to a run that nobody labelled."""

    run: str
    calibration: str  # its file
    calibrated: str  # the run that was labelled
    measures: tuple[AppliedMeasure, ...]
    notes: tuple[Note, ...] = ()
