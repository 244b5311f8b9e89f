"""Mix: categories of questions and of those who ask, each with its share; one of each is drawn for every question.

Shares are kept in small sets too: draws are spread evenly over all combinations, not left to luck.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.core.errors import UsageError

_EXAMPLE = 'Write for example phrasing: {short_query: 0.3, natural: {share: 0.7, manner: "Ask in a full sentence."}}.'
_TAGS = frozenset(("language", "source", "model", "adversarial", "premise", "readings"))

_BUILT_IN: dict[str, dict[str, dict[str, Any]]] = {
    "question_type": {
        "factoid": {"share": 0.5, "manner": "The answer is a short fact: a name, a number, a time or a place."},
        "open": {"share": 0.25, "manner": "The answer explains in a sentence or two how or why something is."},
        "with_premise": {
            "share": 0.25,
            "manner": "Before asking, the question mentions in a few words why the asker wants to know.",
        },
    },
    "user_expertise": {
        "expert": {"share": 0.5, "manner": "The asker knows the subject well and uses its terms."},
        "novice": {"share": 0.5, "manner": "The asker is new to the subject and does not know its terms."},
    },
    "phrasing": {
        "concise": {"share": 0.4, "manner": "Ask in one short, natural sentence."},
        "verbose": {"share": 0.2, "manner": "Ask in a natural sentence of more than twelve words."},
        "short_query": {
            "share": 0.2,
            "manner": "Write it as a search query of two to six words, without punctuation or a question word.",
        },
        "long_query": {
            "share": 0.2,
            "manner": "Write it as a search query of seven words or more, without punctuation.",
        },
    },
}


@dataclass(frozen=True)
class Category:
    """One category: its share of the questions, and what the model is told to bring it about."""

    name: str
    share: float
    manner: str


@dataclass(frozen=True)
class Mix:
    """Categorisations by name (`phrasing`), each with its categories, whose shares add up to 1."""

    axes: Mapping[str, tuple[Category, ...]]

    @classmethod
    def of(cls, categorisations: Mapping[str, Any], place: str = "the mix") -> Mix:
        """From plain values: `{axis: {category: share}}` or `{axis: {category: {share, manner}}}`.

        Shares need not add up to 1. A category of the built-in mix needs no `manner`.
        """
        if not isinstance(categorisations, Mapping) or not categorisations:
            raise UsageError(f"{place} names no categories. {_EXAMPLE}")
        axes = {}
        for axis, categories in categorisations.items():
            if not isinstance(axis, str) or not isinstance(categories, Mapping) or not categories:
                raise UsageError(f"{place}: {axis!r} has no categories. {_EXAMPLE}")
            if axis in _TAGS:
                raise UsageError(f"{place}: {axis!r} is a tag that karat writes itself. Choose another name.")
            read = [_category(f"{place}: {axis}", axis, str(name), value) for name, value in categories.items()]
            whole = sum(one.share for one in read)
            if whole <= 0:
                raise UsageError(f"{place}: the shares of {axis!r} are all 0. Give one of them a share.")
            axes[axis] = tuple(Category(one.name, one.share / whole, one.manner) for one in read if one.share > 0)
        return cls(axes)

    def draw(self, number: int, *, seed: int = 0, salt: str = "") -> tuple[dict[str, str], tuple[str, ...]]:
        """The categories of question `number`, and what the model is told of them; the same for the same numbers."""
        drawn: dict[str, str] = {}
        manner = []
        steps = _steps(len(self.axes))
        for place, (axis, categories) in enumerate(self.axes.items()):
            begin = int.from_bytes(hashlib.sha256(f"{seed}\0{salt}\0{axis}".encode()).digest()[:6]) / 2**48
            at = (begin + (number + 1) * steps[place]) % 1.0
            for one in categories:
                at -= one.share
                if at < 0:
                    break
            drawn[axis] = one.name
            manner.append(one.manner)
        return drawn, tuple(manner)


def _steps(count: int) -> list[float]:
    """Steps by which a sequence fills a unit cube evenly: powers of the root of x ** (count + 1) = x + 1."""
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (count + 1))
    return [root ** -(power + 1) for power in range(count)]


def _category(place: str, axis: str, name: str, value: Any) -> Category:
    share, manner = (value.get("share"), value.get("manner")) if isinstance(value, Mapping) else (value, None)
    if isinstance(value, Mapping) and (more := sorted(set(value) - {"share", "manner"})):
        raise UsageError(f"{place}: {name!r} has {more[0]!r}, where share and manner are meant. {_EXAMPLE}")
    if isinstance(share, bool) or not isinstance(share, int | float) or not math.isfinite(share) or share < 0:
        raise UsageError(f"{place}: {name!r} has the share {share!r}, where a number from 0 up is meant. {_EXAMPLE}")
    if manner is None:
        manner = _BUILT_IN.get(axis, {}).get(name, {}).get("manner")
    if not isinstance(manner, str) or not manner.strip():
        raise UsageError(f"{place}: {name!r} is not a built-in category: say what it means with `manner`. {_EXAMPLE}")
    return Category(name, float(share), " ".join(manner.split()))


DEFAULT = Mix.of(_BUILT_IN, "the built-in mix")
"""Question type by user expertise by phrasing."""
