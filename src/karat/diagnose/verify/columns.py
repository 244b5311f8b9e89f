"""Columns: the values that rows print of themselves, against their own rankings and gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.words import plural
from karat.diagnose.verify._causes import because, cause_of
from karat.diagnose.verify.names import measure_of
from karat.results.verification import Figure

if TYPE_CHECKING:
    from karat.diagnose.verify._digits import Number
    from karat.diagnose.verify.aggregates import Values
    from karat.diagnose.verify.rows import Rows

SLACK = 1e-9


def check_columns(rows: Rows, computed: Mapping[str, Values]) -> list[Figure]:
    """One figure a system and column: how many of its values follow, and why the others do not."""
    found = []
    for system, places in _by_system(rows).items():
        for column, values in computed.items():
            numbers = rows.numbers.get(column)
            if numbers is not None:
                found.append(_checked(rows, system, column, places, numbers, values))
    return found


def _by_system(rows: Rows) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for i, system in enumerate(rows.systems):
        groups.setdefault(system, []).append(i)
    return groups


def _checked(
    rows: Rows, system: str, column: str, places: Sequence[int], numbers: Sequence[Number | None], values: Values
) -> Figure:
    filled = [(i, number) for i in places if (number := numbers[i]) is not None and np.isfinite(values.own[i])]
    if not filled:
        return Figure(system, column, "rows", "unchecked", why="its rows have no value, or none can be computed.")

    def differ(candidate: object) -> list[int]:
        return [i for i, number in filled if not number.agrees(candidate[i])]  # type: ignore[index]

    apart = differ(values.own)
    measure = measure_of(column, rows.k or 1)
    most = measure.bounds[1] if measure is not None else np.inf
    beyond = [i for i, number in filled if number.value > most + number.half]
    if beyond:
        i = beyond[0]
        number = numbers[i]
        assert number is not None
        likely = [("repeats counted", values.own), *values.others.items()]
        cause = next((cause_of(c) for c, other in likely if c != "once" and number.agrees(other[i])), "range")
        more = f"{plural(len(beyond), 'row')} above {most:g}"
        return Figure(
            system, column, "rows", "impossible", number.value, float(values.others.get("once", values.own)[i]), cause,
            because(cause, more), len(filled), len(beyond), rows.ids[i],
        )  # fmt: skip
    if not apart:
        blank = len(places) - len(filled)
        why = f"{plural(blank, 'row')} have no value." if blank else ""
        return Figure(system, column, "rows", "ok", cells=len(filled), why=why)
    once = values.others.get("once")
    if once is not None and not differ(once):
        said = "each unit is credited once, as karat counts; this dialect credits repeats."
        return Figure(system, column, "rows", "ok", cells=len(filled), why=said)
    i = apart[0]
    cause = next((cause_of(c) for c, other in values.others.items() if c != "once" and not differ(other)), "")
    if not cause and len(apart) < len(filled):
        some = ((c, set(differ(other))) for c, other in values.others.items() if c != "once")
        cause = next((cause_of(c) for c, left in some if not left & set(apart)), "")
    number = numbers[i]
    assert number is not None
    more = f"{len(apart)} of {len(filled)} rows differ"
    why = because(cause, more) if cause else f"{more}, and no cause was found."
    return Figure(
        system, column, "rows", "mismatch", number.value, float(values.own[i]), cause, why, len(filled), len(apart),
        rows.ids[i],
    )  # fmt: skip
