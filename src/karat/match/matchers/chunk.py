"""chunk: the chunk that a hit names beside its id is the gold, in its document where both name one.

Stores give hits ids of their own. Chunks may be numbered anew in each document.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.run import Run
from karat.core.text.words import excerpt
from karat.core.types import Gold
from karat.match._files import FileNames
from karat.match._matcher import Keys, Matcher, MatchInputs, Rule, column, column_or_none, lacking


def _chunk(gold: Gold) -> str | None:
    return (gold.chunk or gold.id or "").strip() or None


def _chunks(run: Run) -> list[str | None]:
    return [None if chunk is None else str(chunk).strip() for chunk in column_or_none(run, "chunk")]


def _names_documents(inputs: MatchInputs) -> bool:
    return all(gold.doc for gold in inputs.golds) and all(column(run, "doc") is not None for run in inputs.runs)


def _prepare(inputs: MatchInputs) -> Rule:
    if not _names_documents(inputs):
        return _chunk, _chunks
    files = FileNames(inputs.golds, inputs.runs)

    def gold_key(gold: Gold) -> Keys:
        chunk = _chunk(gold)
        return None if chunk is None else (f"{files.of_gold(gold)}\x00{chunk}",)

    def hit_keys(run: Run) -> Sequence[Keys]:
        pairs = zip(files.of_run(run), _chunks(run), strict=True)
        return [None if chunk is None else (f"{file}\x00{chunk}",) for file, chunk in pairs]

    return gold_key, hit_keys


def _fits(inputs: MatchInputs) -> str | None:
    """Chunks that are named alone must be of one document each, or their names say too little."""
    known = {chunk for gold in inputs.golds if (chunk := _chunk(gold)) is not None}
    is_met = False
    for run in inputs.runs:
        document_of: dict[str, object] = {}
        for chunk, doc in zip(_chunks(run), column_or_none(run, "doc"), strict=True):
            if chunk in known:
                is_met = True
                if document_of.setdefault(chunk, doc) != doc and not _names_documents(inputs):
                    return None
    return "the hits name the gold chunks beside their ids" if is_met else None


matcher = Matcher(
    "chunk",
    unit="chunk",
    summary="the chunk that a hit names beside its id is the gold, in the same document where both name one",
    strictness=5,
    prepare=_prepare,
    fits=_fits,
    lacks=lacking("chunk"),
    why=lambda gold, key, view: ("unknown id", f"no chunk has the id {excerpt(gold.label)}"),
    must_fit=True,
)
