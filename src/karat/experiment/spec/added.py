"""Added: a system put into a karat.yaml that stands, which keeps every other byte."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from karat.core.errors import InputError, KaratError, UsageError
from karat.experiment.spec import Spec, spec_of
from karat.experiment.spec._yaml import _Loader
from karat.io.checksum import digest
from karat.io.opening import read_whole
from karat.io.writing import write_whole

LONGEST_NAME = 80
_ENDINGS = (".yaml", ".yml")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_writing = threading.Lock()


class ChangedFileError(KaratError):
    """A file is not what it was when it was looked at."""


@dataclass(frozen=True)
class SpecFile:
    """A karat.yaml as it stood when it was read; `mark` tells this content from others."""

    path: Path
    text: str
    spec: Spec

    @classmethod
    def read(cls, path: Path) -> SpecFile:
        """The file, checked as `karat run` checks it."""
        if path.suffix.lower() not in _ENDINGS or path.is_symlink() or not path.is_file():
            what = "is a link" if path.is_symlink() else "does not exist" if not path.exists() else "is no .yaml file"
            raise InputError(
                what, place=str(path),
                remedy="Write one with `karat init DOCS TESTSET -o karat.yaml`, or copy the lines to yours.",
            )  # fmt: skip
        try:
            text = read_whole(path).decode("utf-8")
        except UnicodeDecodeError:
            raise InputError("is not UTF-8", place=str(path), remedy="Save it as UTF-8.") from None
        return cls(path, text, spec_of(text.removeprefix("\ufeff"), path.parent, path.name))

    @property
    def mark(self) -> str:
        return digest({"text": self.text})

    @property
    def names(self) -> frozenset[str]:
        """What its systems are called, those of its sweep among them."""
        listed = {one.name for one in self.spec.systems()}
        grid = self.spec.grid
        return frozenset(listed | ({point.name for point in grid.points(1)[0]} if grid is not None else set()))

    def with_system(self, name: str, settings: Mapping[str, Any]) -> str:
        """Its text with one more system; refused where the name is taken or cannot be."""
        entry = entry_of(name, settings)
        if name in self.names:
            raise UsageError(f"{self.path.name} has a system {name!r}. Choose another name.")
        start = "\ufeff" if self.text.startswith("\ufeff") else ""
        text = start + _added(self.text.removeprefix("\ufeff"), entry, self.path)
        before, after = dict(self.spec.written.values), spec_of(text.removeprefix("\ufeff"), self.path.parent)
        expected = {**before, "systems": [*(before.get("systems") or ()), entry]}
        if after.written.values != expected or after.systems()[-1].name != name:
            raise _not_addable(self.path)
        return text

    def add(self, name: str, settings: Mapping[str, Any], mark: str) -> None:
        """Write it with one more system, where it is still the file of this `mark`."""
        with _writing:
            now = SpecFile.read(self.path)
            if now.mark != mark:
                raise ChangedFileError(f"{self.path} was changed meanwhile. Look at it, then write the system again.")
            text = now.with_system(name, settings)
            if SpecFile.read(self.path).mark != mark:
                raise ChangedFileError(f"{self.path} was changed meanwhile. Look at it, then write the system again.")
            write_whole(self.path, text)


def entry_of(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A system as karat.yaml has it."""
    if name != name.strip() or not name or len(name) > LONGEST_NAME or not name.isprintable() or "${" in name:
        raise UsageError(
            f"a system cannot be called {name!r:.100}. Write up to {LONGEST_NAME} characters on one line, without "
            "spaces around them and without ${."
        )
    return {"name": name, **settings}


def lines_of(entry: Mapping[str, Any]) -> list[str]:
    """The lines of an entry, each a key and its value."""
    return [f"{key}: {_scalar(value)}" for key, value in entry.items()]


def _scalar(value: Any) -> str:
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in ("true", "false", "null")
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def _added(text: str, entry: Mapping[str, Any], path: Path) -> str:
    """The text with an entry after the last of `systems`; with that key at the end where there is none."""
    newline = "\r\n" if "\r\n" in text else "\n"
    root = yaml.compose(text, Loader=_Loader)
    pairs = [(key.value, node) for key, node in root.value] if isinstance(root, yaml.MappingNode) else []
    node = next((node for key, node in pairs if key == "systems"), None)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise _not_addable(path)
    if node is None:
        end = "" if text.endswith("\n") else newline
        return text + end + f"systems:{newline}" + _block(entry, "  ", newline)
    if not isinstance(node, yaml.SequenceNode):
        raise _not_addable(path)
    if node.flow_style:
        at = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
        return f"{text[:at]}{', ' if node.value else ''}{{{', '.join(lines_of(entry))}}}{text[at:]}"
    at = text.find("\n", _last(node).end_mark.index - 1) + 1
    lead = "" if at else newline
    at = at or len(text)
    return text[:at] + lead + _block(entry, " " * node.start_mark.column, newline) + text[at:]


def _block(entry: Mapping[str, Any], indent: str, newline: str) -> str:
    first, *rest = lines_of(entry)
    return "".join([f"{indent}- {first}{newline}", *(f"{indent}  {line}{newline}" for line in rest)])


def _last(node: Any) -> Any:
    """What stands last in a node, of which the end is known to the letter."""
    while isinstance(node, yaml.SequenceNode | yaml.MappingNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _not_addable(path: Path) -> InputError:
    return InputError(
        "a system cannot be added to it without writing it anew", place=str(path),
        remedy="Put the lines that are shown into its `systems` by hand.",
    )  # fmt: skip
