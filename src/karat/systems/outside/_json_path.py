"""JSON paths, as many as an answer needs: `$.hits[*].id`, `data[0]["chunk id"]`.

A name after a dot or in `["..."]`, an item by its number in `[0]` (from the end in `[-1]`), every item in `[*]`.
No filters, slices or recursive descent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from karat.core.errors import UsageError

_STEP = re.compile(
    r"""\.?(?P<name>[^.\[\]'"*$\s][^.\[\]'"*]*)|\[(?P<number>-?\d{1,9})\]|(?P<all>\[\*\])|"""
    r"""\[(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)")\]"""
)


class NothingThere(Exception):  # noqa: N818
    """A path that does not fit a value: says where and what is there instead."""


@dataclass(frozen=True)
class JsonPath:
    """A path that was understood: names, numbers, and None for every item."""

    text: str
    steps: tuple[str | int | None, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """From text.

        >>> JsonPath.parse("$.hits[*].id").steps
        ('hits', None, 'id')
        """
        rest, steps = text.strip().removeprefix("$"), list[str | int | None]()
        while rest:
            found = _STEP.match(rest)
            if found is None or (steps and found["name"] is not None and not rest.startswith(".")):
                raise UsageError(
                    f"cannot read the path {text!r} at {rest[:20]!r}. Write it like $.hits[*].id, $.answer or "
                    '$.data[0]["chunk id"].'
                )
            name = next((found[n] for n in ("name", "single", "double") if found[n] is not None), None)
            steps.append(name if name is not None else None if found["all"] else int(found["number"]))
            rest = rest[found.end() :]
        return cls(text, tuple(steps))

    @property
    def is_many(self) -> bool:
        """Whether it names every item of a list."""
        return None in self.steps

    def find(self, value: Any) -> list[Any]:
        """What stands there; nothing where a list on the way is empty. A step that does not fit is NothingThere."""
        found = [value]
        for number, step in enumerate(self.steps):
            found = [inner for one in found for inner in self._step(one, step, number)]
        return found

    def _step(self, value: Any, step: str | int | None, number: int) -> list[Any]:
        if isinstance(step, str) and isinstance(value, dict) and step in value:
            return [value[step]]
        if isinstance(value, list):
            if step is None:
                return value
            if isinstance(step, int) and -len(value) <= step < len(value):
                return [value[step]]
        raise NothingThere(f"the path {self.text} does not fit: {_there(value, self._so_far(number))}")

    def _so_far(self, number: int) -> str:
        shown = "".join(
            "[*]" if s is None else f"[{s}]" if isinstance(s, int) else f".{s}" for s in self.steps[:number]
        )
        return f"${shown}"


def _there(value: Any, place: str) -> str:
    if isinstance(value, dict):
        keys = ", ".join(map(str, list(value)[:8])) or "nothing"
        return f"{place} is an object with {keys}"
    if isinstance(value, list):
        return f"{place} is a list of {len(value)}"
    return f"{place} is {'null' if value is None else 'a text' if isinstance(value, str) else 'a plain value'}"
