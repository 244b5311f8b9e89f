"""What kind of character each code point is: word (categories L, M, N), space, punctuation or other.

Kept as one byte a code point and filled a block of 256 at a time, when a text first needs it, so that whole texts
are looked up at once and nothing is paid for scripts that never appear.
"""

from __future__ import annotations

import string
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD, SPACE, PUNCTUATION, TECHNICAL, OTHER = 1, 2, 3, 4, 5
TECHNICAL_MARKS = "./:-"

_kinds: NDArray[np.uint8] = np.zeros(0x110000, np.uint8)


def kind_of(character: str) -> int:
    """The kind of one character.

    >>> kind_of("é") == kind_of("ि") == kind_of("7") == WORD
    True
    """
    if character.isspace():
        return SPACE
    if character in TECHNICAL_MARKS:
        return TECHNICAL
    major = unicodedata.category(character)[0]
    if major in "LMN":
        return WORD
    return PUNCTUATION if major == "P" or character in string.punctuation else OTHER


def kinds_of(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The kind of each code point."""
    kinds = _kinds[points]
    unknown = kinds == 0
    if unknown.any():
        for block in np.flatnonzero(np.bincount(points[unknown] >> 8)).tolist():
            start = block << 8
            _kinds[start : start + 256] = [kind_of(chr(point)) for point in range(start, start + 256)]
        kinds = _kinds[points]
    return kinds


def points_of(text: str) -> NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))


def text_of(points: NDArray[np.uint32]) -> str:
    """The text of code points."""
    return points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")
