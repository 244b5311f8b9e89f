"""A package that adds measures, as the laws see it: registered through a stubbed entry point, like any plug-in."""

import sys
import types
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from karat.core import registry
from karat.core.measure import MEASURES, measure

MODULE = "measures_of_another_package"


@measure(bounds=(-1.0, 1.0), best_for="laws", cut="required")
def early(judged, k, *, half: float = 2.0):
    """Relevant slots of the top k, each worth half as much for every `half` ranks, less 1 when there is none."""
    hits = judged.hits
    top = judged.within(hits.pair, hits.rank, k)
    worth = judged.per_pair(hits.pair[top], 0.5 ** ((hits.rank[top] - 1) / half))
    best = sum(0.5 ** (i / half) for i in range(k)) if isinstance(k, int) else 1.0
    return np.where(worth > 0, worth / best, -1.0)


@measure(name="Wordiness", bounds=(0.0, np.inf), direction="lower", best_for="laws")
def wordiness(answer, question, *, per: int = 1):
    """Words of the answer; none for a question that asks nothing."""
    return len(answer.split()) / per if question else None


@pytest.fixture(scope="module", autouse=True)
def plugin():
    """The registry as it stands in an environment with a plug-in package installed."""
    module = types.ModuleType(MODULE)
    module.early, module.wordiness = early, wordiness
    entries = [
        EntryPoint("early", f"{MODULE}:early", "karat.measures"),
        EntryPoint("Wordiness", f"{MODULE}:wordiness", "karat.measures"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, MODULE, module)
        patch.setattr(registry, "entry_points", lambda group: entries if group == "karat.measures" else [])
        patch.setattr(MEASURES, "_plugins", None)
        patch.setattr(MEASURES, "_loaded", dict(MEASURES._loaded))
        yield
