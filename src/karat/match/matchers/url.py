"""url: the same address, whatever the scheme, host case, trailing slash, fragment or percent-encoding."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.run import Run
from karat.core.text.words import excerpt
from karat.core.types import Gold
from karat.match._files import address_of, is_url
from karat.match._matcher import (
    Keys,
    Matcher,
    MatchInputs,
    best_share,
    column,
    column_or_none,
    ids_of,
    plain_id,
    share_matching,
)


def _gold_key(gold: Gold) -> str | None:
    name = gold.url if gold.url is not None else gold.doc if gold.doc is not None else plain_id(gold)
    return address_of(name) if name else None


def _hit_keys(run: Run) -> Sequence[Keys]:
    urls = zip(column_or_none(run, "url"), run.doc_list, strict=True)
    return [address_of(str(url)) if url is not None else address_of(id_) for url, id_ in urls]


def _fits(inputs: MatchInputs) -> str | None:
    named = [g.url for g in inputs.golds if g.url is not None] or ids_of(inputs.golds)
    is_common = share_matching(is_url, named) > 0.5 and best_share(is_url, inputs.runs, "url") > 0.5
    return "gold and hits are web addresses" if is_common else None


def _lacks(run: Run) -> str | None:
    return None if not len(run) or column(run, "url") is not None or share_matching(address_of, run.docs) else "url"


matcher = Matcher(
    "url",
    unit="page of the web",
    summary="the same address, whatever the scheme, host case, trailing slash, fragment or percent-encoding",
    strictness=40,
    prepare=lambda inputs: (_gold_key, _hit_keys),
    fits=_fits,
    lacks=_lacks,
    why=lambda gold, key, view: (
        "unknown address",
        f"no chunk comes from {excerpt(gold.url or gold.doc or gold.label)}",
    ),
)
