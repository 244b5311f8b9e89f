"""Mistakes in karat.yaml, told as karat tells them: file, line, key, what is wrong, what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, did_you_mean
from karat.experiment.spec._answers import AnswerKeys, ModelKeys
from karat.experiment.spec._model import PoolKeys, ReadingKeys, SpecKeys, SweepKeys
from karat.experiment.spec._systems import KINDS, BudgetKeys, HttpKeys
from karat.experiment.spec._values import EmbedderKeys, KeysModel, MisfitError, Mistake
from karat.experiment.spec._yaml import Loaded, Place

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_SHOWN = 3  # mistakes told in full
_HIDDEN = ("headers", "body", "url")  # values that may be secrets are never shown
_WANTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}
_LIMITS = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
}
_KEYS_OF: dict[str, type[KeysModel]] = {
    "reading": ReadingKeys, "pool": PoolKeys, "embedder": EmbedderKeys, "sweep": SweepKeys, "answer": AnswerKeys,
    "model": ModelKeys, "judge_model": ModelKeys, "budgets": BudgetKeys, "http": HttpKeys,
    **{f"<{kind}>": keys for kind, keys in KINDS.items()},
}  # fmt: skip


def raise_mistakes(loaded: Loaded, mistakes: Sequence[Mistake]) -> None:
    """One error for all mistakes of a file, the first ones in full, by line."""
    if not mistakes:
        return
    placed = dict.fromkeys((_walked(place, loaded.values)[0], mistake) for place, mistake in mistakes)
    ordered = sorted(placed, key=lambda mistake: loaded.line(mistake[0]) or 0)
    sentences = [_sentence(loaded, *mistake) for mistake in ordered[:_SHOWN]]
    more = len(ordered) - _SHOWN
    raise InputError(f"{loaded.place}{' Also'.join(sentences)}" + (f" And {more} more." if more > 0 else ""))


def _sentence(loaded: Loaded, place: Place, mistake: str) -> str:
    """` line 4, systems[2].alpha: ...`; items count from 0."""
    line = loaded.line(place) if place else None
    where = f" line {line}," if line is not None else ""
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    return f"{where} {key}: {mistake}" if place else f"{where}: {mistake}"


def mistakes_of(error: ValidationError, values: Any) -> Iterator[Mistake]:
    """What the model refused of a file's values, in karat's words."""
    for one in error.errors(include_url=False, include_input=False):
        problem = one.get("ctx", {}).get("error")
        if isinstance(problem, MisfitError):
            yield from (((*one["loc"], *place), mistake) for place, mistake in problem.mistakes)
        else:
            yield one["loc"], _why(one, *_walked(one["loc"], values))


def _walked(loc: Sequence[str | int], values: Any) -> tuple[Place, Any]:
    """The place in the file that pydantic means, and what stands there: a value alone may stand for a list of it."""
    place: list[str | int] = []
    for part in loc:
        if isinstance(part, int) and isinstance(values, list):
            place.append(part)
            values = values[part]
        elif isinstance(part, str) and isinstance(values, dict) and not part.startswith("<"):
            place.append(part)
            values = values.get(part)
    return tuple(place), values


def _why(one: ErrorDetails, place: Place, value: Any) -> str:
    kind, context = one["type"], one.get("ctx", {})
    shown = _shown(value, place)
    if kind == "extra_forbidden":
        around = [part for part in one["loc"][:-1] if isinstance(part, str)]
        known = list((_KEYS_OF[around[-1]] if around else SpecKeys).model_fields)
        return f"unknown key.{did_you_mean(str(place[-1]), known) or ' Known here: ' + ', '.join(known) + '.'}"
    if kind == "missing":
        return "is missing. Add it."
    if kind == "union_tag_not_found":
        return _which_system(value)
    if value is None or kind == "too_short":
        return "is empty. Write a value, or remove the key."
    if kind == "value_error":
        return str(context["error"])
    if kind in _WANTED:
        unset = isinstance(value, str) and "${" in value
        more = " Put it in quotes." if kind == "string_type" else " ${...} works in texts only." if unset else ""
        return f"{shown} is not {_WANTED[kind]}.{more if not isinstance(value, dict | list) else ''}"
    if kind == "literal_error":
        choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        return f"{shown} is not known.{did_you_mean(str(value), choices)} There are {', '.join(choices)}."
    if kind in _LIMITS:
        return f"{shown} cannot be: it must be {_LIMITS[kind].format(**context)}."
    return f"{shown} cannot be: {one['msg'][:1].lower()}{one['msg'][1:]}."


def _which_system(value: dict[str, Any]) -> str:
    given = [kind for kind in KINDS if kind in value]
    wanted = f"A system has exactly one of {', '.join(KINDS)}."
    if given:
        return f"has both {' and '.join(given)}. {wanted}"
    for key in value:
        near = did_you_mean(str(key), KINDS)
        if near:
            return f"names no system: {key!r} is no key.{near} {wanted}"
    more = " For alpha or fusion write engine: hybrid beside it." if {"alpha", "fusion"} & set(value) else ""
    return f"names no system. {wanted}{more}"


def _shown(value: Any, place: Place) -> str:
    if any(part in _HIDDEN for part in place):
        return "the value"
    if isinstance(value, bool | dict | list):
        return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
