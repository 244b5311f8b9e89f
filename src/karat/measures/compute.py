"""Scores of all measures over all systems and questions, each with its status and reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.answered import AnswerTable
from karat.core.errors import KaratError
from karat.core.judged import Judged
from karat.core.measure import Measure
from karat.core.scores import EMPTY_ANSWER, MISSING_ANSWER, Floor, MeasureResult, Scores, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_GOLD = "no relevant gold"
_NO_PAIRS: NDArray[np.int64] = np.zeros(0, np.int64)
NOTHING_TO_MEASURE = f"{MISSING_ANSWER}, and so nothing to measure"


@dataclass(frozen=True, kw_only=True)
class Unscored:
    """Pairs (system x question, numbered system-major) that have no score, with the reason of each.

    `failed` have no result; of `unanswered` the answer alone failed; of `unasked` no answer was asked for, and scores
    of answers are undefined. The results of `missing` lack an answer: undefined too, or 0 where that is asked for. The
    gold of `unmatchable` the hits cannot show: what needs gold is undefined there. `absent` gives, per stage, the
    systems whose results hold nothing of that stage: their scores are undefined, not 0.
    """

    failed: Mapping[int, str] = field(default_factory=dict)
    unanswered: Mapping[int, str] = field(default_factory=dict)
    unasked: Mapping[int, str] = field(default_factory=dict)
    missing: Collection[int] = ()
    unmatchable: Mapping[int, str] = field(default_factory=dict)
    absent: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def compute(
    measures: Sequence[Measure],
    systems: Sequence[str],
    questions: Sequence[str],
    *,
    judged: Judged | None = None,
    answered: AnswerTable | None = None,
    unscored: Unscored | None = None,
    missing_is_zero: bool = False,
    no_gold_is_zero: bool = False,
    conversations: tuple[int, ...] | None = None,
) -> Scores:
    """Every measure of every pair; `conversations` is what the scores say of the questions."""
    unscored = unscored or Unscored()
    shape = (len(systems), len(questions))
    values = np.full((*shape, len(measures)), np.nan)
    status = np.zeros((*shape, len(measures)), np.uint8)
    reasons: dict[tuple[int, int, int], str] = {}
    details: dict[tuple[int, int, int], Mapping[str, Any]] = {}
    floors: dict[tuple[int, int], Floor] = {}
    without_gold: dict[int | None, NDArray[np.int64]] = {}  # by the grade from which a unit is relevant

    def mark(why: Mapping[int, str], m: int, what: Status) -> None:
        """Take the values of pairs away, and what the measure had to show for them."""
        for pair, reason in why.items():
            s, q = divmod(int(pair), shape[1])
            values[s, q, m], status[s, q, m], reasons[s, q, m] = np.nan, what, reason
            details.pop((s, q, m), None)

    by_blocks = answered.models.blocks if answered is not None else None
    in_blocks = by_blocks(answered, measures) if by_blocks is not None and answered is not None else {}
    for m, measure in enumerate(measures):
        stage = measure.spec.stage
        data = judged if stage == "retrieval" else answered
        without = unscored.absent.get(stage, {}) if stage == "retrieval" or measure.spec.needs_answer else {}
        if data is None:
            mark(dict.fromkeys(range(shape[0] * shape[1]), f"no {stage} results"), m, Status.undefined)
        elif len(without) < len(systems):
            outcome = in_blocks.get(measure.name) or outcome_of(measure, data, shape[0] * shape[1])
            flat, rel = outcome.values, measure.rel
            if rel not in without_gold and judged is not None:
                without_gold[rel] = np.flatnonzero(judged.at(rel=rel).relevant == 0)
            no_gold = without_gold[rel] if stage == "retrieval" and measure.spec.needs_gold else _NO_PAIRS
            flat[no_gold] = max(0.0, measure.bounds[0]) if no_gold_is_zero else np.nan
            values[:, :, m] = flat.reshape(shape)
            if not np.isfinite(flat).all():
                nothing, infinite = np.flatnonzero(np.isnan(flat)).tolist(), np.flatnonzero(np.isinf(flat)).tolist()
                mark(dict.fromkeys(nothing, _why_undefined(measure)), m, Status.undefined)
                mark(dict.fromkeys(infinite, "the measure gave an infinite value"), m, Status.failed)
            mark(outcome.undefined, m, Status.undefined)
            if not no_gold_is_zero:
                mark(dict.fromkeys(no_gold.tolist(), NO_GOLD), m, Status.undefined)
            if stage == "retrieval" and measure.spec.needs_gold:
                mark(unscored.unmatchable, m, Status.undefined)
            mark(outcome.failed, m, Status.failed)
            details.update({(*divmod(int(pair), shape[1]), m): shown for pair, shown in outcome.details.items()})
            floors.update({(s, m): floor for s, floor in outcome.floors.items() if systems[s] not in without})
        for system, reason in without.items():
            start = list(systems).index(system) * shape[1]
            mark(dict.fromkeys(range(start, start + shape[1]), reason), m, Status.undefined)
        if stage == "answer" and measure.spec.needs_answer:
            for pair in unscored.missing:
                s, q = divmod(int(pair), shape[1])
                if status[s, q, m] == Status.ok and measure.spec.direction != "lower":
                    mark({pair: MISSING_ANSWER}, m, Status.undefined)
                    if missing_is_zero:
                        values[s, q, m], status[s, q, m] = 0.0, Status.ok
                elif status[s, q, m] == Status.ok or reasons.get((s, q, m)) == EMPTY_ANSWER:
                    mark({pair: NOTHING_TO_MEASURE}, m, Status.undefined)
            mark(unscored.unasked, m, Status.undefined)
            mark(unscored.unanswered, m, Status.failed)
        mark(unscored.failed, m, Status.failed)
    return Scores(
        tuple(systems),
        tuple(questions),
        tuple(measures),
        values=values,
        status=status,
        reasons=reasons,
        details=details,
        floors=floors,
        conversations=conversations,
    )


def outcome_of(measure: Measure, data: Judged | AnswerTable, pairs: int) -> MeasureResult:
    """What a measure gives for each pair. Where another package's raises, or gives no such column, its rows fail."""
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            column = measure.of(data)
        outcome = column if isinstance(column, MeasureResult) else MeasureResult(column)
        try:
            values = np.array(outcome.values, np.float64)
        except (TypeError, ValueError):
            values = np.zeros(())
        if values.shape != (pairs,):
            given = type(outcome.values).__name__
            raise ValueError(f"the measure gave {given} instead of {pairs} numbers, one per system and question")
        return replace(outcome, values=values)
    except KaratError:
        raise
    except Exception as error:
        if measure.spec.function.__module__.startswith("karat."):
            raise
        reason = f"{type(error).__name__}: {error}"
        return MeasureResult(np.full(pairs, np.nan), failed=dict.fromkeys(range(pairs), reason))


def _why_undefined(measure: Measure) -> str:
    if measure.spec.stage == "retrieval":
        return "the measure gave no value" if measure.spec.needs_gold else "nothing retrieved"
    return "no reference answer, or nothing to measure it on"
