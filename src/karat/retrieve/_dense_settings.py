"""The settings of the engine dense: their defaults, what they may be, and which go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat.core.errors import UsageError
from karat.models import EmbedderSettings
from karat.retrieve._engine import check_settings
from karat.retrieve._precision import PRECISIONS

AUTO = "auto"
_DEFAULTS: dict[str, Any] = {"ann": "exact", "precision": "float32", "m": 32, "ef_construction": 200, "ef_search": AUTO}


def completed_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults, each checked."""
    known = {"embedder": EmbedderSettings().plain(), **_DEFAULTS}
    check_settings("dense", settings, known)
    completed = known | dict(settings)
    if not isinstance(completed["embedder"], Mapping):
        raise UsageError(f"the setting embedder of the engine dense cannot be {completed['embedder']!r}.")
    completed["embedder"] = EmbedderSettings.of(completed["embedder"]).plain()
    if completed["ann"] not in ("exact", "hnsw"):
        raise UsageError(f"the setting ann of the engine dense must be exact or hnsw, found {completed['ann']!r}.")
    if completed["precision"] not in PRECISIONS:
        raise UsageError(
            f"the setting precision of the engine dense must be {', '.join(PRECISIONS)}, "
            f"found {completed['precision']!r}."
        )
    if completed["precision"] == "float32":
        del completed["precision"]
    elif completed["ann"] != "exact":
        raise UsageError(
            "the setting precision of the engine dense is for exact search. Leave it out, or set ann to exact."
        )
    for name, least, most in (("m", 2, 512), ("ef_construction", 1, 100_000), ("ef_search", 1, 100_000)):
        given = completed[name]
        if given != _DEFAULTS[name] and (type(given) is not int or not least <= given <= most):
            raise UsageError(
                f"the setting {name} of the engine dense must be a whole number from {least} to {most}, "
                f"found {completed[name]!r}."
            )
        if completed["ann"] == "exact":
            if name in settings:
                raise UsageError(f"the setting {name} of the engine dense is for hnsw. Set ann to hnsw as well.")
            del completed[name]
    return completed
