"""chunk: the chunk that a hit names beside its id is the gold. Stores give hits ids of their own."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.run import Run
from karat.core.text.words import excerpt
from karat.match._matcher import Keys, Matcher, MatchInputs, column, column_or_none, ids_of, lacking, plain_id


def _hit_keys(run: Run) -> Sequence[Keys]:
    return [None if chunk is None else str(chunk).strip() for chunk in column_or_none(run, "chunk")]


def _fits(inputs: MatchInputs) -> str | None:
    known = {identifier.strip() for identifier in ids_of(inputs.golds)}
    named = (str(chunk).strip() in known for run in inputs.runs for chunk in column(run, "chunk") or ())
    return "the hits name the gold chunks beside their ids" if any(named) else None


matcher = Matcher(
    "chunk",
    unit="chunk",
    summary="the chunk that a hit names beside its id equals the id of the gold",
    strictness=5,
    prepare=lambda inputs: (plain_id, _hit_keys),
    fits=_fits,
    lacks=lacking("chunk"),
    why=lambda gold, key, view: ("unknown id", f"no chunk has the id {excerpt(gold.label)}"),
    must_fit=True,
)
