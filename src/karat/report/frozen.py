"""Frozen: what a test set is frozen as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from karat.report._escape import clean
from karat.report._grid import listing
from karat.report._screen import as_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def as_json(frozen: DataclassInstance, path: str, note: str, *, stood: bool) -> str:
    """One JSON object: the version with its digest and counts, and the files."""
    import json

    told = {"testset": path, "written": None if stood else note, **asdict(frozen)}
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def render(frozen: DataclassInstance, path: str, note: str, *, stood: bool) -> str:
    """The same in words."""
    told = asdict(frozen)
    return as_text(lambda width: [listing(*_rows(told, path, note, stood))])


def _rows(told: dict[str, Any], path: str, note: str, stood: bool) -> Iterator[tuple[str, str]]:
    yield "test set", clean(f"{path}: {told['questions']:,} question{'' if told['questions'] == 1 else 's'}")
    yield "version", f"{told['version']}{', as it was frozen before: nothing changed' if stood else ''}"
    yield "digest", told["digest"]
    for name, field in (("kinds", "kinds"), ("made by", "made_by")):
        if told[field]:
            yield name, clean(", ".join(f"{key} {count:,}" for key, count in told[field].items()))
    if told["earlier"]:
        yield "before", clean(", ".join(f"{version} ({digest[:12]})" for version, digest in told["earlier"].items()))
    if not stood:
        yield "written", clean(note)
