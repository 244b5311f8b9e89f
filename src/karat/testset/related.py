"""Related: which other chunk a question over two chunks can join to one. Never a random one."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.testset.once import once
from karat.testset.sample import begins

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.retrieve.engines.dense import DenseEngine

NEAREST = 10  # neighbours that are looked at
ABOVE = 0.25  # of the way from unrelated to identical, from which two chunks speak of related things
_PAIRS = 500
SAME = 0.95  # cosine from which the other chunk says the same
_LINK = re.compile(r"\]\(\s*<?([^)\s>]{1,2000})|(https?://[^\s)>\]\"']{1,2000})")


@dataclass
class Related:
    """Partners of chunks: those they link to, then those near in meaning.

    `dense` has the vectors of all rows. `usable` rows may be partners.
    """

    chunks: Chunks
    usable: Collection[int]
    dense: DenseEngine

    def __post_init__(self) -> None:
        self.usable = frozenset(self.usable)

    @once
    def partners(self, row: int) -> tuple[int, ...]:
        """The rows related to one, those it links to first, then the nearest; none where nothing is near."""
        others = dict.fromkeys((*self._linked(row), *self._near(row)))
        return tuple(other for other in others if other in self.usable and self._apart(row, other))

    @cached_property
    def floor(self) -> float:
        """How alike two chunks are that have nothing to do with one another: the median cosine of pairs by lot."""
        size = len(self.chunks)
        if size < 2:
            return 0.0
        left, right = np.random.default_rng(size).integers(0, size, (2, _PAIRS))
        apart = left != right
        cosines = np.einsum("ij,ij->i", *(self.dense.vectors_of(rows[apart]) for rows in (left, right)))
        return round(float(np.median(cosines)), 5) if len(cosines) else 0.0

    def _near(self, row: int) -> list[int]:
        """Neighbours that are near enough, and do not say the same."""
        rows, cosines = self.dense.search_vectors(self.dense.vectors_of(np.array([row])), 2 * NEAREST + 1).of(0)
        least = self.floor + ABOVE * (1 - self.floor)
        near = zip(rows.tolist(), np.round(cosines, 5).tolist(), strict=True)
        return [other for other, cosine in near if least <= cosine < SAME and other in self.usable][:NEAREST]

    def _linked(self, row: int) -> list[int]:
        """The first usable chunk of each document that a chunk links to."""
        rows = []
        for markdown, plain in _LINK.findall(self.chunks[row].text):
            target = _address(markdown or plain)
            doc = self._by_address.get(target) or self._by_address.get(target.rsplit("/", 1)[-1])
            if doc is not None and doc != self.chunks[row].doc:
                rows += [other for other in self._by_doc[doc] if other in self.usable][:1]
        return list(dict.fromkeys(rows))

    def _apart(self, row: int, other: int) -> bool:
        """Whether two chunks are different stretches of text: neighbours that overlap share what would be asked."""
        one, two = self.chunks[row], self.chunks[other]
        if row == other or one.text == two.text:
            return False
        if one.doc != two.doc or one.span is None or two.span is None:
            return True
        return min(one.span[1], two.span[1]) <= max(one.span[0], two.span[0])

    @cached_property
    def _by_doc(self) -> dict[str, list[int]]:
        by_doc: dict[str, list[int]] = {}
        for row, doc in enumerate(self.chunks.column("doc")):
            by_doc.setdefault(doc, []).append(row)
        spans = self.chunks.column("span")
        for rows in by_doc.values():
            rows.sort(key=lambda row: (begins(spans[row]), row))
        return by_doc

    @cached_property
    def _by_address(self) -> dict[str, str]:
        """Documents by what links call them: id, file name, address."""
        by_address: dict[str, str] = {}
        shared: set[str] = set()
        for doc, url in dict.fromkeys(zip(*map(self.chunks.column, ("doc", "url")), strict=True)):
            names = (doc, doc.rsplit("/", 1)[-1], *((url,) if url else ()))
            for name in map(_address, names):
                if by_address.setdefault(name, doc) != doc:
                    shared.add(name)
        return {name: doc for name, doc in by_address.items() if name and name not in shared}


def _address(link: str) -> str:
    """A link without its fragment, scheme and closing slash.

    >>> _address("https://x.example/a/#b"), _address("./guide.md")
    ('x.example/a', 'guide.md')
    """
    plain = link.partition("#")[0].partition("?")[0]
    return re.sub(r"^(?:\w+://|(?:\.{1,2}/)+)", "", plain).rstrip("/.,;:!")
