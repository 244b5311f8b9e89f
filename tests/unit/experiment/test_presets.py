"""Presets: names, the healthcare document's names, and what they set."""

import pytest

from karat.core.errors import UsageError
from karat.experiment.spec import spec_of
from karat.experiment.spec.presets import PRESETS, preset_named

ALPHAS = {"pure_dense": 1.0, "dense_heavy": 0.7, "balanced": 0.5, "sparse_heavy": 0.3, "pure_sparse": 0.0}


def test_alphas_and_fusions():
    assert {name: dict(p.settings).get("alpha") for name, p in PRESETS.items()} == {**ALPHAS, "rrf": None}
    assert {p.fusion for name, p in PRESETS.items() if name != "rrf"} == {"weighted"}
    assert PRESETS["rrf"].fusion == "rrf"
    assert all(p.description and p.use_case for p in PRESETS.values())
    assert len({p.use_case for p in PRESETS.values()}) == 6


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Pure_Dense_FAISS", "pure_dense"),
        ("dense-heavy hybrid", "dense_heavy"),
        ("BALANCED_HYBRID", "balanced"),
        ("Sparse-Heavy Hybrid", "sparse_heavy"),
        ("pure sparse bm25", "pure_sparse"),
        ("Pure-Sparse", "pure_sparse"),
        ("RRF", "rrf"),
    ],
)
def test_names_however_spelled(given, name):
    assert preset_named(given).name == name


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UsageError, match=r"unknown preset 'balnced'\. Did you mean balanced\? There are pure_dense"):
        preset_named("balnced")


def test_a_spec_knows_each_by_settings_description_and_use_case():
    names = ", ".join(PRESETS)
    systems = spec_of(f"testset: q.json\ncorpus: docs\nsystems: [{names}]\n").systems()
    assert [s.name for s in systems] == list(PRESETS)
    assert [s.configuration.alpha for s in systems] == [1.0, 0.7, 0.5, 0.3, 0.0, None]
    assert [s.source.consulted for s in systems][:2] == [("dense",), ("dense", "bm25")]
    assert systems[4].source.consulted == ("bm25",)
    assert systems[5].source.fusion == "rrf"
    assert [s.configuration.use_case for s in systems] == [p.use_case for p in PRESETS.values()]
