"""uuid: the hit's id carries the same `<urn:uuid:...>` as the gold, wherever it stands in the id."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import Context, Keys, Matcher, column, ids_of, plain_id, share_matching

_URN = re.compile(r"urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.I)


def uuid_of(identifier: str | None) -> str | None:
    """The lower-case uuid inside an id, or None.

    >>> uuid_of("doc-<urn:uuid:27C682DC-c97b-4c3e-b41c-999c65264a6d>::chunk-0")
    '27c682dc-c97b-4c3e-b41c-999c65264a6d'
    """
    found = _URN.search(identifier or "")
    return found[1].lower() if found else None


def _gold_key(gold: Gold) -> str | None:
    return uuid_of(gold.doc) or uuid_of(plain_id(gold))


def _hit_keys(run: Run) -> Sequence[Keys]:
    keys = [uuid_of(doc) for doc in run.doc_list]
    docs = column(run, "doc")
    return keys if docs is None else [k or uuid_of(str(d)) for k, d in zip(keys, docs, strict=True)]


def _prepare(context: Context) -> tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]:
    return _gold_key, _hit_keys


def _fits(context: Context) -> str | None:
    golds = [*ids_of(context.golds), *(g.doc for g in context.golds if g.doc is not None)]
    hits = max((share_matching(uuid_of, run.docs) for run in context.runs), default=0.0)
    return "gold and hits carry <urn:uuid:...>" if share_matching(uuid_of, golds) > 0.5 and hits > 0.5 else None


matcher = Matcher(
    "uuid",
    unit="document",
    summary="the same <urn:uuid:...> stands anywhere in both ids",
    strictness=50,
    prepare=_prepare,
    fits=_fits,
)
