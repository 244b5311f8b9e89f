import pytest

from karat.core.text.words import band


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
    assert band(name, mean)[0] == expected


def test_the_same_band_means_ranking_for_mrr_and_finding_for_recall():
    assert "top 2" in band("MRR", 0.75)[1]
    assert "found" in band("Recall", 0.75)[1]


def test_nothing_else_has_a_band():
    for name in ("nDCG", "Hit", "F1", "Precision", "EM"):
        assert band(name, 0.95) is None
    assert band("SemanticSimilarity", 0.79) is None
    assert band("MRR", None) is None


def test_a_mean_a_rounding_below_the_floor_is_in_the_band():
    assert band("MRR", 0.1 + 0.2 + 0.4 - 1e-16)[0] == "Good"
