"""Text from outside as everything later can take it: Unicode that can be written to a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MARK = "\ufffd"
"""What stands for a character that was none."""
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def well_formed(text: str) -> str:
    r"""The text with U+FFFD for each half of a surrogate pair that stands alone, and for each NUL.

    >>> well_formed("caf\ud800é\0")
    'caf�é�'
    """
    if text.isascii() and "\0" not in text:
        return text
    return _UNWRITABLE.sub(MARK, text)


def well_formed_values(value: Any) -> Any:
    """The same for every text in lists and mappings, names of entries among them; other values stay as they are."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed_values(name): well_formed_values(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        parts = map(well_formed_values, value)
        return list(parts) if isinstance(value, list) else tuple(parts)
    return value
