"""Grids taken apart by their factors."""

import random

import pytest

from karat.core.errors import InputError, UsageError
from karat.experiment.factors import factors
from karat.report.build.factors import document
from karat.report.render import console


def grid(seed=0, *, effect=0.4, questions=20):
    """Scores in which alpha matters, k does not, and questions differ."""
    rng = random.Random(seed)
    hard = [rng.gauss(0, 1) for _ in range(questions)]
    return [
        {"config_name": f"a{alpha}k{k}", "alpha": alpha, "k": k, "query_id": f"q{q}", "query_type": f"t{q % 3}",
         "relevance": effect * alpha + hard[q] + rng.gauss(0, 0.3)}
        for alpha in (0, 0.5, 1) for k in (3, 5) for q in range(questions)
    ]  # fmt: skip


BOTH = {"score": "relevance", "factor": ["alpha", "k"]}


def test_blocks_tell_what_the_plain_analysis_cannot():
    plain, blocked = factors(grid(), **BOTH), factors(grid(), **BOTH, by="query_id")
    assert [effect.name for effect in blocked.effects] == ["alpha", "k", "alpha x k"]
    assert plain.effects[0].p > 0.05
    assert plain.choice is None
    assert "Without --by" in plain.notes[-1]
    assert blocked.effects[0].p < 0.001
    assert (blocked.by, blocked.blocks, blocked.balanced) == ("query_id", 20, True)
    assert blocked.effects[1].adjusted > 0.05
    assert "goes with alpha: significant (p < .001)" in blocked.sentences[0]
    assert "goes with k: not significant (p " in blocked.sentences[1]


def test_interacting_factors_are_said_to_be_so():
    rows = [{**row, "relevance": row["relevance"] + (row["alpha"] - 0.5) * (row["k"] - 4) * 2} for row in grid()]
    found = factors(rows, **BOTH, by="query_id")
    assert any("alpha and k interact (p < .001)" in sentence for sentence in found.sentences)
    assert not any("interact" in sentence for sentence in factors(grid(), **BOTH, by="query_id").sentences)


def test_marginal_means_and_the_best_cell():
    rows = grid(effect=1.0)
    found = factors(rows, **BOTH, by="query_id")
    own = [row["relevance"] for row in rows if row["alpha"] == 0.5]
    assert [level.name for level in found.factors["alpha"]] == ["0", "0.5", "1"]
    assert found.factors["alpha"][1].mean == pytest.approx(sum(own) / len(own))
    assert found.factors["alpha"][1].n == 40
    best = [row["relevance"] for row in rows if (row["alpha"], row["k"]) == (1, 3)]
    other = [row["relevance"] for row in rows if (row["alpha"], row["k"]) == (1, 5)]
    assert found.choice.best.mean == pytest.approx(max(sum(best), sum(other)) / 20)
    assert len(found.choice.equals) == 1
    assert found.choice.best.system in found.sentences[2]


def test_lower_can_be_better():
    rows = [{**row, "HallucinationRate": row["relevance"]} for row in grid()]
    found = factors(rows, "HallucinationRate", by="query_id", factor=["alpha"])
    assert found.choice.best.system == "alpha 0"


def test_an_unbalanced_grid_says_so():
    found = factors(grid()[7:], **BOTH)
    assert not found.balanced
    assert "type II" in console.render(document(found))


def test_factors_that_say_nothing_are_left_out_and_named():
    rows = [{**row, "model": "one", "twin": {0: "x", 0.5: "y", 1: "z"}[row["alpha"]]} for row in grid()]
    found = factors(rows, "relevance", factor=["alpha", "model", "twin"])
    assert list(found.factors) == ["alpha"]
    assert any("model has one level (one)" in note for note in found.notes)
    assert any("twin changes exactly where alpha does" in note for note in found.notes)


def test_rows_without_a_score_are_counted():
    rows = grid()
    rows[3]["relevance"] = None
    found = factors(rows, **BOTH)
    assert found.n == 119
    assert "1 of 120 rows have no relevance and are left out." in found.notes


def test_one_score_a_cell_has_no_interaction():
    rows = [{"a": a, "b": b, "score": a * b + a} for a in (1, 2, 3) for b in (1, 2, 3)]
    found = factors(rows, "score", factor=["a", "b"])
    assert [effect.name for effect in found.effects] == ["a", "b"]
    assert any("one score a cell" in note for note in found.notes)


def test_constant_scores():
    for score in (1.0, 0.1):  # the mean of many .1 is not exactly .1
        found = factors([{**row, "relevance": score} for row in grid()], **BOTH, by="query_id")
        assert all(effect.p is None for effect in found.effects)
        assert len(found.choice.equals) == 5


def test_scores_with_decimal_commas(tmp_path):
    means = []
    for mark in (".", ","):
        lines = [f"{row['alpha']};{row['k']};{row['relevance']:.3f}".replace(".", mark) for row in grid()]
        (tmp_path / "grid.csv").write_text("\n".join(["alpha;k;relevance", *lines]) + "\n")
        means.append(factors(tmp_path / "grid.csv", **BOTH).factors)
    assert means[0] == means[1]


def test_a_factor_that_the_others_settle_is_named():
    rows = [{**row, "half": "low" if row["alpha"] < 0.7 else "high"} for row in grid()]
    found = factors(rows, "relevance", factor=["alpha", "half"], by="query_id")
    assert [effect.name for effect in found.effects] == ["alpha"]
    assert "half says nothing of its own: the other factors settle its level." in found.notes


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"score": None},
            "name the score and each factor: --score COLUMN --factor COLUMN. grid has config_name, alpha",
        ),
        ({"factor": ()}, "name the score and each factor"),
        ({"score": "relevanse"}, "Did you mean relevance"),
        ({"factor": ["alpa"]}, "--factor alpa: grid has no such column. Did you mean alpha"),
        ({"by": "quest"}, "--by quest: grid has no such column"),
    ],
)
def test_columns_are_named_and_known(given, problem):
    with pytest.raises(UsageError, match=problem):
        factors(grid(), **BOTH | given)


def test_bad_input():
    with pytest.raises(UsageError, match=r"a factor with two levels or more\. alpha has one level"):
        factors([{**row, "alpha": 1, "k": 3} for row in grid()], **BOTH)
    with pytest.raises(UsageError, match="query_id has 100 levels, more than the 60"):
        factors(grid(questions=100), "relevance", factor=["query_id"])
    rows = grid()
    rows[4]["relevance"] = "very good"
    with pytest.raises(InputError, match=r"record 5 field \"relevance\": 'very good' is no number"):
        factors(rows, **BOTH)
