"""Earlier: questions that were asked, found by what they share, so that not each is compared with each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from karat.results.drafts import Draft

Stems = Callable[[str], frozenset[str]]


class Earlier:
    """Texts in the order in which they were asked, by their stems and by the rows they are about."""

    def __init__(self, stems: Stems) -> None:
        self._stems = stems
        self._count = 0
        self._bare: list[int] = []
        self._by_stem: dict[str, list[int]] = {}
        self._by_row: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, text: str, rows: Collection[int] = ()) -> None:
        """Note one more text."""
        stems = self._stems(text)
        if not stems:
            self._bare.append(self._count)
        for stem in stems:
            self._by_stem.setdefault(stem, []).append(self._count)
        for row in rows:
            self._by_row.setdefault(row, []).append(self._count)
        self._count += 1

    def worth(self, text: str, share: float, rows: Collection[int] = ()) -> list[int]:
        """The places of texts that can have this share of all stems in common with it, or are about one of the rows.

        Who shares so many misses few of its stems: of the rarest, one more than may be missed, it has at least one.
        """
        stems = self._stems(text)
        lists = sorted((self._by_stem.get(stem, ()) for stem in stems), key=len)
        found = set(() if stems else self._bare)
        for places in lists[: len(stems) - math.ceil(share * len(stems)) + 1]:
            found.update(places)
        for row in rows:
            found.update(self._by_row.get(row, ()))
        return sorted(found)


class Kept:
    """The drafts accepted so far, noted as their list grows."""

    def __init__(self, stems: Stems) -> None:
        self._stems = stems
        self._earlier = Earlier(stems)
        self._last: Draft | None = None

    def of(self, accepted: Sequence[Draft]) -> Earlier:
        """The accepted drafts to be looked up; begun anew where the list is not the one that was known, grown."""
        known = len(self._earlier)
        if known > len(accepted) or (known and accepted[known - 1] is not self._last):
            self._earlier, known = Earlier(self._stems), 0
        for draft in accepted[known:]:
            self._earlier.add(draft.text, {fragment.row for fragment in draft.fragments})
            self._last = draft
        return self._earlier
