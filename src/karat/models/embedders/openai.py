"""`openai:MODEL`: the /embeddings of OpenAI, or of any server that speaks the same (`base_url`).

The key comes from the environment variable that `key_env` names and goes to whatever server `base_url` names; where the
variable is not set, none is sent. What a server calls MODEL is all karat knows of the model, so the fingerprint is the
name and the address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.models._embedder import Embedder, EmbedderSettings, Encoder
from karat.models.endpoint import ModelEndpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 64


def embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder `openai:MODEL`. No request is made before the first text."""
    if not settings.target:
        raise UsageError("the embedder openai needs the name of a model: write openai:text-embedding-3-small.")
    model = settings.target
    endpoint = ModelEndpoint(settings, model, "/embeddings")
    place = endpoint.place

    def encode(texts: list[str]) -> NDArray[np.float32]:
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        rows = [
            row
            for batch in batches
            for row in _rows(endpoint.post({"model": model, "input": batch}), len(batch), place)
        ]
        sizes = sorted({len(row) for row in rows})
        if len(sizes) > 1:
            raise _wrong(place, f"vectors of {sizes[0]} and of {sizes[-1]} numbers")
        try:
            with np.errstate(over="ignore"):
                return np.array(rows, np.float64).astype(np.float32)
        except OverflowError:  # a whole number beyond all floats
            return np.full((len(rows), sizes[0]), np.inf, np.float32)

    return Encoder(settings, f"{model} at {endpoint.address}", encode, batch=_BATCH, place=place)


def _rows(answer: Any, wanted: int, place: str) -> list[list[float]]:
    """The vectors of an answer, in the order of the texts."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise _wrong(place, 'no list "data" of objects')
    if len(data) != wanted:
        raise _wrong(place, f"{len(data)} vectors for {wanted} texts")
    if any("index" in entry for entry in data):
        places = [entry.get("index") for entry in data]
        if any(type(i) is not int for i in places) or sorted(places) != list(range(wanted)):
            raise _wrong(place, f'"index" fields that do not count the texts from 0 to {wanted - 1}')
        data = sorted(data, key=lambda entry: entry["index"])
    rows = [entry.get("embedding") for entry in data]
    if not all(isinstance(row, list) and row and all(type(n) in (int, float) for n in row) for row in rows):
        raise _wrong(place, 'an "embedding" that is not a list of numbers')
    return rows


def _wrong(place: str, what: str) -> KaratError:
    return KaratError(
        f"{place} answered with {what}. See that the model is an embedding model and the server a compatible one, "
        "then try again."
    )
