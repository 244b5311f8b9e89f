"""TraceRelevance."""

from __future__ import annotations

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.claims._table import over_claims
from karat.measures.claims._trace import RAGBENCH, Length, length_share

_RELATIONS: tuple[Relation, ...] = ("context by question",)


@measure(
    name="TraceRelevance",
    aliases=("trace_relevance",),
    needs_gold=False,
    needs_answer=False,
    relations=_RELATIONS,
    formula="length of relevant sentences of the passages / length of all their sentences",
    defined_by=RAGBENCH,
    best_for="how much of what was retrieved bears on the question",
    prefer="Precision@k where there is gold",
    variants=("TraceRelevance(length=sentences)",),
)
def trace_relevance(answered: AnswerTable, *, length: Length = "tokens") -> MeasureResult:
    """Share of the retrieved text that is relevant to the question.

    TRACe calls it context relevance. Sentences of the passages are marked, by a judge or in a file; each counts its
    words, or 1 with `length=sentences`. Undefined without passages.
    """

    def score(table: ClaimTable) -> Floats:
        sentences = table.of_side("context")
        return length_share(answered, table, table.entailed("context", "question"), sentences, length)

    return over_claims(answered, "TraceRelevance", _RELATIONS, score, nothing="the passages hold no words")
