"""Options of a command line that stand in place of keys of karat.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.core.errors import UsageError

_AS_KEYS = {"model": "name", "price_in": "price_in_usd", "price_out": "price_out_usd"}


def option_values(
    written: Mapping[str, Any],
    *,
    answer: str | None = None,
    contexts: int | None = None,
    judge: str | None = None,
    claims: Sequence[str] | None = None,
    repeat: int | None = None,
    columns: Mapping[str, str] | None = None,
    matching: Mapping[str, Any] | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    processes: int | None = None,
    pool: Mapping[str, Any] | None = None,
    **model: Any,
) -> dict[str, Any]:
    """The keys that options change, each whole; what they leave open stays as written.

    `--answer none` takes the key out. `matching` are keys that say how hits and gold are matched.
    """
    values = _given(map=dict(columns) if columns else None, judge=[judge] if judge else None, judge_repeat=repeat)
    values |= _given(claims=list(claims) if claims else None)
    values |= _given(**(matching or {}))
    if answer == "none":
        values["answer"] = None
    elif answer is not None or contexts is not None:
        before = _mapping(written.get("answer"), "by")
        by = answer or before.get("by", "extractive")
        same = by == before.get("by", "extractive")
        values["answer"] = {**(before if same else {}), "by": by, **_given(contexts=contexts)}
    if named := _given(**{_AS_KEYS.get(name, name): value for name, value in model.items()}):
        before = _mapping(written.get("model"), "name")
        if "name" not in named and not before:
            option = next(iter(model)).replace("_", "-")
            raise UsageError(f"--{option} is for a chat model, and none is named. Add --model.")
        same = named.get("name") in (None, before.get("name"))
        values["model"] = {**(before if same else {}), **named}
    if workers := _given(jobs=processes, **(pool or {})):
        before = _mapping(written.get("pool"), "by")
        same = workers.get("by") in (None, before.get("by", "local"))
        values["pool"] = {**(before if same else {}), **workers}
    if limits := _given(max_cost_usd=max_cost, max_calls=max_calls):
        values["budgets"] = {**(written.get("budgets") or {}), **limits}
    return values


def _given(**options: Any) -> dict[str, Any]:
    """The options that say something."""
    return {name: value for name, value in options.items() if value is not None}


def _mapping(value: Any, name: str) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else _given(**{name: value})
