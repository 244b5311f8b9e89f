"""`wordllama`: means of static word-piece vectors, 256 numbers. Small, fast, English; nothing is ever downloaded.

The weights lie inside the PyPI package. They are read from there with safetensors and tokenizers: importing wordllama
itself would bring an HTTP client and leave a log handler behind. The vectors are those of its own `embed(norm=True)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError
from karat.core.text.codes import TokenIds, Vocabulary
from karat.models._embedder import Embedder, EmbedderSettings, Encoder, no_target
from karat.models._local import digest_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_WEIGHTS, _TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
_TOKENS = 65_536
"""How many word pieces are looked up at a time: bounds the memory that a long text takes."""
_SPACE = "\u2581"  # what the tokenizer writes for one
_MORE_SPACES = re.compile("(?<= ) |^ ")
_FEW = 32
"""Texts below this number are taken apart as they are: setting up the words would cost more."""
_KEPT = 1 << 20
"""Of how many pieces words are remembered before the memory is cleared."""


def embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder `wordllama`."""
    no_target(settings)
    table, pieces, digest = _loaded(*_files())

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.stack([_mean(table, ids) for ids in pieces.of_each(texts)])

    return Encoder(settings, digest, encode, table.shape[1], batch=1024)


@cache
def _loaded(weights: Path, tokens: Path) -> tuple[NDArray[np.float32], WordPieces, str]:
    """The vectors, the word pieces and the digest of both files: a command asks for the embedder several times."""
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with safe_open(weights, framework="np") as opened:
        table = np.asarray(opened.get_tensor("embedding.weight"), np.float32)
    tokenizer = Tokenizer.from_file(str(tokens))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return table, WordPieces(tokenizer), digest_of((weights, tokens))


class WordPieces:
    """The pieces of texts, each distinct word taken apart once.

    The tokenizer writes a space as `\u2581`, before the text as well, and then joins neighbours to pieces it knows.
    No piece has the mark behind another character, so none goes from one word into the next, and the pieces of a text
    are those of its words. A text that holds the mark itself, or another of the tokenizer's own such as `</s>`, is
    taken apart as a whole.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._marks = [_SPACE, *(token.content for token in tokenizer.get_added_tokens_decoder().values())]
        self._learning = Lock()
        self._forget()

    @cached_property
    def _parted(self) -> bool:
        return not any(_SPACE in piece.lstrip(_SPACE) for piece in self._tokenizer.get_vocab())

    def _forget(self) -> None:
        self._words, self._pieces = Vocabulary("plain"), TokenIds(np.zeros(0, np.int64), np.zeros(1, np.int64))

    def of_each(self, texts: list[str]) -> list[Sequence[int] | NDArray[np.int64]]:
        """The numbers of the pieces of each text, in order."""
        if len(texts) < _FEW or not self._parted:
            return list(self._whole(texts))
        apart = [
            i for i, text in enumerate(texts) if not text.endswith(" ") and not any(m in text for m in self._marks)
        ]
        pieces: list[Sequence[int] | NDArray[np.int64]] = [()] * len(texts)
        for i, ids in zip(apart, self._by_word([texts[i] for i in apart]), strict=True):
            pieces[i] = ids
        others = sorted(set(range(len(texts))).difference(apart))
        for i, whole in zip(others, self._whole([texts[i] for i in others]), strict=True):
            pieces[i] = whole
        return pieces

    def _whole(self, texts: list[str]) -> Iterator[Sequence[int]]:
        return (one.ids for one in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False))

    def _by_word(self, texts: list[str]) -> Iterator[NDArray[np.int64]]:
        """The same by words: a space parts two of them, those after it belong to the second."""
        marked = [_MORE_SPACES.sub(_SPACE, text) if "  " in text or text[:1] == " " else text for text in texts]
        with self._learning:
            if len(self._pieces.codes) > _KEPT:
                self._forget()
            words = self._words.encode_clean([text.encode() for text in marked])
            self._learn(self._words.words(len(self._pieces)))
            taken = self._pieces.take(words.codes)
        ends = taken.offsets[words.offsets]
        return (taken.codes[first:last] for first, last in pairwise(ends.tolist()))

    def _learn(self, words: list[str]) -> None:
        fresh = list(self._whole(words))
        codes = np.fromiter(chain.from_iterable(fresh), np.int64)
        ends = np.cumsum(np.fromiter(map(len, fresh), np.int64, len(fresh))) + self._pieces.offsets[-1]
        self._pieces = TokenIds(
            np.concatenate((self._pieces.codes, codes)), np.concatenate((self._pieces.offsets, ends))
        )


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


def _mean(table: NDArray[np.float32], pieces: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean row of the table over the pieces; zeros where there is none."""
    total = np.zeros(table.shape[1], np.float32)
    for start in range(0, len(pieces), _TOKENS):
        total += table.take(pieces[start : start + _TOKENS], axis=0, mode="clip").sum(axis=0)
    return total / np.float32(max(len(pieces), 1))
