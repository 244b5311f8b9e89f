"""karat verify and karat compare --factors from the command line."""

import json
from pathlib import Path

import pytest

SPEC = """corpus: docs
testset: qa.jsonl
k: [1, 2]
systems:
  - {name: sparse, engine: bm25}
  - {name: half, engine: hybrid, alpha: 0.5}
  - {name: most, engine: hybrid, alpha: 0.8}
"""
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture
def pages(put):
    put("rows.csv", (EXAMPLES / "pages.csv").read_text())
    put("table.csv", (EXAMPLES / "pages_summary.csv").read_text())
    put("wrong.csv", (EXAMPLES / "pages_summary.csv").read_text().replace("0.4722,0.4597", "0.5833,0.5149"))


def test_a_clean_table_passes(karat, pages):
    told = karat("verify", "rows.csv", "--table", "table.csv")
    assert told.code == 0
    assert "170 figures checked: no contradiction." in told.out
    assert "Not checked" not in told.out


def test_a_mismatch_exits_with_4_and_says_why(karat, pages):
    told = karat("verify", "rows.csv", "--table", "wrong.csv")
    assert told.code == 4
    assert "170 figures checked: 2 are wrong." in told.out
    assert "Recall is a hit rate" in " ".join(told.out.split())
    assert karat("verify", "rows.csv", "--table", "wrong.csv", "-q").code == 4


def test_json_holds_every_figure(karat, pages):
    told = karat("verify", "rows.csv", "--table", "wrong.csv", "--json")
    found = json.loads(told.out)
    assert told.code == 4
    assert found["causes"] == ["hit rate"]
    assert found["counts"] == {"mismatch": 2, "impossible": 0, "suspect": 0, "unchecked": 0, "ok": 168}
    (mean, _) = (figure for figure in found["figures"] if figure["verdict"] == "mismatch")
    assert mean["printed"] == 0.5833
    assert mean["difference"] == pytest.approx(0.5833 - 0.4722, abs=1e-4)


def test_an_impossible_table_exits_with_4(karat, put):
    table = put("t.csv", "system,Hit@5,Hit@5 std\ndense,0.5789,0.3845\n")
    assert karat("verify", table, "-n", "133").code == 4
    assert karat("verify", put("u.csv", "system,Hit@5,Hit@5 std\ndense,0.5789,0.4956\n"), "-n", "133").code == 0


def test_a_table_of_which_nothing_can_be_checked_does_not_pass(karat, put):
    told = karat("verify", put("t.csv", "system,seconds\ndense,0.5789\n"))
    assert told.code == 2
    assert "Nothing could be checked (1 figure)." in told.out


