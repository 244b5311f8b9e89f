"""Vectors as they are stored: whole (float32), in half precision (float16), or as whole numbers up to 127 (int8).

What is not float32 is made so again in blocks, never all at once. The int8 numbers of a vector are shares of its own
largest one, and are read back at length 1, so they depend on nothing but the vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Vectors = NDArray[np.float32]

PRECISIONS: dict[str, type[np.generic]] = {"float32": np.float32, "float16": np.float16, "int8": np.int8}
_BLOCK = 1 << 21
"""How many numbers are made float32 at a time: what stays in the processor's cache is quickest."""
_TAKEN = 1 << 24
"""How many numbers of single vectors are made float32 at a time."""
_LARGEST = 127


@dataclass(frozen=True)
class StoredVectors:
    """Vectors of length 1, a row each: `values`, times `scales` where these are int8."""

    values: NDArray[Any]
    scales: Vectors | None = None

    @classmethod
    def of(cls, vectors: Vectors, precision: str) -> StoredVectors:
        """Vectors at a precision."""
        if precision == "float32":
            return cls(np.ascontiguousarray(vectors, np.float32))
        values = np.empty(vectors.shape, PRECISIONS[precision])
        scales = np.empty(len(vectors), np.float32) if precision == "int8" else None
        for part in _parts(vectors.shape):
            block = vectors[part]
            if scales is not None:
                block = np.rint(block * (np.float32(_LARGEST) / np.abs(block).max(axis=1, keepdims=True)))
                scales[part] = 1 / np.sqrt((block * block).sum(axis=1, dtype=np.float64))
            values[part] = block
        return cls(values, scales)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, places: Ints | slice) -> Vectors:
        """Some of the vectors as float32."""
        rows = np.asarray(self.values[places], np.float32)
        return rows if self.scales is None else rows * self.scales[places][:, None]

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors there are, and of how many numbers each."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def precision(self) -> str:
        """What they are stored as."""
        return str(self.values.dtype)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is to be written, by the names of the files."""
        return {"vectors": self.values} | ({} if self.scales is None else {"scales": self.scales})

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """All vectors as float32, and where each block begins: one block where they are stored so."""
        if self.precision == "float32":
            yield 0, self.values
            return
        for part in _parts(self.shape):
            yield part.start, self[part]

    def products(self, queries: Vectors) -> Vectors:
        """The products of queries with each vector, a line for each query."""
        products = np.empty((len(queries), len(self)), np.float32)
        for start, block in self.blocks():
            products[:, start : start + len(block)] = queries @ block.T
        return products

    def taken(self, places: Ints) -> Iterator[tuple[slice, Vectors, Ints]]:
        """For some lines of `places` at a time vectors as float32, and where among these those of each line stand."""
        if self.precision == "float32":
            yield slice(0, len(places)), self.values, places
            return
        for lines in _parts((len(places), max(1, places.shape[1] * self.shape[1])), _TAKEN):
            some = places[lines]
            held = some >= 0
            numbers = np.where(held, np.cumsum(held).reshape(held.shape) - 1, -1)
            yield lines, self[some[held]], numbers


def _parts(shape: tuple[int, ...], most: int = _BLOCK) -> Iterator[slice]:
    """Slices of rows that hold about so many numbers."""
    step = max(1, most // max(1, shape[1]))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))
