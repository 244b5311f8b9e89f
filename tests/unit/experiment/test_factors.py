"""Grids taken apart by their factors."""

import random

import pytest

from karat.core.errors import InputError, UsageError
from karat.experiment.factors import factors
from karat.report import factored, marginal_means


def grid(seed=0, *, effect=0.4, questions=20):
    """Scores in which alpha matters, k does not, and questions differ."""
    rng = random.Random(seed)
    hard = [rng.gauss(0, 1) for _ in range(questions)]
    return [
        {"config_name": f"a{alpha}k{k}", "alpha": alpha, "k": k, "query_id": f"q{q}", "query_type": f"t{q % 3}",
         "relevance": effect * alpha + hard[q] + rng.gauss(0, 0.3)}
        for alpha in (0, 0.5, 1) for k in (3, 5) for q in range(questions)
    ]  # fmt: skip


def test_factors_are_found_and_questions_are_none():
    found = factors(grid(), "relevance")
    assert dict(found.factors) == {"alpha": ("0", "0.5", "1"), "k": ("3", "5")}
    assert found.balanced
    assert any("--by query_id" in note for note in found.notes)


def test_blocks_tell_what_the_plain_analysis_cannot():
    plain, blocked = factors(grid(), "relevance"), factors(grid(), "relevance", by="question")
    assert plain.one_way[0].p > 0.05
    assert blocked.one_way[0].p < 0.001
    assert (blocked.by, blocked.blocks) == ("query_id", 20)
    assert blocked.one_way[1].adjusted > 0.05
    assert "goes with alpha, more than chance gives (p < .001)" in blocked.sentences[0]


def test_marginal_means_and_cells():
    rows = grid()
    found = factors(rows, "relevance", by="query_id")
    own = [row["relevance"] for row in rows if row["alpha"] == 0.5]
    (level,) = (one for one in found.levels if (one.factor, one.level) == ("alpha", "0.5"))
    assert level.mean == pytest.approx(sum(own) / len(own))
    assert level.n == 40
    assert level.low < level.mean < level.high
    means = [cell.mean for cell in found.cells]
    assert means == sorted(means, reverse=True)
    assert found.cells[0].levels["alpha"] == "1"
    assert found.cells[0].difference is None
    assert found.equals == 1
    assert "1 of 5 others cannot be told apart from it." in found.sentences[-1]


def test_lower_can_be_better():
    rows = [{**row, "HallucinationRate": row["relevance"]} for row in grid()]
    found = factors(rows, "HallucinationRate", by="query_id", factor=["alpha"])
    assert not found.higher_is_better
    assert found.cells[0].levels == {"alpha": "0"}


def test_an_unbalanced_grid_says_so():
    found = factors(grid()[7:], "relevance")
    assert not found.balanced
    assert "type II" in factored.render(found)


def test_factors_that_say_nothing_are_left_out_and_named():
    rows = [{**row, "model": "one", "twin": {0: "x", 0.5: "y", 1: "z"}[row["alpha"]]} for row in grid()]
    found = factors(rows, "relevance", factor=["alpha", "model", "twin"])
    assert list(found.factors) == ["alpha"]
    assert any("model has one level (one)" in note for note in found.notes)
    assert any("twin changes exactly where alpha does" in note for note in found.notes)


def test_rows_without_a_score_are_counted():
    rows = grid()
    rows[3]["relevance"] = None
    found = factors(rows, "relevance")
    assert found.n == 119
    assert "1 of 120 rows have no relevance and are left out." in found.notes


def test_one_score_a_cell_has_no_interaction():
    rows = [{"a": a, "b": b, "score": a * b + a} for a in (1, 2, 3) for b in (1, 2, 3)]
    found = factors(rows, "score", factor=["a", "b"])
    assert [effect.name for effect in found.two_way[0]] == ["a", "b"]
    assert any("one score a cell" in note for note in found.notes)


def test_constant_scores():
    for score in (1.0, 0.1):  # the mean of many .1 is not exactly .1
        found = factors([{**row, "relevance": score} for row in grid()], "relevance")
        assert all(effect.p is None for effect in found.one_way)
        assert found.equals == 5


def test_scores_with_decimal_commas(tmp_path):
    means = []
    for mark in (".", ","):
        lines = [f"{row['alpha']};{row['k']};{row['relevance']:.3f}".replace(".", mark) for row in grid()]
        (tmp_path / "grid.csv").write_text("\n".join(["alpha;k;relevance", *lines]) + "\n")
        means.append([one.mean for one in factors(tmp_path / "grid.csv", "relevance").levels])
    assert means[0] == means[1]


def test_bad_input():
    with pytest.raises(UsageError, match="no factor with two or more levels"):
        factors([{**row, "alpha": 1, "k": 3, "config_name": "x"} for row in grid()], "relevance")
    with pytest.raises(UsageError, match="Did you mean relevance"):
        factors(grid(), "relevanse")
    with pytest.raises(UsageError, match="--by quest"):
        factors(grid(), "relevance", by="quest")
    with pytest.raises(UsageError, match="which score"):
        factors([{**row, "MRR": 1.0, "nDCG@5": 1.0} for row in grid()])
    rows = grid()
    rows[4]["relevance"] = "very good"
    with pytest.raises(InputError, match=r"record 5 field \"relevance\": 'very good' is no number"):
        factors(rows, "relevance")


@pytest.mark.parametrize("ending", [".png", ".svg", ".html"])
def test_the_chart(tmp_path, ending):
    path = marginal_means.write(factors(grid(), "relevance"), tmp_path / f"means{ending}")
    assert path.stat().st_size > 5_000
    if ending == ".svg":
        assert "alpha" in path.read_text()


def test_a_name_cannot_end_the_script_of_the_page(tmp_path):
    rows = [{**row, "</script><svg onload=x>": row["alpha"], "k": f"<!--<script>{row['k']}"} for row in grid()]
    found = factors(rows, "relevance", factor=["</script><svg onload=x>", "k"])
    page = marginal_means.write(found, tmp_path / "means.html").read_text()
    assert "<svg onload" not in page
    assert "<!--<script>" not in page
    assert "\\u003c/script>\\u003csvg onload=x>" in page


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"\.png, \.svg, \.html"):
        marginal_means.write(factors(grid(), "relevance"), tmp_path / "means.pdf")