def test_results_against_a_test_set(karat, put):
    put("qrels.txt", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n")
    put("run.trec", "q1 Q0 d2 1 2.0 bm25\nq1 Q0 d1 2 1.0 bm25\nq2 Q0 d3 1 1.0 bm25\n")
    right, wrong = put("r.csv", "system,MRR\nbm25,0.75\n"), put("w.csv", "system,MRR\nbm25,1.00\n")
    assert karat("verify", "run.trec", "--table", right, "--testset", "qrels.txt").code == 0
    told = karat("verify", "run.trec", "--table", wrong, "--testset", "qrels.txt")
    assert told.code == 4
    assert "grade 0" in told.out


def test_bad_input_of_verify_exits_with_2(karat, put, pages):
    assert karat("verify", "nothing.csv").code == 2
    assert "does not exist" in karat("verify", "nothing.csv").sentence
    assert karat("verify", "LAST").code == 2
    assert "no figures" in karat("verify", put("x.csv", "a,b\nx,y\n")).sentence
    assert "--table" in karat("verify", "rows.csv", "--testset", "rows.csv").sentence
    assert karat("verify", "rows.csv", "--dialect", "klingon").code == 2


def test_a_run_verifies_itself_and_is_a_grid(karat, put, folder):
    put("docs/a.md", "# Oil\n\nUse SAE 30 oil.\n")
    put("docs/b.md", "# Reset\n\nHold the red button for two seconds.\n")
    put("qa.jsonl", [
        {"id": "q1", "question": "Which oil?", "gold": [{"doc": "a.md"}]},
        {"id": "q2", "question": "How is it reset?", "gold": [{"doc": "b.md"}]},
        {"id": "q3", "question": "What is the red button for?", "gold": [{"doc": "b.md"}]},
    ])  # fmt: skip
    put("karat.yaml", SPEC)
    assert karat("run", "karat.yaml").code == 0
    told = karat("verify", "LAST", "--json")
    assert told.code == 0, told.out
    assert json.loads(told.out)["counts"]["ok"] > 20
    told = karat("compare", "--factors", "LAST", "--json")
    assert told.code == 0, told.err
    assert set(json.loads(told.out)["factors"]) == {"alpha", "engine"}


FACTORS = ("--factor", "chunker", "--factor", "retriever")


@pytest.mark.slow
def test_no_file_that_karat_writes_is_accused(karat, put, folder):
    put("docs/a.md", "# Oil\n\nUse SAE 30 oil.\n")
    put("docs/b.md", "# Reset\n\nHold the red button for two seconds.\n")
    put("qa.jsonl", [
        {"id": "q1", "question": "Which oil?", "gold": [{"doc": "a.md"}], "kind": "fact", "answers": ["SAE 30"]},
        {"id": "q2", "question": "How is it reset?", "gold": [{"doc": "b.md"}], "kind": "steps", "answers": ["button"]},
        {"id": "q3", "question": "What is the red button for?", "gold": [{"doc": "b.md"}], "kind": "fact"},
    ])  # fmt: skip
    put("mine.jsonl", [
        {"id": "q1", "retrieved": [{"id": "x", "doc": "a.md", "text": "Use oil"}], "answer": "SAE 30 oil"},
        {"id": "q2", "status": "failed", "error": "timeout"},
        {"id": "q3", "retrieved": [{"id": "y", "doc": "a.md", "text": "-"}, {"id": "z", "doc": "b.md", "text": "-"}],
         "answer": "to reset"},
    ])  # fmt: skip
    put("karat.yaml", SPEC)
    for command in (
        ("run", "karat.yaml"),
        ("index", "docs", "-o", "docs.index"),
        ("score", "qa.jsonl", "mine.jsonl", "--by", "kind", "-o", "scored", "--export", "liverag"),
        *(("score", "qa.jsonl", "mine.jsonl", "-o", f"score.{end}") for end in ("csv", "json", "md", "parquet")),
        ("sweep", "qa.jsonl", "docs.index", "--alpha", "0,0.5,1", "-k", "1,2", "-o", "swept"),
        *(("compare", "LAST", "--by", "kind", "-o", f"compared.{end}") for end in ("csv", "json", "md")),
    ):
        told = karat(*command)
        assert told.code in (0, 5), (command, told.err)  # 5: a row failed
    written = [path for place in ("scored", "swept", "runs") for path in (folder / place).rglob("*")]
    written += [*folder.glob("score.*"), *folder.glob("compared.*")]
    tables = [p for p in written if p.suffix in (".csv", ".tsv", ".json", ".md", ".parquet") and "index" not in str(p)]
    assert len(tables) > 20
    for path in tables:
        told = karat("verify", str(path), "--json")
        found = json.loads(told.out)
        unchecked = {verdict for verdict, count in found["counts"].items() if count} <= {"unchecked"}
        assert told.code == (2 if unchecked else 0), (path, told.out, told.err)
        causes = set(found["causes"])
        assert causes <= {"identical rows", "identical columns"}, path  # three questions with one gold unit each


def test_factors(karat, put, folder):
    put("grid.csv", (EXAMPLES / "grid.csv").read_text())
    told = karat("compare", "--factors", "grid.csv", "--score", "relevance", "--by", "qid", *FACTORS)
    assert told.code == 0
    assert "chunker sentences, retriever hybrid has the highest relevance" in told.out
    found = json.loads(karat("compare", "--factors", "grid.csv", "--score", "relevance", *FACTORS, "--json").out)
    assert found["balanced"] is True
    assert [effect["factors"] for effect in found["effects"]] == [
        ["chunker"],
        ["retriever"],
        ["chunker", "retriever"],
    ]


def test_bad_input_of_factors_exits_with_2(karat, put):
    grid = put("grid.csv", (EXAMPLES / "grid.csv").read_text())
    assert "Did you mean relevance" in karat("compare", "--factors", grid, "--score", "relevence", *FACTORS).sentence
    one = put("one.csv", "a,score\nx,1\nx,2\nx,3\n")
    assert "one level" in karat("compare", "--factors", one, "--score", "score", "--factor", "a").sentence
    told = karat(
        "compare", "--factors", put("text.csv", "a,score\nx,1\ny,good\nx,3\ny,2\n"), "--score", "score", "--factor", "a"
    )
    assert told.sentence.startswith("text.csv line 3 field \"score\": 'good' is no number")
