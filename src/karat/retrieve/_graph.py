"""The HNSW graph over vectors: built, searched and kept by FAISS. It keeps the links; the vectors stay where they are.

Cosine candidates of the graph are scored exactly afterwards, so it may miss a passage but never misplaces one.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.retrieve._engine import Progress
from karat.retrieve._vectors import EXTRA, damaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Vectors = NDArray[np.float32]

_FILE = "graph.faiss"
_BLOCK = 10_000


def build(vectors: Vectors, m: int, ef_construction: int, progress: Progress) -> Any:
    """A graph over the vectors; the same one for the same vectors, added in the same blocks."""
    import faiss

    graph = faiss.IndexHNSWFlat(vectors.shape[1], m, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = ef_construction
    for start in range(0, len(vectors), _BLOCK):
        graph.add(np.ascontiguousarray(vectors[start : start + _BLOCK]))
        progress("linking", min(start + _BLOCK, len(vectors)), len(vectors))
    return graph


def near(graph: Any, vectors: Vectors, queries: Vectors, depth: int, ef_search: int) -> Ints:
    """About the `depth` nearest vectors of each query, a line each; -1 where fewer were found."""
    import faiss

    index = graph.index if isinstance(graph, Lazy) else graph
    k = min(depth + EXTRA, len(vectors))
    parameters = faiss.SearchParametersHNSW(efSearch=max(ef_search, k))
    return np.asarray(index.search(queries, k, params=parameters)[1], np.int64)


def write(graph: Any, folder: Path) -> None:
    """The links, without the vectors, which stand in the folder already."""
    import faiss

    index = graph.index if isinstance(graph, Lazy) else graph
    faiss.write_index(index, str(folder / _FILE), faiss.IO_FLAG_SKIP_STORAGE)


class Lazy:
    """A graph in a folder, read when it is first searched."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self.file, self.vectors = folder / _FILE, vectors
        if not self.file.is_file():
            raise damaged(self.file, "is missing")

    @cached_property
    def index(self) -> Any:
        """The index of FAISS."""
        import faiss

        try:
            graph = faiss.read_index(str(self.file), faiss.IO_FLAG_SKIP_STORAGE)
        except RuntimeError as problem:
            raise damaged(self.file, f"is not what karat wrote ({' '.join(str(problem).split())[:200]})") from None
        shape = (graph.ntotal, graph.d)
        if not isinstance(graph, faiss.IndexHNSWFlat) or shape != self.vectors.shape or graph.metric_type != 0:
            raise damaged(self.file, f"is a graph over vectors of shape {shape}, beside {self.vectors.shape}")
        self._flat = faiss.IndexFlatIP(graph.d)
        self._flat.add(self.vectors)
        graph.storage, graph.own_fields = self._flat, False
        return graph
