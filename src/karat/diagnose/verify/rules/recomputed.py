"""Recomputed: the values that rows print of themselves, against their own rankings and gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from karat.core.text.words import plural
from karat.diagnose.verify.names import measure_of
from karat.diagnose.verify.numbers import Number
from karat.diagnose.verify.rows import Floats, MeasureValues, QuestionRows
from karat.results.verification import Figure

CREDITED_ONCE = "each unit is credited once, as karat counts; this dialect credits repeats."


def check(rows: QuestionRows, computed: Mapping[str, MeasureValues]) -> Iterator[Figure]:
    """One figure a system and column: how many of its values follow, and why the others do not."""
    for system, places in rows.by_system.items():
        for column, values in computed.items():
            numbers = rows.numbers[column]
            filled = [(i, n) for i in places if (n := numbers[i]) is not None and np.isfinite(values.own[i])]
            yield _checked(rows, system, column, filled, len(places), values)


def _checked(
    rows: QuestionRows, system: str, column: str, filled: Sequence[tuple[int, Number]], size: int, values: MeasureValues
) -> Figure:
    if not filled:
        return rows.figure(column, "unchecked", "its rows have no value, or none can be computed.", where=system)

    def differ(candidate: Floats) -> list[int]:
        return [i for i, number in filled if not number.agrees(candidate[i])]

    measure = measure_of(column, rows.k or 1)
    most = measure.bounds[1] if measure is not None else np.inf
    beyond = [(i, number) for i, number in filled if number.value > most + number.half]
    if beyond:
        i, number = beyond[0]
        likely = [("repeats counted", values.own), *values.mistakes]
        return rows.figure(
            column, "impossible", f"{plural(len(beyond), 'row')} above {most:g}", where=system,
            cause=next((cause for cause, other in likely if number.agrees(other[i])), "range"),
            printed=number.value, recomputed=float((values.own if values.once is None else values.once())[i]),
            cells=len(filled), apart=len(beyond), question=rows.ids[i],
        )  # fmt: skip
    apart = differ(values.own)
    if not apart:
        blank = size - len(filled)
        why = f"{plural(blank, 'row')} have no value." if blank else ""
        return rows.figure(column, "ok", why, where=system, cells=len(filled))
    if values.once is not None and not differ(values.once()):
        return rows.figure(column, "ok", CREDITED_ONCE, where=system, cells=len(filled))
    left = [(cause, set(differ(other))) for cause, other in values.mistakes]
    cause = next((cause for cause, rest in left if not rest), "")
    if not cause and len(apart) < len(filled):
        cause = next((cause for cause, rest in left if not rest & set(apart)), "")
    detail = f"{len(apart)} of {len(filled)} rows differ"
    i, number = next(one for one in filled if one[0] == apart[0])
    return rows.figure(
        column, "mismatch", detail if cause else f"{detail}, and no cause was found.", where=system, cause=cause,
        printed=number.value, recomputed=float(values.own[i]), cells=len(filled), apart=len(apart),
        question=rows.ids[i],
    )  # fmt: skip
