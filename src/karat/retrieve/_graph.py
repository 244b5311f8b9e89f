"""The HNSW graph over vectors: built, searched and kept by FAISS. It keeps the links; the vectors stay where they are.

Cosine candidates of the graph are scored exactly afterwards, so it may miss a passage but never misplaces one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from karat.core.progress import Progress
from karat.io.arrays import damaged
from karat.io.threads import one_thread
from karat.retrieve._vectors import EXTRA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Vectors = NDArray[np.float32]

_FILE = "graph.faiss"
_BLOCK = 10_000
LOOKED_AT = 16
"""About how many vectors a search of the graph is compared with for each candidate that it keeps."""


class Graph:
    """The graph over some vectors: just built, or in a file that is read when it is first searched."""

    def __init__(self, vectors: Vectors, file: Path | None = None, index: Any = None) -> None:
        self.vectors, self._file, self._index = vectors, file, index

    @classmethod
    def build(cls, vectors: Vectors, m: int, ef_construction: int, progress: Progress) -> Self:
        """The same graph for the same vectors: added in the same blocks, by one thread, since several may race."""
        import faiss

        index = faiss.IndexHNSWFlat(vectors.shape[1], m, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = ef_construction
        for start in range(0, len(vectors), _BLOCK):
            with one_thread():
                index.add(np.ascontiguousarray(vectors[start : start + _BLOCK]))
            progress("linking", min(start + _BLOCK, len(vectors)), len(vectors))
        return cls(vectors, index=index)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors) -> Self:
        """The graph that `save` wrote."""
        if not (folder / _FILE).is_file():
            raise damaged(folder / _FILE, "is missing")
        return cls(vectors, folder / _FILE)

    def save(self, folder: Path) -> None:
        """Write the links, without the vectors, which stand in the folder already."""
        import faiss

        faiss.write_index(self.index, str(folder / _FILE), faiss.IO_FLAG_SKIP_STORAGE)

    def candidates(self, queries: Vectors, depth: int, ef_search: int) -> Ints:
        """About the `depth` nearest vectors of each query, a line each; -1 where fewer were found."""
        import faiss

        k = min(depth + EXTRA, len(self.vectors))
        parameters = faiss.SearchParametersHNSW(efSearch=max(ef_search, k))
        return np.asarray(self.index.search(queries, k, params=parameters)[1], np.int64)

    @property
    def index(self) -> Any:
        """The index of FAISS."""
        if self._index is None and self._file is not None:
            self._index = self._read(self._file)
        return self._index

    def _read(self, file: Path) -> Any:
        import faiss

        try:
            index = faiss.read_index(str(file), faiss.IO_FLAG_SKIP_STORAGE)
        except RuntimeError as problem:
            raise damaged(file, f"is not what karat wrote ({' '.join(str(problem).split())[:200]})") from None
        shape = (index.ntotal, index.d)
        if not isinstance(index, faiss.IndexHNSWFlat) or shape != self.vectors.shape or index.metric_type != 0:
            raise damaged(file, f"is a graph over vectors of shape {shape}, beside {self.vectors.shape}")
        self._flat = faiss.IndexFlatIP(index.d)
        self._flat.add(self.vectors)
        index.storage, index.own_fields = self._flat, False
        return index
