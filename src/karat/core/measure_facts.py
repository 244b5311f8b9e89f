"""What is declared about a measure, in words: for lists, explanations and the reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.core.measure import MEASURES, Measure, Param, spell
from karat.core.models import Need

_MODELS: dict[Need, str] = {"chat": "a chat model", "embedder": "an embedder", "cross_encoder": "a cross-encoder"}
_OF_CONTEXTS = {"passage", "passages", "cited", "context"}  # words of relations that speak of contexts


def facts(measure: Measure) -> dict[str, Any]:
    """A measure as it is used here."""
    spec, (low, high) = measure.spec, measure.bounds
    return {
        "name": measure.name,
        "what": spec.summary,
        "notes": spec.notes,
        "formula": spec.formula,
        "defined_by": spec.defined_by,
        "needs": needs(measure),
        "range": f"{_end(low)} to {_end(high)}",
        "better": {"higher": "higher", "lower": "lower", "none": "neither"}[spec.direction],
        "stage": spec.stage,
        "best_for": spec.best_for,
        "prefer": spec.prefer,
        "parameters": [_offer(p) for p in spec.all_params],
        "variants": list(spec.variants),
        "also_called": list(spec.aliases),
    }


def needs(measure: Measure) -> list[str]:
    """What there must be for a measure to have a value, in words."""
    spec, relations = measure.spec, measure.relations
    if spec.stage == "retrieval":
        return ["steps" if spec.needs_steps else "retrieved hits", *(["gold"] if spec.needs_gold else [])]
    wants = {
        "answers": spec.needs_answer,
        "reference answers": spec.needs_reference or any("reference" in relation for relation in relations),
        "contexts": spec.needs_contexts or any(_OF_CONTEXTS & set(relation.split()) for relation in relations),
        "nuggets": any("nugget" in relation for relation in relations),
        f"claims ({', '.join(relations)})": bool(relations),
    }
    models = [_MODELS[need] for need in measure.needs]
    return [what for what, wanted in wants.items() if wanted] + models


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
