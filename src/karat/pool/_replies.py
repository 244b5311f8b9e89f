"""What goes between the process that leads and its workers: shards and errors as plain JSON."""

from __future__ import annotations

import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from karat.core import errors
from karat.core.errors import InputError, KaratError
from karat.pool._task import Shard


def plain_shard(shard: Shard) -> dict[str, Any]:
    return {**asdict(shard), "path": str(shard.path)}


def shard_of(values: dict[str, Any]) -> Shard:
    return Shard(**{**values, "path": Path(values["path"])})


def described(problem: Exception) -> dict[str, Any]:
    """An exception as plain JSON, by the nearest kind that `raised` knows."""
    if isinstance(problem, InputError):
        fields = {name: getattr(problem, name) for name in ("problem", "place", "row", "unit", "field", "remedy")}
        return {"input": fields}
    if isinstance(problem, KaratError):
        known = (kind.__name__ for kind in type(problem).__mro__ if getattr(errors, kind.__name__, None) is kind)
        return {"kind": next(known), "text": str(problem)}
    if isinstance(problem, OSError):
        return {"system": [problem.errno, problem.strerror]}
    return {"trace": "".join(traceback.format_exception(problem))}


def raised(described: dict[str, Any]) -> Exception:
    """The exception that a worker described."""
    if "input" in described:
        fields = described["input"]
        return InputError(fields.pop("problem"), **fields)
    if "kind" in described:
        error: Exception = getattr(errors, described["kind"])(described["text"])
        return error
    if "system" in described:
        return OSError(*described["system"])
    return RuntimeError(f"in a worker: {described['trace']}")
