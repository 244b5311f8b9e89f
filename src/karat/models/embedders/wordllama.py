"""`wordllama`: means of static word-piece vectors, 256 numbers. Small, fast, English; nothing is ever downloaded.

The weights lie inside the PyPI package. They are read from there with safetensors and tokenizers: importing wordllama
itself would bring an HTTP client and leave a log handler behind. The vectors are those of its own `embed(norm=True)`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError
from karat.models._embedder import Embedder, EmbedderSettings, Encoder, no_target
from karat.models._local import digest_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_WEIGHTS, _TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
_TOKENS = 65_536
"""How many word pieces are looked up at a time: bounds the memory that a long text takes."""


def embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder `wordllama`."""
    no_target(settings)
    table, tokenizer, digest = _loaded(*_files())

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.stack(
            [_mean(table, pieces.ids) for pieces in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        )

    return Encoder(settings, digest, encode, table.shape[1], batch=1024)


@cache
def _loaded(weights: Path, tokens: Path) -> tuple[NDArray[np.float32], Tokenizer, str]:
    """The vectors, the tokenizer and the digest of both files: a command asks for the embedder several times."""
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with safe_open(weights, framework="np") as opened:
        table = np.asarray(opened.get_tensor("embedding.weight"), np.float32)
    tokenizer = Tokenizer.from_file(str(tokens))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return table, tokenizer, digest_of((weights, tokens))


def whole_words() -> list[str]:
    """The lower-case words that the tokenizer has in one piece: common ones, English for the most part."""
    pieces = json.loads(_files()[1].read_text(encoding="utf-8"))["model"]["vocab"]
    words = (piece[1:] for piece in pieces if piece.startswith("\u2581"))
    return [word for word in words if word.isalpha() and word.islower()]


def _files() -> tuple[Path, Path]:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise KaratError("the package wordllama is not installed. Run: pip install wordllama")
    folder = Path(spec.origin).parent
    missing = [name for name in (_WEIGHTS, _TOKENIZER) if not (folder / name).is_file()]
    if missing:
        raise KaratError(
            f"the installed package wordllama holds no {' and no '.join(missing)}. "
            "Run: pip install --force-reinstall wordllama==0.4.0.post1"
        )
    return folder / _WEIGHTS, folder / _TOKENIZER


def _mean(table: NDArray[np.float32], pieces: list[int]) -> NDArray[np.float32]:
    """The mean row of the table over the pieces; zeros where there is none."""
    total = np.zeros(table.shape[1], np.float32)
    for start in range(0, len(pieces), _TOKENS):
        total += table.take(pieces[start : start + _TOKENS], axis=0, mode="clip").sum(axis=0)
    return total / np.float32(max(len(pieces), 1))
