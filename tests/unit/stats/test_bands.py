import pytest

from karat.core.measure import Measure, MeasureSpec
from karat.results.evaluation import Summary
from karat.stats.bands import band, targets


def a_measure(name, k=None, **declared):
    return Measure(MeasureSpec(name, lambda judged, k=None: judged, cut="optional", **declared), k)


@pytest.mark.parametrize(
    ("name", "mean", "expected"),
    [
        ("MRR", 0.90, "Excellent"),
        ("MRR", 0.8999, "Good"),
        ("MRR", 0.70, "Good"),
        ("MRR", 0.50, "Moderate"),
        ("Recall", 0.30, "Fair"),
        ("Recall", 0.2999, "Poor"),
        ("TokenF1", 0.80, "Excellent"),
        ("TokenF1", 0.60, "Good"),
        ("TokenF1", 0.20, "Fair"),
        ("TokenF1", 0.19, "Poor"),
        ("SemanticSimilarity", 0.85, "High"),
        ("SemanticSimilarity", 0.80, "Production-grade"),
    ],
)
def test_bands(name, mean, expected):
    assert band(a_measure(name, 5), mean)[0] == expected


def test_the_same_band_means_ranking_for_mrr_and_finding_for_recall():
    assert "top 2" in band(a_measure("MRR"), 0.75)[1]
    assert "found" in band(a_measure("Recall", 5), 0.75)[1]


def test_nothing_else_has_a_band():
    for name in ("nDCG", "Hit", "F1", "Precision", "EM"):
        assert band(a_measure(name, 5), 0.95) is None
    assert band(a_measure("SemanticSimilarity"), 0.79) is None
    assert band(a_measure("MRR"), None) is None


def test_a_mean_a_rounding_below_the_floor_is_in_the_band():
    assert band(a_measure("MRR"), 0.1 + 0.2 + 0.4 - 1e-16)[0] == "Good"


def test_targets_are_met_above_not_at():
    found = targets(
        [
            Summary("a", "F1@5", 9, 0, 0, mean=0.5),
            Summary("a", "Hit@5", 9, 0, 0, mean=0.81),
            Summary("a", "MRR", 0, 9, 0),
            Summary("a", "MRR", 3, 0, 0, mean=0.9, slice="kind", value="x"),
            Summary("a", "Recall@5", 9, 0, 0, mean=0.5),
        ],
        {"F1@5": 1 / 3},
    )
    assert targets([Summary("a", "MRR(rel=2)", 9, 0, 0, mean=0.6)], {})[0].met
    assert targets([Summary("a", "MRR", 0, 0, 9)], {})[0].met is None
    assert [(t.measure, t.threshold, t.met, t.ceiling) for t in found] == [
        ("F1@5", 0.5, False, 1 / 3),
        ("Hit@5", 0.8, True, 1.0),
    ]
