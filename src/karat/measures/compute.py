"""Scores of all measures over all systems and questions, each with its status and reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
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
NOTHING_TO_MEASURE = f"{MISSING_ANSWER}, and so nothing to measure"


def compute(
    measures: Sequence[Measure],
    systems: Sequence[str],
    questions: Sequence[str],
    *,
    judged: Judged | None = None,
    answered: AnswerTable | None = None,
    unmatchable: Mapping[int, str] | None = None,
    failed: Mapping[int, str] | None = None,
    unanswered: Mapping[int, str] | None = None,
    unasked: Mapping[int, str] | None = None,
    missing: Collection[int] = (),
    missing_is_zero: bool = False,
    absent: Mapping[str, Mapping[str, str]] | None = None,
    no_gold_is_zero: bool = False,
) -> Scores:
    """Every measure of every pair.

    `unmatchable` gives pairs whose gold the hits cannot show: what needs gold is undefined there, with the reason.
    `failed` gives pairs that have no result, with the reason; `unanswered` those whose answer alone failed, and
    `unasked` those that no answer was asked for, whose scores of answers are undefined. `missing` are those whose
    results lack an answer: undefined too, or 0 with `missing_is_zero`. `absent` gives, per stage, the systems whose
    results hold nothing of that stage, with the reason: their scores are undefined, not 0.
    """
    shape = (len(systems), len(questions))
    values = np.full((*shape, len(measures)), np.nan)
    status = np.zeros((*shape, len(measures)), np.uint8)
    reasons: dict[tuple[int, int, int], str] = {}
    details: dict[tuple[int, int, int], Mapping[str, Any]] = {}
    floors: dict[tuple[int, int], Floor] = {}

    def mark(why: Mapping[int, str], m: int, what: Status) -> None:
        """Take the values of pairs away, and what the measure had to show for them."""
        for pair, reason in why.items():
            s, q = divmod(int(pair), shape[1])
            values[s, q, m], status[s, q, m], reasons[s, q, m] = np.nan, what, reason
            details.pop((s, q, m), None)

    for m, measure in enumerate(measures):
        stage = measure.spec.stage
        data = judged if stage == "retrieval" else answered
        without = (absent or {}).get(stage, {}) if stage == "retrieval" or measure.spec.needs_answer else {}
        if data is None:
            mark(dict.fromkeys(range(shape[0] * shape[1]), f"no {stage} results"), m, Status.undefined)
        elif len(without) < len(systems):
            outcome = _outcome(measure, data, shape[0] * shape[1])
            flat, no_gold = outcome.values, _without_gold(measure, judged)
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
                mark(unmatchable or {}, m, Status.undefined)
            mark(outcome.failed, m, Status.failed)
            details.update({(*divmod(int(pair), shape[1]), m): shown for pair, shown in outcome.details.items()})
            floors.update({(s, m): floor for s, floor in outcome.floors.items() if systems[s] not in without})
        for system, reason in without.items():
            start = list(systems).index(system) * shape[1]
            mark(dict.fromkeys(range(start, start + shape[1]), reason), m, Status.undefined)
        if stage == "answer" and measure.spec.needs_answer:
            for pair in missing:
                s, q = divmod(int(pair), shape[1])
                if status[s, q, m] == Status.ok and measure.spec.direction != "lower":
                    mark({pair: MISSING_ANSWER}, m, Status.undefined)
                    if missing_is_zero:
                        values[s, q, m], status[s, q, m] = 0.0, Status.ok
                elif status[s, q, m] == Status.ok or reasons.get((s, q, m)) == EMPTY_ANSWER:
                    mark({pair: NOTHING_TO_MEASURE}, m, Status.undefined)
            mark(unasked or {}, m, Status.undefined)
            mark(unanswered or {}, m, Status.failed)
        mark(failed or {}, m, Status.failed)
    return Scores(
        tuple(systems),
        tuple(questions),
        tuple(measures),
        values=values,
        status=status,
        reasons=reasons,
        details=details,
        floors=floors,
    )


def _outcome(measure: Measure, data: Judged | AnswerTable, pairs: int) -> MeasureResult:
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


def _without_gold(measure: Measure, judged: Judged | None) -> NDArray[np.int64]:
    """Pairs for which a measure of retrieval needs relevant gold and there is none."""
    if judged is None or measure.spec.stage != "retrieval" or not measure.spec.needs_gold:
        return np.zeros(0, np.int64)
    return np.flatnonzero(judged.at(rel=measure.rel).relevant == 0)


def _why_undefined(measure: Measure) -> str:
    if measure.spec.stage == "retrieval":
        return "the measure gave no value" if measure.spec.needs_gold else "nothing retrieved"
    return "no reference answer, or nothing to measure it on"
