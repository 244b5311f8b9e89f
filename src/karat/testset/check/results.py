"""Results: hits of results that the index does not know."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import excerpt, percent, plural
from karat.testset.check._check import CheckContext, Finding, check


@check(16)
def results(context: CheckContext) -> Iterator[Finding]:
    """Hits of results that the index does not know."""
    known = context.chunks.row_of
    for run in context.runs:
        ids = [id_.strip() for id_ in run.doc_list]
        strange = [id_ for id_ in dict.fromkeys(ids) if id_ not in known]
        lost = sum(1 for id_ in ids if id_ not in known)
        if not lost:
            continue
        share = lost / len(ids)
        yield Finding(
            check="results",
            severity="broken" if lost == len(ids) else "warning",
            title=f"{run.name}: {plural(lost, 'hit')} of {len(ids):,} {'is' if lost == 1 else 'are'} no chunk of "
            "this index",
            text=f"{percent(share, 0)} of its hits. They come from another index, or are named in another way.",
            numbers={"hits": len(ids), "unknown": lost, "share": share},
            examples=tuple(excerpt(id_) for id_ in strange[:5]),
            remedy="Search this index again, or check the index that belongs to these results.",
        )
