"""What all measures of the claims table share: who has no score, and shares of claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from karat.core.claims import SIDES, ClaimTable, Relation, Side
from karat.core.errors import UsageError
from karat.core.measure import AnswerTable, Bools, Floats, MeasureResult

Empty = Literal["undefined", "zero"]
"""What 0 of 0 is: karat leaves it out aloud, RAGChecker's code scores it 0."""

NOT_JUDGED = "its claims were not judged"
_NOTHING: dict[Side, str] = {
    "answer": "the answer claims nothing",
    "reference": "there is no reference answer that claims anything",
    "sentence": "the answer has no sentence",
    "nugget": "the question has no nuggets",
    "context": "there are no passages",
}


def claims_of(answered: AnswerTable, measure: str) -> ClaimTable:
    """The claims table, which must have been made or imported."""
    if answered.claims is None:
        raise UsageError(
            f"{measure} needs claims and their verdicts, and there are none. Name a claims file with --claims, or let "
            "them be judged: --claims lexical, --claims nli:FOLDER, or --model NAME."
        )
    return answered.claims


def share(table: ClaimTable, marked: Bools, among: Bools) -> Floats:
    """Of the claims `among` the claims of each pair, the share that is marked; NaN where there are none."""
    total = table.per_pair(among)
    values: Floats = np.divide(table.per_pair(marked & among), total, out=np.full(len(total), np.nan), where=total > 0)
    return values


def over_claims(
    answered: AnswerTable,
    measure: str,
    relations: Sequence[Relation],
    score: Callable[[ClaimTable], Floats],
    *,
    empty: Empty = "undefined",
    nothing: str | None = None,
) -> MeasureResult:
    """A score of each pair from the claims table: undefined or failed where what it needs is not known.

    `score` gives NaN where it would divide by 0; `nothing` says why that is, unless a side that has no claims does.
    """
    table = claims_of(answered, measure)
    values = score(table)
    undefined: dict[int, str] = {}
    failed: dict[int, str] = {}
    sides = list(dict.fromkeys(relation.partition(" by ")[0] for relation in relations))
    for pair in np.flatnonzero(np.isnan(values)).tolist():
        if empty == "zero":
            values[pair] = 0.0
        else:
            undefined[pair] = nothing or "there is nothing to measure it on"
    for name in reversed(sides):
        side: Side = name  # type: ignore[assignment]
        none = table.known[:, SIDES.index(side)] & (table.per_pair(table.of_side(side)) == 0)
        undefined |= dict.fromkeys(np.flatnonzero(none & np.isnan(values)).tolist(), _NOTHING[side])
        unknown = np.flatnonzero(~table.known[:, SIDES.index(side)]).tolist()
        undefined |= dict.fromkeys(unknown, NOT_JUDGED)
    for relation in relations:
        failed |= table.lacking(relation)
        failed |= {pair: why for (pair, of), why in table.failed.items() if of == relation}
    return MeasureResult(values, undefined, failed=failed)
