"""`${NAME}` in texts: replaced by a variable of the environment when it is used, and only then.

What is written down, shown or digested is the template. `$${` stands for `${` itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from karat.core.errors import UsageError, did_you_mean

_SHAPE = re.compile(r"\$(\$\{)|\$\{([^{}]*)\}|\{(question|id|k|contexts|history)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Environment = Mapping[str, str]


def has_variables(text: str) -> bool:
    """Whether a text waits for the environment."""
    return "${" in text


def check_template(text: str) -> None:
    """Refuse `${...}` that names no variable. The text itself is not shown: it may be a secret in the wrong place."""
    for found in _SHAPE.finditer(text):
        if found[2] is not None and not _NAME.fullmatch(found[2]):
            raise UsageError("${...} names a variable of the environment: letters, digits and _. Write $${ for ${.")
    if "${" in _SHAPE.sub("", text):
        raise UsageError("a ${ without its }. Write ${NAME}, or $${ for ${ itself.")


def variables(value: Any) -> Iterator[str]:
    """Names of all variables in texts of a value, however deep."""
    for text in texts_of(value):
        yield from (found[2] for found in _SHAPE.finditer(text) if found[2] is not None)


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)


def lookup(name: str, environment: Environment | None = None) -> str:
    """The value of a variable that must be set."""
    known = os.environ if environment is None else environment
    value = known.get(name, "")
    if not value:
        near = did_you_mean(name, [other for other in known if known[other]])
        raise UsageError(f"the environment variable {name} is not set.{near} Set it, or take ${{{name}}} out.")
    return value


def filled(value: Any, environment: Environment | None = None) -> Any:
    """A value with the variables in its texts replaced."""
    return placed(value, lambda text: substituted(text, {}, environment))


def placed(value: Any, change: Callable[[str], Any]) -> Any:
    """A value with each of its texts changed, keys aside."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: placed(inner, change) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [placed(inner, change) for inner in value]
    return value


def substituted(text: str, given: Mapping[str, str], environment: Environment | None = None) -> str:
    """A text with `${NAME}` and the placeholders of `given` replaced, in one pass: what is put in is not read again."""

    def value(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1]
        if found[2] is not None:
            return lookup(found[2], environment)
        return given.get(found[3], found[0])

    return _SHAPE.sub(value, text)
