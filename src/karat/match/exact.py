"""exact: the id of the hit is the id of the gold, surrounding blanks aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import Context, Keys, Matcher


def gold_key(gold: Gold) -> str | None:
    """The most specific name the gold has."""
    return gold.label.strip() or None


def _prepare(context: Context) -> tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]:
    return gold_key, lambda run: [doc.strip() for doc in run.doc_list]


matcher = Matcher(
    "exact",
    unit="id",
    summary="the id of the hit equals the id of the gold",
    strictness=0,
    prepare=_prepare,
    fits=lambda context: "ids compared as they are",
)
