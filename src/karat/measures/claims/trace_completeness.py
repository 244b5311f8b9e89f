"""TraceCompleteness."""

from __future__ import annotations

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.claims._table import Empty, over_claims
from karat.measures.claims._trace import RAGBENCH, Length, length_share

_RELATIONS: tuple[Relation, ...] = ("context by question", "context by answer")


@measure(
    name="TraceCompleteness",
    aliases=("trace_completeness",),
    needs_gold=False,
    relations=_RELATIONS,
    formula="length of sentences that are relevant and used / length of relevant sentences of the passages",
    defined_by=RAGBENCH,
    best_for="whether an answer takes up what is relevant in the passages",
    prefer="Completeness or ClaimRecall where there is a reference answer",
    variants=("TraceCompleteness(length=sentences)",),
)
def trace_completeness(
    answered: AnswerTable, *, length: Length = "tokens", empty: Empty = "undefined"
) -> MeasureResult:
    """Share of the relevant retrieved text that the answer uses.

    Sentences of the passages are marked, by a judge or in a file; each counts its words, or 1 with `length=sentences`.
    Undefined where no sentence is relevant; `empty=zero` scores that 0.
    """

    def score(table: ClaimTable) -> Floats:
        relevant = table.entailed("context", "question")
        return length_share(answered, table, table.entailed("context", "answer"), relevant, length)

    return over_claims(
        answered, "TraceCompleteness", _RELATIONS, score, empty=empty, nothing="no sentence of the passages is relevant"
    )
