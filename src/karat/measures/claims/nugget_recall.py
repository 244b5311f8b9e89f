"""NuggetRecall."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.core.claims import ENTAILED, PARTIAL, ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.claims._table import Empty, over_claims, ratio

Over = Literal["vital", "all", "weighted"]
_OKAY: dict[Over, float] = {"vital": 0.0, "all": 1.0, "weighted": 0.5}  # what a nugget that is not vital weighs
_RELATIONS: tuple[Relation, ...] = ("nugget by answer",)
NO_VITAL = "the question has no vital nugget"


@measure(
    name="NuggetRecall",
    aliases=("nugget_recall",),
    needs_gold=False,
    relations=_RELATIONS,
    shown=("over",),
    formula="sum of weight x support / sum of weights; support 1, partial 0.5 (strict 0), none 0; weight of an okay "
    "nugget 0 (vital), 1 (all), 0.5 (weighted)",
    defined_by="TREC RAG track (Pradeep et al., 2024)",
    best_for="how many of the facts that an answer must state it states",
    prefer="ClaimRecall where there are reference answers and no nuggets",
    variants=("NuggetRecall(over=vital, strict)", "NuggetRecall(over=all)", "NuggetRecall(over=weighted)"),
)
def nugget_recall(
    answered: AnswerTable, *, over: Over = "vital", strict: bool = False, empty: Empty = "undefined"
) -> MeasureResult:
    """Share of the question's nuggets that the answer states.

    A nugget is a fact that a good answer states: a vital one must be there, another is okay to have. One that the
    answer states in part counts a half, and nothing with `strict`. `over=vital` looks at the vital nuggets, `over=all`
    at all, `over=weighted` counts the others half: (vital + 0.5 okay) / (n vital + 0.5 n okay). TREC RAG calls them
    vital, all and weighted score. A question without vital nuggets is undefined over them; `empty=zero` scores it 0, as
    the track's code does (dialect trec-rag), if it has other nuggets: one without any is undefined.
    """

    def score(table: ClaimTable) -> Floats:
        nuggets = table.of_side("nugget")
        verdicts = table.verdicts("nugget", "answer")[nuggets]
        support = (verdicts == ENTAILED) + (0.0 if strict else 0.5) * (verdicts == PARTIAL)
        weight = np.where(table.vital[nuggets], 1.0, _OKAY[over])
        pair = table.pair[nuggets]
        total: Floats = np.bincount(pair, weight, minlength=table.pairs).astype(np.float64)
        held: Floats = np.bincount(pair, weight * support, minlength=table.pairs).astype(np.float64)
        values = ratio(held, total)
        values[(total == 0) & (table.count("nugget") > 0) & (empty == "zero")] = 0.0
        return values

    return over_claims(answered, "NuggetRecall", _RELATIONS, score, nothing=NO_VITAL)
