"""The normalisers, in one place: every token karat compares has passed through here.

| name        | what it does                                                                                     |
|-------------|--------------------------------------------------------------------------------------------------|
| `squad`     | drop think and source blocks, lower case, delete punctuation, drop a/an/the (SQuAD v1.1's rules)   |
| `words`     | lower case, delete what is not a letter, mark, number or space                                     |
| `technical` | lower case, delete punctuation but . / : - so that addresses and commands survive                  |
| `plain`     | lower case                                                                                         |

All split on white space afterwards. Letters, marks and numbers (Unicode L, M, N) are word characters, so Russian
and Hindi words survive whole. Punctuation is all of ASCII's and the Unicode category P.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, get_args

import numpy as np

from karat.core.text.blocks import drop_blocks
from karat.core.text.characters import (
    OTHER,
    PUNCTUATION,
    SPACE,
    TECHNICAL,
    WORD,
    kind_of,
    kinds_of,
    points_of,
    text_of,
)

Norm = Literal["squad", "words", "technical", "plain"]
NORMS: tuple[Norm, ...] = get_args(Norm)
ARTICLES = ("a", "an", "the")

_DELETED: dict[Norm, tuple[int, ...]] = {
    "squad": (PUNCTUATION, TECHNICAL),
    "words": (PUNCTUATION, TECHNICAL, OTHER),
    "technical": (PUNCTUATION,),
    "plain": (),
}
_ASCII = "".join(map(chr, range(128)))
_ASCII_LOWER = bytes(32 if chr(i).isspace() else ord(chr(i).lower()) for i in range(128)) + bytes(range(128, 256))
_ASCII_DELETED: dict[Norm, bytes] = {
    norm: "".join(c for c in _ASCII if kind_of(c) in kinds).encode() for norm, kinds in _DELETED.items()
}
_CONTROLS = "".join(c for c in _ASCII if kind_of(c) == OTHER).encode()
_TOGETHER = 1000
_ARTICLE = re.compile(r"(?<![a-z0-9])(?:an?|the)(?![a-z0-9])")


def normalise(text: str, norm: Norm = "squad") -> str:
    """The normal form of a text, its tokens one space apart.

    >>> normalise("The Eiffel-Tower, Paris!"), normalise("10.0.0.1/24, up", "technical")
    ('eiffeltower paris', '10.0.0.1/24 up')
    """
    return " ".join(tokenise(text, norm))


def tokenise(text: str, norm: Norm = "squad") -> list[str]:
    """The tokens of a text under a normaliser."""
    tokens = clean_all([text], norm)[0].decode("utf-8", "surrogatepass").split()
    return [t for t in tokens if t not in ARTICLES] if norm == "squad" else tokens


def clean_all(texts: Sequence[str], norm: Norm) -> list[bytes]:
    """Each text in UTF-8, lowered, its deleted characters gone and every white space a space.

    Articles stand in it still, each a word of its own: `karat.core.text.codes` drops them by number.
    """
    if norm == "squad":
        texts = [drop_blocks(text) if "<" in text else text for text in texts]
    deleted = _ASCII_DELETED[norm]
    cleaned = [text.encode().translate(_ASCII_LOWER, deleted) if text.isascii() else b"" for text in texts]
    others = [i for i, text in enumerate(texts) if not text.isascii()]
    odd = _with_controls(cleaned) if norm == "squad" else []
    if others:
        parts, odd_parts = _clean_wide([texts[i] for i in others], norm)
        for i, part in zip(others, parts, strict=True):
            cleaned[i] = part
        odd += [others[j] for j in odd_parts] if norm == "squad" else []
    for i in odd:
        cleaned[i] = _part_articles(cleaned[i])
    return cleaned


def _with_controls(parts: list[bytes]) -> list[int]:
    found = []
    for start in range(0, len(parts), _TOGETHER):
        some = parts[start : start + _TOGETHER]
        together = np.frombuffer(b"".join(some), np.uint8)
        if ((together < 32) | (together == 127)).any():
            found += [start + i for i, part in enumerate(some) if len(part.translate(None, _CONTROLS)) < len(part)]
    return found


def _clean_wide(texts: list[str], norm: Norm) -> tuple[list[bytes], list[int]]:
    """Clean texts that are not all ASCII, together; and which of them keep a character that is no word character."""
    lowered = [text.lower() for text in texts]
    points = points_of("\n".join([*lowered, ""])).copy()
    ends = np.fromiter(accumulate(len(text) + 1 for text in lowered), np.int64, len(lowered)) - 1
    kinds = kinds_of(points)
    points[kinds == SPACE] = 32
    points[ends] = 10
    kept = np.ones(len(points), bool)
    for kind in _DELETED[norm]:
        kept &= kinds != kind
    odd = np.unique(np.searchsorted(ends, np.flatnonzero(kept & (kinds == OTHER)))).tolist()
    parts = text_of(points[kept]).encode("utf-8", "surrogatepass").split(b"\n")
    return parts[:-1], odd


def _part_articles(part: bytes) -> bytes:
    """Blank the articles that touch a symbol or a control character, as SQuAD's word boundary does."""
    text = part.decode("utf-8", "surrogatepass")

    def blank(found: re.Match[str]) -> str:
        before, after = text[: found.start()][-1:], text[found.end() : found.end() + 1]
        inside = (before and kind_of(before) == WORD) or (after and kind_of(after) == WORD)
        return found[0] if inside else " "

    return _ARTICLE.sub(blank, text).encode("utf-8", "surrogatepass")
