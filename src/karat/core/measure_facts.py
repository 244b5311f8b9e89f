"""What is declared about a measure, in words: for lists, explanations and the reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.core.measure import MEASURES, Measure, Param, spell


def facts(measure: Measure) -> dict[str, Any]:
    """A measure as it is used here."""
    spec, (low, high) = measure.spec, measure.bounds
    return {
        "name": measure.name,
        "what": spec.summary,
        "notes": spec.notes,
        "formula": spec.formula,
        "defined_by": spec.defined_by,
        "range": f"{_end(low)} to {_end(high)}",
        "better": {"higher": "higher", "lower": "lower", "none": "neither"}[spec.direction],
        "stage": spec.stage,
        "best_for": spec.best_for,
        "prefer": spec.prefer,
        "parameters": [_offer(p) for p in spec.all_params],
        "variants": list(spec.variants),
        "also_called": list(spec.aliases),
    }


def list_measures() -> list[dict[str, Any]]:
    """Every registered measure, plug-ins included, with its range, direction, stage and use."""
    return [facts(Measure(spec, k=10 if spec.cut == "required" else None)) for spec in MEASURES]


def _end(bound: float) -> str:
    return f"{bound:g}" if np.isfinite(bound) else "any"


def _offer(param: Param) -> str:
    if param.choices:
        return f"{param.name}={'|'.join(map(str, param.choices))}"
    if param.type is bool:
        return param.name
    return f"{param.name}={spell(param.default) if param.default is not None else param.type.__name__}"
