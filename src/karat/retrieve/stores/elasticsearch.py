"""`elasticsearch:URL#index`: vectors in Elasticsearch, searched by its kNN search.

The key is read from ELASTIC_API_KEY, or from the variable that `#index?key_env=NAME` names; with `&user=NAME` it is
the password of that user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from karat.core.errors import KaratError
from karat.retrieve._search_api import MOST_HITS, SearchVectors

_METRICS = {"cosine": "cosine", "dot_product": "ip", "max_inner_product": "ip", "l2_norm": "l2"}
_CANDIDATES = 1.5  # for each hit, as Elasticsearch has it unless told otherwise


class ElasticsearchStore(SearchVectors):
    """A field of type dense_vector."""

    name: ClassVar[str] = "elasticsearch"
    field_type: ClassVar[str] = "dense_vector"
    key_env: ClassVar[str] = "ELASTIC_API_KEY"

    def described(self, about: Mapping[str, Any]) -> tuple[int | None, str]:
        if about.get("index") is False:
            raise KaratError("the vectors of this index are not indexed: kNN search needs index: true in its mapping.")
        return about.get("dims"), str(about.get("similarity", "cosine"))

    def metric_of(self, space: str) -> str:
        if space not in _METRICS:
            raise KaratError(f"the vectors of this index are compared by {space}; karat reads {', '.join(_METRICS)}.")
        return _METRICS[space]

    def query(self, vector: Sequence[float], depth: int) -> dict[str, Any]:
        candidates = min(max(int(_CANDIDATES * depth), depth), MOST_HITS)
        return {"knn": {"field": self._field, "query_vector": vector, "k": depth, "num_candidates": candidates}}

    def products(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        return self.cosines(scores) if self._space == "dot_product" else super().products(scores)


store = ElasticsearchStore
