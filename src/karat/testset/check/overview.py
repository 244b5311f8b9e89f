"""Overview: what the gold names, what the index holds, and what both have, by the kind of unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.core.text.words import plural
from karat.match import Resolution
from karat.testset.check._check import CheckContext, Finding, check

_NAMES = {"url": "web page", "doc": "document", "uuid": "document", "exact": "id"}


def _sentence(resolution: Resolution, kind: str, units: Sequence[int]) -> tuple[str, dict[str, int]]:
    keys = {key for u in units if (key := resolution.units.key[u]) is not None}
    if not resolution.matchers[kind].is_keyed:
        held = sum(1 for u in units if resolution.reached[u])
        word = {"quote": "quote", "span": "span"}.get(kind, "unit")
        text = f"the gold holds {plural(len(units), word)}; {held:,} of them stand{'s' if held == 1 else ''} in chunks"
        return text, {"expected": len(units), "common": held}
    indexed = {key for keys_ in resolution.row_keys[kind] for key in keys_}
    common = len(keys & indexed)
    numbers = {"expected": len(keys), "indexed": len(indexed), "common": common}
    if kind == "page":
        ours, theirs = ({page.doc for _, page in side} for side in (keys, indexed))
        text = (
            f"the gold names {plural(len(keys), 'page')} of {plural(len(ours), 'file')}; the index holds "
            f"{plural(len(indexed), 'page')} of {plural(len(theirs), 'file')}; common {common:,}"
        )
        return text, {**numbers, "expected_files": len(ours), "indexed_files": len(theirs)}
    noun = _NAMES.get(kind, "key")
    return (
        f"the gold names {plural(len(keys), noun)}; the index holds {plural(len(indexed), noun)}; common {common:,}",
        numbers,
    )


@check(99)
def overview(context: CheckContext) -> Iterator[Finding]:
    """What the gold names, what the index holds, and what both have."""
    resolution = context.resolution
    kinds = dict.fromkeys(kind for u, kind in enumerate(resolution.kinds) if resolution.relevant[u])
    for kind in kinds:
        units = [u for u, k in enumerate(resolution.kinds) if k == kind and resolution.relevant[u]]
        text, numbers = _sentence(resolution, kind, units)
        yield Finding(check="overview", severity="info", title=f"by {kind}: {text}", text="", numbers=numbers)
