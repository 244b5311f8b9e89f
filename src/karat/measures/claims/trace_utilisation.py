"""TraceUtilisation."""

from __future__ import annotations

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.claims._table import over_claims
from karat.measures.claims._trace import RAGBENCH, Length, length_share

_RELATIONS: tuple[Relation, ...] = ("context by answer",)


@measure(
    name="TraceUtilisation",
    aliases=("trace_utilisation",),
    needs_gold=False,
    relations=_RELATIONS,
    formula="length of sentences of the passages that the answer uses / length of all their sentences",
    defined_by=RAGBENCH,
    best_for="how much of what was retrieved an answer makes use of",
    prefer="ContextUtilisation for relevant claims instead of all text",
    variants=("TraceUtilisation(length=sentences)",),
)
def trace_utilisation(answered: AnswerTable, *, length: Length = "tokens") -> MeasureResult:
    """Share of the retrieved text that the answer uses.

    TRACe calls it context utilization. Sentences of the passages are marked, by a judge or in a file; each counts its
    words, or 1 with `length=sentences`. Undefined without passages.
    """

    def score(table: ClaimTable) -> Floats:
        sentences = table.of_side("context")
        return length_share(answered, table, table.entailed("context", "answer"), sentences, length)

    return over_claims(answered, "TraceUtilisation", _RELATIONS, score, nothing="the passages hold no words")
