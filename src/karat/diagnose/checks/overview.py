"""overview: what the gold names, what the index holds, and what both have, by the kind of unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding

if TYPE_CHECKING:
    from karat.match import Resolution

_NAMES = {"url": "web page", "doc": "document", "uuid": "document", "exact": "id"}


def _sentence(found: Resolution, kind: str, units: Sequence[int]) -> tuple[str, dict[str, int]]:
    keys = {key for u in units if (key := found.units.key[u]) is not None}
    if kind not in found.row_keys:
        held = sum(1 for u in units if found.reached[u])
        word = {"quote": "quote", "span": "span"}.get(kind, "unit")
        said = f"the gold holds {plural(len(units), word)}; {held:,} of them stand{'s' if held == 1 else ''} in chunks"
        return said, {"expected": len(units), "common": held}
    indexed = {key for keys_ in found.row_keys[kind] for key in keys_}
    common = len(keys & indexed)
    numbers = {"expected": len(keys), "indexed": len(indexed), "common": common}
    if kind == "page":
        ours, theirs = ({page.doc for _, page in side} for side in (keys, indexed))
        said = (
            f"the gold names {plural(len(keys), 'page')} of {plural(len(ours), 'file')}; the index holds "
            f"{plural(len(indexed), 'page')} of {plural(len(theirs), 'file')}; common {common:,}"
        )
        return said, {**numbers, "expected_files": len(ours), "indexed_files": len(theirs)}
    noun = _NAMES.get(kind, "key")
    return (
        f"the gold names {plural(len(keys), noun)}; the index holds {plural(len(indexed), noun)}; common {common:,}",
        numbers,
    )


def _find(case: Case) -> Iterator[Finding]:
    found = case.resolution
    kinds = dict.fromkeys(kind for u, kind in enumerate(found.kinds) if found.relevant[u])
    for kind in kinds:
        units = [u for u, k in enumerate(found.kinds) if k == kind and found.relevant[u]]
        said, numbers = _sentence(found, kind, units)
        yield Finding("overview", "info", f"by {kind}: {said}", "", numbers)


check = Check("overview", "what the gold names, what the index holds, and what both have", _find, 0)
