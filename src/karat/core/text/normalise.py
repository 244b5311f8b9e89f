r"""The normalisers, in one place: every token karat compares has passed through here.

| name            | what it does                                                                                      |
|-----------------|---------------------------------------------------------------------------------------------------|
| `unicode`       | drop think and source blocks, lower case, delete punctuation of any script, drop a/an/the         |
| `squad`         | SQuAD v1.1's script: lower case, delete ASCII punctuation, blank a/an/the between word boundaries |
| `words`         | lower case, delete what is not a letter, mark, number or space                                    |
| `technical`     | lower case, delete punctuation but . / : - so that addresses and commands survive                 |
| `plain`         | lower case                                                                                        |
| `hybrid-rag`    | that tool's own rule: lower case, delete `[^\w\s]`                                                |
| `rag-benchmark` | that tool's own rule: lower case, delete `[^\w\s./:-]`                                            |

All split on white space afterwards. In karat's own, letters, marks and numbers (Unicode L, M, N) are word characters,
so Russian and Hindi words survive whole; punctuation is all of ASCII's and the Unicode category P. Those that bear the
name of another tool do what it does to the letter, also where Python's `\w` drops the vowel signs of Hindi.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, get_args

import numpy as np

from karat.core.text.blocks import drop_blocks
from karat.core.text.characters import OTHER, PUNCTUATION, SPACE, TECHNICAL, kind_of, kinds_of, points_of, text_of

Norm = Literal["unicode", "squad", "words", "technical", "plain", "hybrid-rag", "rag-benchmark"]
NORMS: tuple[Norm, ...] = get_args(Norm)
ARTICLES = ("a", "an", "the")
WITHOUT_ARTICLES: frozenset[Norm] = frozenset({"unicode", "squad"})

_DELETED_KINDS: dict[Norm, tuple[int, ...]] = {
    "unicode": (PUNCTUATION, TECHNICAL),
    "words": (PUNCTUATION, TECHNICAL, OTHER),
    "technical": (PUNCTUATION,),
    "plain": (),
}
_DELETED_BY_TOOL: dict[Norm, re.Pattern[str]] = {
    "squad": re.compile(f"[{re.escape(string.punctuation)}]"),
    "hybrid-rag": re.compile(r"[^\w\s]"),
    "rag-benchmark": re.compile(r"[^\w\s./:-]"),
}
VERBATIM: frozenset[Norm] = frozenset(_DELETED_BY_TOOL)
"""Normalisers that follow another tool's script: it knows no think blocks, no citation marks and no empty reference."""

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_ASCII = "".join(map(chr, range(128)))
_ASCII_LOWER = bytes(32 if chr(i).isspace() else ord(chr(i).lower()) for i in range(128)) + bytes(range(128, 256))
_ASCII_DELETED: dict[Norm, bytes] = {
    **{norm: "".join(c for c in _ASCII if kind_of(c) in kinds).encode() for norm, kinds in _DELETED_KINDS.items()},
    **{norm: "".join(gone.findall(_ASCII)).encode() for norm, gone in _DELETED_BY_TOOL.items()},
}


def normalise(text: str, norm: Norm = "unicode") -> str:
    """The normal form of a text, its tokens one space apart.

    >>> normalise("The Eiffel-Tower, Paris!"), normalise("10.0.0.1/24, up", "technical")
    ('eiffeltower paris', '10.0.0.1/24 up')
    """
    return " ".join(tokenise(text, norm))


def tokenise(text: str, norm: Norm = "unicode") -> list[str]:
    """The tokens of a text under a normaliser."""
    tokens = clean_all([text], norm)[0].decode("utf-8", "surrogatepass").split()
    return [t for t in tokens if t not in ARTICLES] if norm in WITHOUT_ARTICLES else tokens


def clean_all(texts: Sequence[str], norm: Norm) -> list[bytes]:
    """Each text in UTF-8, lowered, its deleted characters gone and every white space a space.

    Articles that are words of their own may stand in it still: `karat.core.text.codes` drops them by number.
    """
    if norm == "unicode":
        texts = [drop_blocks(text) if "<" in text else text for text in texts]
    deleted = _ASCII_DELETED[norm]
    cleaned = [text.encode().translate(_ASCII_LOWER, deleted) if text.isascii() else b"" for text in texts]
    others = [i for i, text in enumerate(texts) if not text.isascii()]
    if norm == "squad":  # a control character parts an article from a word without being white space
        others += [i for i, part in enumerate(cleaned) if part and not part.replace(b" ", b"0").isalnum()]
    clean = _clean_as_tool if norm in VERBATIM else _clean_wide
    for i, part in zip(others, clean([texts[i] for i in others], norm) if others else (), strict=True):
        cleaned[i] = part
    return cleaned


def _clean_as_tool(texts: list[str], norm: Norm) -> list[bytes]:
    """Clean texts as another tool does, by its own pattern."""
    cleaned = (_DELETED_BY_TOOL[norm].sub("", text.lower()) for text in texts)
    if norm in WITHOUT_ARTICLES:
        cleaned = (_ARTICLE.sub(" ", text) for text in cleaned)
    return [" ".join(text.split()).encode("utf-8", "surrogatepass") for text in cleaned]


def _clean_wide(texts: list[str], norm: Norm) -> list[bytes]:
    """Clean texts that are not all ASCII, together."""
    lowered = [text.lower() for text in texts]
    points = points_of("\n".join([*lowered, ""])).copy()
    ends = np.fromiter(accumulate(len(text) + 1 for text in lowered), np.int64, len(lowered)) - 1
    kinds = kinds_of(points)
    points[kinds == SPACE] = 32
    points[ends] = 10
    keep = np.ones(len(points), bool)
    for kind in _DELETED_KINDS[norm]:
        keep &= kinds != kind
    return text_of(points[keep]).encode("utf-8", "surrogatepass").split(b"\n")[:-1]
