"""ContextUtilisation."""

from __future__ import annotations

from karat.core.claims import Relation
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._parts import retrieved
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share

_RELATIONS: tuple[Relation, ...] = ("reference by passage", "reference by answer")


@measure(
    name="ContextUtilisation",
    aliases=("context_utilization",),
    needs_gold=False,
    needs_contexts=True,
    relations=_RELATIONS,
    formula="reference claims entailed by a passage and by the answer / reference claims entailed by a passage",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="whether an answerer uses what was retrieved for it",
    prefer="ClaimRecall for what the whole system leaves unsaid, whoever lost it",
)
def context_utilisation(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Of the reference's claims that a passage entails, the share that the answer entails too.

    RAGChecker calls it context_utilization. Undefined where no passage entails a claim of the reference; `empty=zero`
    scores that 0, as RAGChecker's code does.
    """
    return over_claims(
        answered,
        "ContextUtilisation",
        _RELATIONS,
        lambda table: share(table, table.entailed("reference", "answer"), retrieved(table)),
        empty=empty,
        nothing="no passage entails a claim of the reference",
        shown=ShownClaims("reference", "answer", retrieved),
    )
