"""Scripts: the page's modules joined into one script, in the order in which they need each other.

Modules are plain ES modules that browsers load as they are. To be joined they keep to a form that lines alone tell:
imports one per line at the top, by name and from beside; declarations at the top level begin their line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

_IMPORT = re.compile(r'import \{ ([\w$, ]+) \} from "\./([\w-]+\.js)";')
_DECLARED = re.compile(r"(export )?((?:async )?function\*?|class|const|let) ([\w$]+)")
_OTHER_FORM = re.compile(r"(?:import|export|var)\b|(?:const|let)\s*[\[{]")


@dataclass(frozen=True)
class Module:
    """A module: its lines without imports, what it declares and exports, and the names it takes from others."""

    name: str
    body: str
    declared: tuple[str, ...]
    exported: frozenset[str]
    imports: dict[str, tuple[str, ...]]


def joined(entry: str, read: Callable[[str], str]) -> str:
    """The module `entry` and all it imports as one script in a scope of its own; `read` gives the text of a module."""
    modules = _with_imports(entry, read)
    try:
        order = list(TopologicalSorter({name: module.imports for name, module in modules.items()}).static_order())
    except CycleError as error:
        raise ValueError(f"modules import each other: {' ← '.join(error.args[1])}") from None
    homes: dict[str, str] = {}
    for name in order:
        for declared in modules[name].declared:
            if homes.setdefault(declared, name) != name:
                raise ValueError(f"{declared} is declared in {homes[declared]} and in {name}")
        for home, names in modules[name].imports.items():
            if unknown := sorted({*names} - modules[home].exported):
                raise ValueError(f"{name} imports {', '.join(unknown)} from {home}, which does not export it")
    bodies = "\n".join(modules[name].body for name in order)
    return f'(() => {{\n"use strict";\n{bodies}}})();\n'


def _with_imports(entry: str, read: Callable[[str], str]) -> dict[str, Module]:
    modules: dict[str, Module] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules[name] = module_of(name, read(name))
            waiting += modules[name].imports
    return modules


def module_of(name: str, text: str) -> Module:
    """A module by its lines; a form that joining would break is refused.

    >>> module_of("a.js", 'import { b } from "./b.js";\\nexport const a = b;\\n').body
    'const a = b;\\n'
    """
    body: list[str] = []
    declared: list[str] = []
    exported: set[str] = set()
    imports: dict[str, tuple[str, ...]] = {}
    for number, line in _lines(text):
        if match := _IMPORT.fullmatch(line.rstrip("\n")):
            if any(one.strip() and not one.startswith("//") for one in body):
                raise ValueError(f"{name} line {number}: imports stand at the top")
            names = tuple(one.strip() for one in match[1].split(","))
            imports[match[2]] = (*imports.get(match[2], ()), *names)
            continue
        if match := _DECLARED.match(line):
            if match[3] in declared:
                raise ValueError(f"{name} line {number}: {match[3]} is declared twice")
            declared.append(match[3])
            if match[1]:
                exported.add(match[3])
                line = line.removeprefix("export ")
        elif _OTHER_FORM.match(line):
            raise ValueError(f"{name} line {number}: not a form that modules are joined by: {line.strip()}")
        body.append(line)
    return Module(name, "".join(body), tuple(declared), frozenset(exported), imports)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(text.splitlines(keepends=True), 1)
