"""The commands: arguments and options, as `--help` has them."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from typing import Any

from docs.generator.markdown import code, listed, page, table

SHARED_BY = 6  # commands that have an option in the same words: it is described once
_SHARED = "Options that most commands share"
_ANCHOR = _SHARED.lower().replace(" ", "-")


def commands() -> str:
    """Every command with its arguments and options."""
    from karat.cli.main import GROUPS, load

    found = {name: load(name) for group in GROUPS.values() for name in group}
    counts = Counter(_described(p) for command in found.values() for p in command.params if _is_option(p))
    shared = {described for described, count in counts.items() if count >= SHARED_BY}
    rows = ((title, _link(name), summary) for title, group in GROUPS.items() for name, summary in group.items())
    parts = [
        table(("to", "command", "does"), rows),
        f"## {_SHARED}",
        table(("option", "meaning"), sorted((listed(opts), text) for opts, text, _ in shared)),
    ]
    for name, command in found.items():
        parts.extend(_command(name, command, shared))
    about = "`karat COMMAND --help` prints the same; `karat --version` prints the version."
    return page("Commands", about, parts)


def _command(name: str, command: Any, shared: set[Any]) -> Iterator[str]:
    options = [p for p in command.params if _is_option(p) and p.name != "help"]
    arguments = [p for p in command.params if not _is_option(p)]
    own = [p for p in options if _described(p) not in shared]
    common = [p for p in options if _described(p) in shared]
    yield f"## karat {name}"
    yield f"```text\n{' '.join(['karat', name, *map(_placeholder, arguments), '[OPTIONS]'])}\n```"
    yield from _help(command)
    if arguments:
        yield table(("argument", "meaning"), ((code(_placeholder(p)), p.help or "") for p in arguments))
    if own:
        yield table(("option", "meaning", "default"), ((listed(_opts(p)), p.help or "", _default(p)) for p in own))
    if common:
        yield f"Also {listed(max(_opts(p), key=len) for p in common)}: [described above](#{_ANCHOR})."


def _link(name: str) -> str:
    return f"[`karat {name}`](#karat-{name.replace(' ', '-')})"


def _help(command: Any) -> tuple[str, str]:
    """The first line, and the rest."""
    first, _, rest = inspect.cleandoc(command.help or "").partition("\n")
    return first.strip(), rest.strip()


def _is_option(parameter: Any) -> bool:
    return any(name.startswith("-") for name in parameter.opts)


def _opts(parameter: Any) -> tuple[str, ...]:
    return (*parameter.opts, *parameter.secondary_opts)


def _described(parameter: Any) -> tuple[tuple[str, ...], str, str]:
    return _opts(parameter), parameter.help or "", _default(parameter)


def _default(parameter: Any) -> str:
    value = parameter.default() if callable(parameter.default) else parameter.default
    if value is True:
        return "on"
    if value in (None, False, "", (), []):
        return "" if value != 0 or value is False else code("0")
    return code(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def _placeholder(parameter: Any) -> str:
    shown = (getattr(parameter, "metavar", None) or parameter.name.upper()) + ("..." if parameter.nargs == -1 else "")
    return shown if parameter.required else f"[{shown}]"
