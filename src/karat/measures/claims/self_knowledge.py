"""SelfKnowledge."""

from __future__ import annotations

from karat.core.claims import Relation
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._parts import known_before
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of_answer

_RELATIONS: tuple[Relation, ...] = ("answer by passage", "answer by reference")


@measure(
    name="SelfKnowledge",
    direction="none",
    needs_gold=False,
    needs_contexts=True,
    relations=_RELATIONS,
    formula="answer claims that the reference entails and no passage does / answer claims",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="how much of what is right in an answer the model knew without its passages",
    prefer="Faithfulness(by=claims) where answers must keep to their passages",
)
def self_knowledge(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Share of the answer's claims that are right and that no passage entails.

    RAGChecker calls it self_knowledge. Neither high nor low is better: it is right, and not from the passages. An
    answer that claims nothing is undefined. `empty=zero` scores it 0, and an answer without passages too, as
    RAGChecker's code does.
    """
    return over_claims(
        answered,
        "SelfKnowledge",
        _RELATIONS,
        lambda table: share_of_answer(table, known_before(table), empty),
        empty=empty,
        shown=ShownClaims("answer", "reference", known_before),
    )
