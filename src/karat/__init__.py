"""karat: how much of what a retrieval-augmented system retrieved and said is gold.

>>> import karat
>>> report = karat.score({"q1": {"a": 1}}, {"bm25": {"q1": {"b": 2.0, "a": 1.0}}}, measures="MRR")
>>> report.mean("MRR")
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.core.errors import KaratError
    from karat.core.measure import measure
    from karat.core.measure_facts import list_measures
    from karat.core.types import TestSet
    from karat.experiment.check import check
    from karat.experiment.compare import compare
    from karat.experiment.evaluate import evaluate, system
    from karat.experiment.gate import gate
    from karat.experiment.generate import generate
    from karat.experiment.inputs import load_results, load_testset
    from karat.experiment.judge import judge
    from karat.experiment.report import Report
    from karat.experiment.run import run
    from karat.experiment.score import score
    from karat.experiment.sweep import sweep
    from karat.experiment.verify import verify
    from karat.systems.index import Index, index

__all__ = [
    "Index",
    "KaratError",
    "Report",
    "TestSet",
    "check",
    "compare",
    "evaluate",
    "gate",
    "generate",
    "index",
    "judge",
    "list_measures",
    "load_results",
    "load_testset",
    "measure",
    "run",
    "score",
    "sweep",
    "system",
    "verify",
]

_HOME = {
    "Index": "systems.index",
    "KaratError": "core.errors",
    "Report": "experiment.report",
    "TestSet": "core.types",
    "check": "experiment.check",
    "compare": "experiment.compare",
    "evaluate": "experiment.evaluate",
    "gate": "experiment.gate",
    "generate": "experiment.generate",
    "index": "systems.index",
    "judge": "experiment.judge",
    "list_measures": "core.measure_facts",
    "load_results": "experiment.inputs",
    "load_testset": "experiment.inputs",
    "measure": "core.measure",
    "run": "experiment.run",
    "score": "experiment.score",
    "sweep": "experiment.sweep",
    "system": "experiment.evaluate",
    "verify": "experiment.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        instead = " Use karat.check, which does what audit did." if name == "audit" else ""
        raise AttributeError(f"module 'karat' has no attribute {name!r}.{instead}")
    return getattr(import_module(f"karat.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
