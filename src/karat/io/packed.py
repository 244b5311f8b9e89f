"""Packed: an array of numbers as text, for JSON: its type, and its bytes by base64.

>>> unpacked(packed(np.array([1, 2, 3]))).tolist(), packed(np.array([0.5]))
([1, 2, 3], ['<f4', 'AAAAPw=='])
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = {kind: np.dtype(kind) for kind in ("|u1", "<i4", "<i8", "<f4", "<f8")}
_HALVES = {"<i8": "<i4", "<f8": "<f4"}


def packed(array: NDArray[Any]) -> list[str]:
    """The type and the bytes; numbers of eight bytes in four where none loses by it."""
    kind = array.dtype.newbyteorder("<").str
    if kind in _HALVES:
        with np.errstate(over="ignore"):
            half = array.astype(_HALVES[kind])
        array = half if np.array_equal(half, array, equal_nan=array.dtype.kind == "f") else array
    kind = array.dtype.newbyteorder("<").str
    return [kind, b64encode(array.astype(_TYPES[kind]).tobytes()).decode()]


def unpacked(text: Sequence[str]) -> NDArray[Any]:
    """What `packed` made a text of; ValueError, KeyError or TypeError where it did not."""
    kind, data = text
    array: NDArray[Any] = np.frombuffer(b64decode(data, validate=True), _TYPES[kind])
    return array
