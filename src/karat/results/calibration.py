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
class Agreement:
    """How far two or more raters agree. None: undefined, and `why` says why."""

    raters: int
    n: int  # items that at least two of them rated
    kappa: float | None = None
    low: float | None = None  # 95% interval of kappa
    high: float | None = None
    weighted: float | None = None  # kappa with quadratic weights, of more than two categories
    weighted_low: float | None = None
    weighted_high: float | None = None
    alpha: float | None = None  # Krippendorff's
    metric: str = "nominal"  # of alpha
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
    """All that labels tell about a run."""

    run: str
    taken: InputInfo
    measures: tuple[MeasureCalibration, ...]
    reliability: tuple[Reliability, ...] = ()
    selective: tuple[SelectiveAccuracy, ...] = ()
    unmatched: Mapping[str, int] = field(default_factory=dict)  # "measure X", "system Y", "question Z" -> labels
    notes: tuple[Note, ...] = ()

    @property
    def failed(self) -> int:
        """Labelled answers on which the measure failed."""
        return sum(found.n_failed for found in self.measures)
