"""YAML as karat.yaml uses it: plain values with their lines, and nothing that could run, double or explode.

Values are read as in YAML 1.2: `yes` and `0:1:0.1` are text, only true and false are truth values. Aliases and merges
(`<<`) are read as long as what they unfold to stays small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from karat.core.errors import InputError
from karat.io.opening import open_regular

LARGEST = 1 << 20
_MOST, _DEEPEST = 50_000, 40
_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_INT, _FLOAT = r"[-+]?[0-9]+", r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"

Place = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Tells null, true, false, numbers and `<<` from text by the rules of YAML 1.2."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", _INT, list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), _first)


@dataclass
class Loaded:
    """The values of a file, and the line on which each stands."""

    place: str
    values: Any
    lines: dict[Place, int] = field(default_factory=dict)
    path: Path | None = None  # of the file, where they stand in one

    def line(self, at: Place) -> int | None:
        """The line of a value, or of the nearest thing around it."""
        while at not in self.lines and at:
            at = at[:-1]
        return self.lines.get(at)


def load_yaml(path: Path) -> Loaded:
    """The values of a YAML file."""
    place = path.name
    try:
        if path.is_dir():
            raise InputError("is a folder where a file is meant", place=str(path), remedy="Name the karat.yaml in it.")
        with open_regular(path) as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError(
            "does not exist", place=str(path), remedy="Write one with `karat init DOCS TESTSET`, or name another file."
        ) from None
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}", place=str(path), remedy="Check its permissions."
        ) from None
    if len(data) > LARGEST:
        raise InputError(
            f"is larger than {LARGEST >> 20} MB, the most that is read",
            place=place,
            remedy="Name data by path instead of writing it here.",
        )
    try:
        return replace(loads_yaml(data.decode("utf-8-sig"), place), path=path)
    except UnicodeDecodeError as problem:
        row = data[: problem.start].count(b"\n") + 1
        raise InputError("is not UTF-8", place=place, row=row, remedy="Save it as UTF-8.") from None


def loads_yaml(text: str, place: str) -> Loaded:
    """The values of YAML text; `place` is what errors call it."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        what = " ".join(filter(None, (problem.context, problem.problem)))
        remedy = "Check indentation, colons and quotes."
        if "\\t" in what:
            remedy = "Indent with spaces, not tabs."
        elif "alias" in what:
            remedy = "Put a text with * in it into quotes."
        raise InputError(
            f"is no YAML: {what}",
            place=place,
            row=mark.line + 1 if mark else None,
            remedy=remedy,
        ) from None
    except yaml.YAMLError:
        raise InputError(
            "is no YAML: it holds characters that cannot be", place=place, remedy="Remove control characters."
        ) from None
    except RecursionError:
        raise _too_much(place, None) from None
    walk = _Walk(place)
    values = None if root is None else walk.value(root, (), 0)
    return Loaded(place, values, walk.lines)


def _too_much(place: str, row: int | None) -> InputError:
    return InputError(
        "unfolds to more than an experiment can need (deep nesting, or aliases of aliases)",
        place=place,
        row=row,
        remedy="Write it without aliases.",
    )


class _Walk:
    """Makes values of nodes."""

    def __init__(self, place: str) -> None:
        self.place, self.lines, self.seen = place, dict[Place, int](), 0
        self.make = yaml.constructor.SafeConstructor()

    def value(self, node: Any, at: Place, depth: int) -> Any:
        """The plain value of a node."""
        row = node.start_mark.line + 1
        self.seen += 1
        if self.seen > _MOST or depth > _DEEPEST:
            raise _too_much(self.place, row)
        self.lines.setdefault(at, row)
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self.mapping(node, at, depth)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.value(item, (*at, i), depth + 1) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            if kind in ("str", "merge", "value"):
                return node.value
            if kind in ("null", "bool", "int", "float"):
                return self.scalar(node, kind, row)
        raise InputError(
            f"the tag {node.tag.replace(_TAG, '!!')!r} is not read", place=self.place, row=row, remedy="Remove it."
        )

    def scalar(self, node: Any, kind: str, row: int) -> Any:
        try:
            if kind == "float":
                return float(node.value)
            if kind == "int":
                return int(node.value)
            return self.make.construct_object(node)
        except (ValueError, yaml.YAMLError, KeyError):
            raise InputError(
                f"{node.value[:40]!r} cannot be read as {kind}", place=self.place, row=row, remedy="Correct the value."
            ) from None

    def mapping(self, node: Any, at: Place, depth: int) -> dict[str, Any]:
        """The keys of a mapping, then those that `<<` brings and it has not; of several merges the first counts."""
        own: dict[str, Any] = {}
        merges: list[tuple[Any, int]] = []
        for key, value in node.value:
            row, name = key.start_mark.line + 1, key.value
            if not isinstance(key, yaml.ScalarNode):
                raise InputError("a key must be text", place=self.place, row=row, remedy="Write key: value.")
            if key.tag == _MERGE:
                merges += [(part, row) for part in (value.value if isinstance(value, yaml.SequenceNode) else [value])]
                continue
            if name in own:
                raise InputError(
                    f"the key {name!r} stands here twice",
                    place=self.place,
                    row=row,
                    remedy=f"Remove one; the first is on line {self.lines[(*at, name)]}.",
                )
            self.lines.setdefault((*at, name), row)
            own[name] = self.value(value, (*at, name), depth + 1)
        merged: dict[str, Any] = {}
        for part, row in merges:
            if not isinstance(part, yaml.MappingNode):
                raise InputError("<< needs a mapping", place=self.place, row=row, remedy="Write <<: *name.")
            merged = {**self.value(part, at, depth + 1), **merged}
        return {**{name: value for name, value in merged.items() if name not in own}, **own}
