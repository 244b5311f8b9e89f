"""uuid: the hit's id carries the same `<urn:uuid:...>` as the gold, wherever it stands in the id."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import (
    Keys,
    Matcher,
    MatchInputs,
    best_share,
    column_or_none,
    ids_of,
    plain_id,
    share_matching,
    unknown_document,
)

_URN = re.compile(r"urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.I)


def uuid_of(identifier: str | None) -> str | None:
    """The lower-case uuid inside an id, or None.

    >>> uuid_of("doc-<urn:uuid:27C682DC-c97b-4c3e-b41c-999c65264a6d>::chunk-0")
    '27c682dc-c97b-4c3e-b41c-999c65264a6d'
    """
    urn = _URN.search(identifier or "")
    return urn[1].lower() if urn else None


def _gold_key(gold: Gold) -> str | None:
    return uuid_of(gold.doc) or uuid_of(plain_id(gold))


def _hit_keys(run: Run) -> Sequence[Keys]:
    return [uuid_of(i) or uuid_of(str(d)) for i, d in zip(run.doc_list, column_or_none(run, "doc"), strict=True)]


def _fits(inputs: MatchInputs) -> str | None:
    golds = [*ids_of(inputs.golds), *(g.doc for g in inputs.golds if g.doc is not None)]
    is_common = share_matching(uuid_of, golds) > 0.5 and best_share(uuid_of, inputs.runs) > 0.5
    return "gold and hits carry <urn:uuid:...>" if is_common else None


matcher = Matcher(
    "uuid",
    unit="document",
    summary="the same <urn:uuid:...> stands anywhere in both ids",
    strictness=50,
    prepare=lambda inputs: (_gold_key, _hit_keys),
    fits=_fits,
    why=unknown_document,
    larger=True,
)
