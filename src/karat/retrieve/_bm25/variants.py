"""The BM25 formulas: what a term is worth, and what its count in a document is worth.

| variant      | whose numbers                    | note                                                             |
|--------------|----------------------------------|------------------------------------------------------------------|
| `lucene`     | bm25s, Lucene's idf              | never negative                                                   |
| `robertson`  | bm25s                            | idf floored at 0: a term in half of the documents is worth 0     |
| `atire`      | bm25s                            | a term in every document is worth 0                              |
| `okapi`      | rank_bm25 BM25Okapi              | a negative idf becomes `epsilon` times the average idf           |
| `bm25l`      | bm25s                            | a document without the term gets a share, too                    |
| `rank_bm25l` | rank_bm25 BM25L                  | multiplied by the count once more, and nothing without the term  |
| `bm25plus`   | bm25s bm25+ and rank_bm25 BM25Plus | a document without the term gets a share, too                  |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.integer]
    Floats = NDArray[np.float64]

Variant = Literal["lucene", "robertson", "atire", "okapi", "bm25l", "rank_bm25l", "bm25plus"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
DELTA: dict[str, float] = {"bm25l": 0.5, "rank_bm25l": 0.5, "bm25plus": 1.0}
EPSILON: dict[str, float] = {"okapi": 0.25}


@dataclass(frozen=True)
class Formula:
    """A variant with its constants. `delta` and `epsilon` are 0 where the variant has none."""

    variant: Variant
    k1: float
    b: float
    delta: float = 0.0
    epsilon: float = 0.0

    def idf(self, counts: Ints, docs: int) -> Floats:
        """The worth of each term of the corpus, by the number of documents that hold it."""
        n = np.asarray(counts, np.float64)
        match self.variant:
            case "lucene":
                return np.log1p((docs - n + 0.5) / (n + 0.5))
            case "robertson":
                return np.log(np.maximum(1.0, (docs - n + 0.5) / (n + 0.5)))
            case "atire":
                return np.log(docs / n)
            case "bm25l" | "rank_bm25l":
                return np.log((docs + 1) / (n + 0.5))
            case "bm25plus":
                return np.log((docs + 1) / n)
            case "okapi":
                idf = np.log((docs - n + 0.5) / (n + 0.5))
                return np.where(idf < 0, self.epsilon * idf.mean(), idf) if len(idf) else idf

    def norms(self, lengths: Floats) -> Floats:
        """What documents of so many times the average length weaken a term by."""
        return 1 - self.b + self.b * lengths

    def gain(self, count: Floats, norm: Floats) -> Floats:
        """The worth of a term that stands `count` times in a document of this norm."""
        match self.variant:
            case "lucene" | "robertson":
                return count / (count + self.k1 * norm)
            case "bm25l" | "rank_bm25l":
                even = count / norm + self.delta
                gain = (self.k1 + 1) * even / (self.k1 + even)
                return gain * count if self.variant == "rank_bm25l" else gain
            case "atire" | "okapi" | "bm25plus":
                return self.delta + count * (self.k1 + 1) / (count + self.k1 * norm)

    @property
    def absent(self) -> float:
        """The worth of a term in a document that does not hold it."""
        match self.variant:
            case "bm25plus":
                return self.delta
            case "bm25l":
                return (self.k1 + 1) * self.delta / (self.k1 + self.delta) if self.delta else 0.0
            case _:
                return 0.0
