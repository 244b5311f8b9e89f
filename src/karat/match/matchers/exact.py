"""exact: the id of the hit is the id of the gold, surrounding blanks aside."""

from __future__ import annotations

from karat.core.text.words import excerpt
from karat.match._matcher import Matcher, MatchInputs, Rule


def _prepare(inputs: MatchInputs) -> Rule:
    return lambda gold: gold.label.strip() or None, lambda run: [doc.strip() for doc in run.doc_list]


matcher = Matcher(
    "exact",
    unit="id",
    summary="the id of the hit equals the id of the gold",
    strictness=0,
    prepare=_prepare,
    why=lambda gold, key, view: ("unknown id", f"no chunk has the id {excerpt(gold.label)}"),
    plain=True,
)
