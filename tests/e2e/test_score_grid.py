"""karat score over rows of a grid over alpha and k: charts of both, and rows that can be scored and verified again."""

import csv
import json
from pathlib import Path

import pytest

TITLES = ("config_name", "alpha", "k", "query_id", "query", "retrieval_time_ms", "retrieved_pages", "relevant_pages")


@pytest.fixture
def undrawn():
    """Charts are drawn: which there are depends on what was scored."""


@pytest.fixture
def grid(folder):
    """Six questions, each asked of a hybrid at three alphas and two k."""
    asked = [
        {"query": f"What is on page {q}?", "relevant_docs": [str(q)], "query_type": "factual"} for q in range(1, 7)
    ]
    Path("qa.json").write_text(json.dumps(asked), encoding="utf-8")
    with Path("grid.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(TITLES)
        for a, alpha in enumerate((0.0, 0.5, 1.0)):
            for q, question in enumerate(asked, 1):
                pages = [str(50 + q + i) for i in range(7)]
                pages[(a + q) % 7] = str(q)
                for k in (3, 7):
                    writer.writerow(["Hybrid", alpha, k, q - 1, question["query"], 12.5, pages[:k], [str(q)]])


@pytest.mark.slow
def test_charts_are_drawn_over_alpha_and_k_and_the_rows_come_back(grid, karat):
    told = karat("score", "qa.json", "grid.csv", "--dialect", "healthcare", "-o", "out", "--json")
    assert told.code == 0, told.err
    drawn = {path.stem for path in Path("out/charts").glob("*.png")}
    assert {"2_alpha_sensitivity", "3_topk_analysis"} <= drawn
    before = {(s["system"], s["measure"]): s["mean"] for s in json.loads(told.out)["summaries"]}
    assert ("Hybrid alpha=0.5 k=7", "F1@7") in before
    with Path("out/rows.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["alpha"], first["k"], first["retrieval_time_ms"]) == ("0.0", "3", "12.5")
    again = karat("score", "qa.json", "out/rows.csv", "--dialect", "healthcare", "--json")
    assert again.code == 0, again.err
    assert {(s["system"], s["measure"]): s["mean"] for s in json.loads(again.out)["summaries"]} == before
    assert karat("verify", "out/rows.csv").code == 0


def test_a_run_of_the_same_file_draws_them_too(grid, karat, unpainted):
    spec = "testset: qa.json\nsystems:\n  - {name: grid, results: grid.csv}\ndialect: healthcare\noutputs: [png, csv]\n"
    Path("karat.yaml").write_text(spec, encoding="utf-8")
    told = karat("run", "-q")
    assert told.code == 0, told.err
    drawn = {path.stem for path in Path("runs").glob("*/charts/*.png")}
    assert {"2_alpha_sensitivity", "3_topk_analysis"} <= drawn


def test_results_without_alpha_and_k_get_no_charts(files, karat):
    assert karat("score", "qa.jsonl", "bm25.run", "-o", "out").code == 0
    assert not Path("out/charts").exists()
