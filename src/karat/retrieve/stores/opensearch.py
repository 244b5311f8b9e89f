"""`opensearch:URL#index`: vectors in OpenSearch, searched by its k-NN query.

The key is read from OPENSEARCH_API_KEY, or from the variable that `#index?key_env=NAME` names; with `&user=NAME` it is
the password of that user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from karat.core.errors import KaratError
from karat.retrieve._search_api import SearchVectors

_METRICS = {"cosinesimil": "cosine", "innerproduct": "ip", "l2": "l2"}


class OpensearchStore(SearchVectors):
    """A field of type knn_vector."""

    name: ClassVar[str] = "opensearch"
    field_type: ClassVar[str] = "knn_vector"
    key_env: ClassVar[str] = "OPENSEARCH_API_KEY"

    def described(self, about: Mapping[str, Any]) -> tuple[int | None, str]:
        method = about.get("method") if isinstance(about.get("method"), Mapping) else {}
        assert isinstance(method, Mapping)
        self._nmslib = method.get("engine") == "nmslib"
        return about.get("dimension"), str(about.get("space_type") or method.get("space_type") or "l2")

    def metric_of(self, space: str) -> str:
        if space not in _METRICS:
            raise KaratError(f"the vectors of this index are compared by {space}; karat reads {', '.join(_METRICS)}.")
        return _METRICS[space]

    def query(self, vector: Sequence[float], depth: int) -> dict[str, Any]:
        return {"query": {"knn": {self._field: {"vector": vector, "k": depth}}}}

    def cosines(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """(2 - d)/2 of cosine distances d by Lucene and Faiss; 1/(1 + d) by nmslib."""
        return 2.0 - 1.0 / np.maximum(scores, 1e-9) if self._nmslib else super().cosines(scores)


store = OpensearchStore
