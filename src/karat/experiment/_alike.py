"""Alike: whether two runs are scored the same way, so that a measure means the same in both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.results.evaluation import Matching

_WAYS = ("rel", "pages", "page_offset")  # with dialect, repeats and matcher: what a measure's meaning depends on


def scored_apart(
    one: tuple[Mapping[str, Any], Matching | None], other: tuple[Mapping[str, Any], Matching | None]
) -> str:
    """What differs in how two runs are scored, by their manifests and matching; nothing where they are alike."""
    ways = [_ways(*one), _ways(*other)]
    return ", ".join(f"{way} {first} and {ways[1][way]}" for way, first in ways[0].items() if first != ways[1][way])


def _ways(manifest: Mapping[str, Any], matching: Matching | None) -> dict[str, Any]:
    from karat.measures.dialects import dialect_named

    spec = manifest.get("spec", {})
    dialect = spec.get("dialect") or "karat"
    repeats = spec.get("repeats") or dialect_named(dialect).repeats
    matcher = matching.matcher if matching is not None else spec.get("match")
    return {"dialect": dialect, "repeats": repeats, "matcher": matcher, **{way: spec.get(way) for way in _WAYS}}
