"""The public Python names: signatures and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from docs.generator.contracts import attributes
from docs.generator.markdown import code, first_line, page, table

WIDTH = 110
_ALSO = (
    ("karat.experiment.settings", "MatchSettings"),
    ("karat.experiment.models", "ChatOptions"),
    ("karat.experiment.settings", "SignificanceTest"),
    ("karat.experiment.finished", "FinishedRun"),
)


def python() -> str:
    """Every name in `karat.__all__`."""
    import karat

    sections = []
    for name in karat.__all__:
        thing = getattr(karat, name)
        sections.append(f"## karat.{name}")
        if inspect.isclass(thing):
            sections.append(inspect.getdoc(thing) or "")
            members = list(_members(thing))
            sections.append(table(("member", "meaning"), members) if members else "")
        else:
            sections += [f"```text\n{_signature(f'karat.{name}', thing)}\n```", inspect.getdoc(thing) or ""]
    sections.append("## Settings and results")
    for module, name in _ALSO:
        cls = getattr(import_module(module), name)
        fields, members = list(attributes(cls)), list(_members(cls))
        sections += [f"### {name}", inspect.getdoc(cls) or ""]
        sections.append(table(("field", "type and default", "meaning"), fields) if fields else "")
        sections.append(table(("member", "meaning"), members) if not fields else "")
    about = "How they work together: [Use karat from Python](../how-to/use-from-python.md)."
    return page("Python", about, sections)


def _members(cls: type) -> Iterator[tuple[str, str]]:
    """Public methods and properties, inherited ones of karat included."""
    owners = [owner for owner in reversed(cls.__mro__) if owner.__module__.startswith("karat.")]
    for name, member in {name: member for owner in owners for name, member in vars(owner).items()}.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property | cached_property):
            yield code(name), first_line(member)
        elif inspect.isfunction(function := getattr(member, "__func__", member)):
            parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
            shown = (f"{_stars(p)}{p.name}{_default(p, '=')}" for p in parameters)
            yield code(f"{name}({', '.join(shown)})"), first_line(function)


def _signature(name: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    shown = [f"{_stars(p)}{p.name}{_hint(p)}{_default(p, ' = ')}" for p in parameters]
    keyword_only = [place for place, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY]
    if keyword_only and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        shown.insert(keyword_only[0], "*")
    returned = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    flat = f"{name}({', '.join(shown)}){returned}"
    return flat if len(flat) <= WIDTH else f"{name}(\n    " + ",\n    ".join(shown) + f",\n){returned}"


def _stars(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "*"
    return "**" if parameter.kind is parameter.VAR_KEYWORD else ""


def _hint(parameter: inspect.Parameter) -> str:
    return "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"


def _default(parameter: inspect.Parameter, equals: str) -> str:
    if parameter.default is parameter.empty:
        return ""
    return f"{equals}{'...' if callable(parameter.default) else repr(parameter.default)}"
