"""Answers: what systems said, looked up the ways the reports need: the worst, what they miss, who judged, the bill.

Texts and details come from files, models and judges: whatever stands in them, a lookup gives lists and texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from karat.core.scores import Status
from karat.report.lookups import EvaluationView, statuses
from karat.results.decisions import QUALITY, SAME, SUPPORT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.results.evaluation import Evaluation, Note
    from karat.results.study import StudyAnswer

KNOWN = (*QUALITY, "EM", "ROUGE-L", *SUPPORT, "SemanticSimilarity", "Completeness")
HEURISTIC = "heuristic"
UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a judge found: its reason and the claims it looked at, or why it found nothing."""

    measure: str
    value: float | None
    reason: str
    by: str  # "heuristic", or how the judge says it came by it
    model: str
    claims: tuple[Mapping[str, Any], ...]
    repeats: tuple[float, ...]  # values, where it was asked several times

    @property
    def flips(self) -> bool | None:
        """Whether asking again gave another value; None where it was asked once."""
        return max(self.repeats) - min(self.repeats) > SAME if len(self.repeats) > 1 else None


@dataclass(frozen=True, kw_only=True)
class JudgeRecord:
    """How one measure of a judge went for one system."""

    system: str
    measure: str
    who: str
    n: int
    failed: int
    repeats: int
    flips: float | None  # share of the answers asked about several times whose values differ


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What the answers of a system took. None: unknown. `known` of `n` answers have tokens or a cost."""

    system: str
    n: int
    retrieve_seconds: float | None  # median
    answer_seconds: float | None
    tokens: int | None  # of all answers together
    tokens_known: int
    cost_usd: float | None
    cost_known: int


class Answers:
    """Lookups over the answers of an evaluation; `kept` is what a study knows of them besides their texts."""

    def __init__(self, evaluation: Evaluation, kept: Mapping[str, Mapping[str, StudyAnswer]] | None = None) -> None:
        self.evaluation = evaluation
        self.scores = evaluation.scores
        self.kept = kept or {}
        self.systems = [
            s
            for s in self.scores.systems
            if self.kept.get(s) or any(a is not None for a in evaluation.answers.get(s, ()))
        ]
        self.measures = sorted(
            (m for m in self.scores.measures if m.spec.stage == "answer"), key=lambda m: _known(m.spec.name)
        )
        self.column = {m.name: i for i, m in enumerate(self.scores.measures)}
        self._number = {q: i for i, q in enumerate(self.scores.questions)}

    @cached_property
    def quality(self) -> Measure | None:
        """The measure by which answers are good or bad."""
        known = (m for m in self.measures if m.spec.direction != "none" and self._has_value(m))
        return self.first(QUALITY) or next(known, None)

    def first(self, names: Sequence[str]) -> Measure | None:
        """Of the measures of answers, the first named that has a value."""
        named = ((names.index(m.spec.name), i, m) for i, m in enumerate(self.measures) if m.spec.name in names)
        return next((m for _, _, m in sorted(named, key=lambda one: one[:2]) if self._has_value(m)), None)

    def ranked(self, chosen: str | None) -> list[str]:
        """Systems that answer: the chosen one, then by how good their answers are."""
        view, quality = EvaluationView(self.evaluation), self.quality
        sign = -1 if quality is not None and quality.spec.direction == "lower" else 1

        def key(system: str) -> tuple[bool, bool, float]:
            summary = view.summary(system, quality) if quality is not None else None
            mean = summary.mean if summary is not None else None
            return system != chosen, mean is None, -sign * (mean or 0.0)

        return sorted(self.systems, key=key)

    @cached_property
    def status(self) -> NDArray[np.uint8]:
        """The status of every score."""
        return statuses(self.scores)

    def _has_value(self, measure: Measure) -> bool:
        return bool((self.status[:, :, self.column[measure.name]] == Status.ok).any())

    def of(self, system: str, question: str) -> StudyAnswer | None:
        """The answer of a system to a question; None where it gave none and nothing is known of why."""
        answer = self.kept.get(system, {}).get(question)
        if answer is not None:
            return answer
        texts = self.evaluation.answers.get(system)
        text = texts[self._number[question]] if texts is not None and question in self._number else None
        if text is None:
            return None
        from karat.core.text.refusals import declines
        from karat.results.study import StudyAnswer

        return StudyAnswer(system, question, text, declined=declines(text))

    def value(self, system: str, question: int, measure: Measure) -> float | None:
        return self.scores.value(self.scores.systems.index(system), question, self.column[measure.name])

    def worst(self, system: str, most: int) -> list[tuple[int, float]]:
        """The questions that a system answers worst, by number and score, those with the least words right first.

        An answer that could not be better is none of them.
        """
        measure = self.quality
        if measure is None:
            return []
        sign, top = (-1, measure.bounds[0]) if measure.spec.direction == "lower" else (1, measure.bounds[1])
        second = next((m for m in self.measures if m.spec.name == "TokenF1"), measure)
        candidates = []
        for q, question in enumerate(self.scores.questions):
            value = self.value(system, q, measure)
            if value is not None and sign * (top - value) > SAME and self.of(system, question) is not None:
                candidates.append((sign * value, self.value(system, q, second) or 0.0, q, value))
        return [(q, value) for _, _, q, value in sorted(candidates)[:most]]

    def details(self, system: str, question: int) -> list[tuple[Measure, Mapping[str, Any]]]:
        """What the measures of answers show for their scores, where they show anything."""
        s = self.scores.systems.index(system)
        details = ((m, self.scores.detail(s, question, self.column[m.name])) for m in self.measures)
        return [(m, detail) for m, detail in details if isinstance(detail, Mapping) and detail]

    def missing(self, system: str, question: int) -> list[str]:
        """Claims of the reference that the answer lacks, as judges name them."""
        judged_first = sorted(self.details(system, question), key=lambda pair: pair[0].spec.name != QUALITY[0])
        for _, detail in judged_first:
            named = [one.get("claim") if isinstance(one, Mapping) else one for one in _listed(detail.get("missing"))]
            claims = list(dict.fromkeys(str(text) for text in named if text))
            if claims:
                return claims
        return []

    def sentences(self, system: str, question: int) -> list[Mapping[str, Any]]:
        """The sentences of an answer, each with what supports it best."""
        for _, detail in self.details(system, question):
            parts = [one for one in _listed(detail.get("sentences")) if isinstance(one, Mapping) and one.get("text")]
            if parts:
                return parts
        return []

    def judgements(self, system: str, question: int) -> list[Judgement]:
        """What the judges said of an answer."""
        return [
            _judgement(m, self.value(system, question, m), detail)
            for m, detail in self.details(system, question)
            if _is_judgement(detail)
        ]

    @cached_property
    def judged(self) -> list[JudgeRecord]:
        """How the judges went, a row for each measure and system."""
        records = []
        for measure in self.measures:
            for s, system in enumerate(self.scores.systems):
                m = self.column[measure.name]
                details = [self.scores.detail(s, q, m) for q in range(len(self.scores.questions))]
                judgements = [_judgement(measure, None, detail) for detail in details if _is_judgement(detail)]
                if not judgements:
                    continue
                who = {HEURISTIC if v.by == HEURISTIC else v.model or v.by or UNKNOWN for v in judgements}
                flips = [float(v.flips) for v in judgements if v.flips is not None]
                failed = int((self.status[s, :, m] == Status.failed).sum())
                n = int((self.status[s, :, m] == Status.ok).sum())
                repeats = max(1, *(len(v.repeats) for v in judgements))
                record = JudgeRecord(
                    system=system, measure=measure.name, who=", ".join(sorted(who)), n=n, failed=failed,
                    repeats=repeats, flips=fmean(flips) if flips else None,
                )  # fmt: skip
                records.append(record)
        return records

    def bill(self, system: str, retrieve: Sequence[float | None] = ()) -> Bill:
        """What the answers took, of what is known; `retrieve` are the seconds of retrieval."""
        known = list(self.kept.get(system, {}).values())
        n = len(known) or sum(a is not None for a in self.evaluation.answers.get(system, ()))
        seconds = [a.seconds for a in known if a.seconds is not None]
        tokens = [a.tokens for a in known if a.tokens is not None]
        cost = [a.cost_usd for a in known if a.cost_usd is not None]
        timed = [s for s in retrieve if s is not None]
        return Bill(
            system=system, n=n, retrieve_seconds=median(timed) if timed else None,
            answer_seconds=median(seconds) if seconds else None, tokens=sum(tokens) if tokens else None,
            tokens_known=len(tokens), cost_usd=sum(cost) if cost else None, cost_known=len(cost),
        )  # fmt: skip

    def counts(self, system: str) -> dict[str, int]:
        """How many answers there are, and how many are empty, decline, or failed to be made."""
        counts = {"answers": 0, "empty": 0, "declined": 0, "failed": 0}
        for question in self.scores.questions:
            answer = self.of(system, question)
            if answer is None or (answer.text is None and answer.error is None):
                continue
            if answer.error is not None:
                counts["failed"] += 1
                continue
            counts["answers"] += 1
            counts["empty"] += not (answer.text or "").strip()
            counts["declined"] += answer.declined
        return counts

    @property
    def floors(self) -> list[Note]:
        """Notes that say where the floor of a similarity lies."""
        names = {m.spec.name for m in self.measures if "Similarity" in m.spec.name}
        return [note for note in self.evaluation.notes if any(name in note.text for name in names)]


def _known(name: str) -> int:
    """The place of a measure among those known best."""
    return KNOWN.index(name) if name in KNOWN else len(KNOWN)


def _is_judgement(detail: object) -> bool:
    return isinstance(detail, Mapping) and any(name in detail for name in ("reason", "claims", "by"))


def _judgement(measure: Measure, value: float | None, detail: Mapping[str, Any]) -> Judgement:
    claims = [one for one in _listed(detail.get("claims")) if isinstance(one, Mapping)]
    claims = claims or [
        {"claim": f"context {one.get('context', '')}", "verdict": one.get("grade"), "reason": one.get("reason")}
        for one in _listed(detail.get("contexts"))
        if isinstance(one, Mapping)
    ]
    repeats = [float(v) for v in _listed(detail.get("repeats")) if isinstance(v, int | float)]
    words = {name: str(detail.get(name) or "") for name in ("reason", "by", "model")}
    return Judgement(measure=measure.name, value=value, claims=tuple(claims), repeats=tuple(repeats), **words)


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
