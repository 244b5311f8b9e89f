"""Mistakes in karat.yaml as a person wants them told: where, what is wrong, what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, did_you_mean
from karat.experiment.spec._systems import KINDS
from karat.experiment.spec._yaml import Loaded, Place

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Mistake = tuple[Place, str]
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


def raise_mistakes(loaded: Loaded, mistakes: Sequence[Mistake]) -> None:
    """One error for all mistakes of a file, the first ones in full, by line."""
    if not mistakes:
        return
    placed = dict.fromkeys((_walked(place, loaded.values)[0], said) for place, said in mistakes)
    ordered = sorted(placed, key=lambda mistake: loaded.line(mistake[0]) or 0)
    told = [_told(loaded, place, said) for place, said in ordered[:_SHOWN]]
    text = f"{loaded.place}{told[0]}" + "".join(f" Also{said}" for said in told[1:])
    more = len(ordered) - _SHOWN
    raise InputError(text + (f" And {more} more." if more > 0 else ""))


def _told(loaded: Loaded, place: Place, said: str) -> str:
    line = loaded.line(place) if place else None
    where = f" line {line}," if line is not None else ""
    return f"{where} {shown_place(place)}: {said}" if place else f"{where}: {said}"


def shown_place(place: Place) -> str:
    """A place as `systems[2].alpha`; items count from 0."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".")


def mistakes_of(error: ValidationError, loaded: Loaded, keys: Any) -> list[Mistake]:
    """What a model refused, in karat's words. `keys` is the model."""
    found: dict[Place, str] = {}
    for one in error.errors(include_url=False, include_context=True, include_input=False):
        place, value, known = _walked(one["loc"], loaded.values)
        said = _said(one, place, value, _keys_at(one["loc"], keys) if one["type"] == "extra_forbidden" else known)
        if place in found and one["loc"] and one["loc"][-1] in ("str", "float"):
            said = f"{_shown(value, place)} is neither a number nor a range. Write numbers like 0.5 or 0:1:0.1."
        found[place] = said
    return list(found.items())


def _walked(loc: Sequence[str | int], values: Any) -> tuple[Place, Any, list[str]]:
    """The place in the file that pydantic means, what stands there, and the keys around it."""
    place: list[str | int] = []
    here, around = values, list[str]()
    for part in loc:
        if isinstance(part, int):
            if isinstance(here, list) and part < len(here):
                place.append(part)
                here = here[part]
        elif not part.startswith("<") and not (part in ("str", "float") and not isinstance(here, dict)):
            place.append(part)
            around = list(here) if isinstance(here, dict) else []
            here = here.get(part) if isinstance(here, dict) else None
    return tuple(place), here, around


def _keys_at(loc: Sequence[str | int], model: Any) -> list[str]:
    """The keys that are known where an unknown one stands."""
    from typing import get_args

    from pydantic import BaseModel

    def models(kind: Any) -> list[Any]:
        if isinstance(kind, type):
            return [kind] if issubclass(kind, BaseModel) else []
        return [inner for part in get_args(kind) for inner in models(part)]

    here = model
    tags = {"<mapping>": None, **{f"<{kind}>": kind for kind in KINDS}}
    pending: list[Any] = []
    for part in loc[:-1]:
        if isinstance(part, int):
            continue
        if part in tags:
            wanted = tags[part]
            here = next((m for m in pending if wanted is None or wanted in m.model_fields), here)
        elif part in here.model_fields:
            pending = models(here.model_fields[part].annotation)
            here = pending[0] if pending else here
    return list(here.model_fields)


def _said(one: ErrorDetails, place: Place, value: Any, known: Sequence[str]) -> str:
    kind, context = one["type"], one.get("ctx", {})
    if kind == "extra_forbidden":
        near = did_you_mean(str(place[-1]), known)
        return f"unknown key.{near or ' Known here: ' + ', '.join(known) + '.'}"
    if kind == "missing":
        return "is missing. Add it."
    if kind == "union_tag_not_found":
        return _which_system(value)
    if value is None:
        return "is empty. Write a value, or remove the key."
    if kind == "value_error":
        return str(context.get("error", ""))
    shown = _shown(value, place)
    if kind in _WANTED:
        unset = isinstance(value, str) and "${" in value and kind != "string_type"
        more = " ${...} works in texts only." if unset else " Put it in quotes." if kind == "string_type" else ""
        return f"{shown} is not {_WANTED[kind]}.{more if not isinstance(value, dict | list) else ''}"
    if kind == "literal_error":
        choices = str(context.get("expected", "")).replace("'", "").replace(" or ", ", ").split(", ")
        return f"{shown} is not known.{did_you_mean(str(value), choices)} There are {', '.join(choices)}."
    limits = {
        "greater_than_equal": "at least {ge}",
        "greater_than": "more than {gt}",
        "less_than_equal": "at most {le}",
    }
    if kind in limits:
        return f"{shown} cannot be: it must be {limits[kind].format(**context)}."
    if kind == "too_short":
        return "is empty. Write a value, or remove the key."
    return f"{shown} cannot be: {one['msg'][:1].lower()}{one['msg'][1:]}."


def _which_system(value: Any) -> str:
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
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
