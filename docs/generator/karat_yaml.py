"""The keys of karat.yaml, from its JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.generator.markdown import code, listed, page, table

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
}
_ENDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def karat_yaml() -> str:
    """Every key, table by table, and the presets."""
    from karat.experiment.spec.presets import PRESETS

    schema = _schema()
    parts = ["## Top level", _keys(schema)]
    for name, definition in schema.get("$defs", {}).items():
        if "properties" in definition:
            parts += [f"## {name}", definition.get("description", ""), _keys(definition)]
    rows = (
        (
            code(preset.name),
            code(preset.known_as or ""),
            listed(f"{key}: {value}" for key, value in preset.settings),
            preset.description,
            preset.use_case,
        )
        for preset in PRESETS.values()
    )
    parts += ["## Presets", table(("preset", "also called", "settings", "what it is", "use it for"), rows)]
    about = (
        "How a file is written: [Describe an experiment](../how-to/describe-an-experiment.md). This page is made from "
        "the JSON Schema, with which editors complete and check as you type."
    )
    return page("Keys of karat.yaml", about, parts)


def _schema() -> dict[str, Any]:
    import karat.experiment.spec as spec

    return dict(json.loads((Path(spec.__file__).parent / "karat.schema.json").read_text(encoding="utf-8")))


def _keys(definition: dict[str, Any]) -> str:
    rows = []
    for name, key in definition["properties"].items():
        default = "" if key.get("default") in (None, [], {}) else code(_written(key["default"]))
        required = name in definition.get("required", ())
        rows.append((code(name), key.get("description", ""), _type(key), "required" if required else default))
    return table(("key", "meaning", "value", "default"), rows)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _type(key: dict[str, Any]) -> str:
    """What a key takes, in a few words; a mapping of its own is linked."""
    if "$ref" in key:
        name = key["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in key or "const" in key:
        return " or ".join(code(_written(value)) for value in key.get("enum", [key.get("const")]))
    for several in ("anyOf", "oneOf", "allOf"):
        if several in key:
            return " or ".join(dict.fromkeys(filter(None, (_type(one) for one in key[several]))))
    kind = key.get("type", "")
    if kind == "array":
        inner = _type(key.get("items", {}))
        return f"list of {inner}" if inner else "list"
    ends = ", ".join(f"{sign} {key[name]}" for name, sign in _ENDS.items() if name in key)
    return " ".join(filter(None, [_TYPES.get(kind, ""), ends]))
