"""Statistics over results: compare, its power and factors, verify."""

from pathlib import Path

import pytest

GRID = "compare --factors grid.csv --score relevance --factor chunker --factor retriever"


@pytest.fixture
def tables(ground):
    """Score tables of three systems over twelve questions."""
    lines = ["system,question_id,kind,nDCG@10,words"]
    for s, system in enumerate("abc"):
        for q in range(12):
            value = ((q * 7 + s * 5 + q * s) % 11) / 10 if q % 4 else float(q % (s + 2) == 0)
            lines.append(f"{system},q{q},{'fact' if q % 3 else 'steps'},{value},{0.1 * (q % 5) + s}")
    (ground / "scores.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("test", ["permutation", "wilcoxon", "t", "tukey"])
def test_tests(net, tables, test):
    net(f"compare_{test}", f"compare scores.csv --test {test} --lower words --json")


@pytest.mark.parametrize("correction", ["bonferroni", "bh", "none"])
def test_corrections(net, tables, correction):
    net(f"compare_{correction}", f"compare scores.csv --correction {correction} --lower words --seed 3 --json")


def test_a_baseline(net, tables):
    net("compare_baseline", "compare scores.csv --baseline b --lower words --by kind --draws 2000 --json")


@pytest.mark.parametrize("ending", ["html", "md", "tex", "csv", "json", "txt"])
def test_outputs(net, tables, ending):
    net(f"compare_to_{ending}", f"compare scores.csv --lower words -v -o c.{ending}", [f"c.{ending}"])


def test_results(net):
    net("compare_results", "compare bm25.run rag.jsonl --testset qa.jsonl -m MRR -m 'Recall@5' --json")


def test_power(net, tables):
    net("power", "compare --power qa.jsonl --difference 0.03 --json")
    net("power_scores", "compare --power qa.jsonl scores.csv --lower words --json")
    net(
        "power_demo",
        "compare --power demo/questions.jsonl --difference 0.05 --comparisons 10 --at-power 0.9 -o p.md",
        ["p.md"],
    )


def test_factors(net):
    net("factors", f"{GRID} --json")
    net("factors_by", f"{GRID} --by qid --json")
    net("factors_console", f"{GRID} --by qid")


def test_verify(net):
    net("verify", "verify pages.csv --table pages_summary.csv --json")
    net("verify_alone", "verify pages_summary.csv -n 12 -k 5 --json")
    Path("table.csv").write_text("system,MRR,Recall@5\nbm25,0.6667,0.5\n", encoding="utf-8")
    net("verify_results", "verify bm25.run --table table.csv --testset qa.jsonl --json")
