"""karat score, as the documents use it."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import karat as package


def means(told):
    return {(s["system"], s["measure"]): s["mean"] for s in json.loads(told.out)["summaries"] if not s.get("slice")}


def test_the_installed_command_scores(files, folder):
    command = shutil.which("karat", path=str(Path(sys.executable).parent))
    assert command, "the entry point is not installed beside the interpreter"
    done = subprocess.run(
        [command, "score", "qa.jsonl", "bm25.run"], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("Verdict\n")
    assert "qa.jsonl  read as karat JSONL: 3 questions, 2 kinds" in done.stdout
    assert "read as trec_run" in done.stdout
    assert "n 3, 0 undefined, 0 failed" in done.stdout
    for part in (
        "match",
        "exact",
        "Verdict",
        "nDCG@10",
        "more: -v shows all",
        "MAP",
        "lists end at 2",
    ):
        assert part in done.stdout


@pytest.mark.slow
def test_three_runs_over_qrels(files, put, karat):
    put("hybrid.run", RUN_HYBRID)
    told = karat(
        "score",
        "qrels.txt",
        "bm25.run",
        "dense.run",
        "hybrid.run",
        "-m",
        "nDCG@10",
        "-m",
        "Recall@{1,3,5,10,20}",
        "--json",
    )
    assert told.code == 0
    found = means(told)
    assert len(found) == 3 * 6
    # bm25: q1 finds its one unit first, q2 one of two at rank 2, q3 its one at rank 2
    assert found["bm25", "Recall@1"] == pytest.approx(1 / 3)
    assert found["bm25", "Recall@3"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert found["hybrid", "nDCG@10"] == pytest.approx(1)


RUN_HYBRID = "q1 Q0 d1 1 9 t\nq2 Q0 d2 1 9 t\nq2 Q0 d3 2 8 t\nq3 Q0 d4 1 9 t\n"


def test_by_kind_of_a_qrels_file_is_refused_with_what_there_is(files, karat):
    told = karat("score", "qrels.txt", "bm25.run", "--by", "kind")
    assert (told.code, "has no slice 'kind'" in told.sentence) == (2, True)
    assert "Did you mean kind?" in karat("score", "qa.jsonl", "bm25.run", "--by", "kinds").sentence


def test_by_slices(files, karat):
    told = karat(
        "score", "qa.jsonl", "bm25.run", "dense.run", "-m", "Recall@5", "--by", "kind", "--by", "difficulty", "--json"
    )
    sliced = {
        (s["system"], s["slice"], s["value"]): (s["n"], s["mean"])
        for s in json.loads(told.out)["summaries"]
        if s.get("slice")
    }
    assert sliced["bm25", "kind", "fact"] == (2, 1.0)
    assert sliced["bm25", "kind", "steps"] == (1, 0.5)
    assert sliced["dense", "kind", "steps"] == (1, 1.0)
    assert sliced["bm25", "difficulty", "(none)"][0] == 2
    shown = karat("score", "qa.jsonl", "bm25.run", "-m", "Recall@5", "--by", "kind")
    assert "By kind" in shown.out
    assert "steps  1" in shown.out


def test_json_is_one_object_and_nothing_else(files, karat):
    told = karat("score", "qa.jsonl", "bm25.run", "answers.jsonl", "--by", "kind", "-o", "out", "--json")
    assert told.err == ""
    whole, end = json.JSONDecoder().raw_decode(told.out)
    assert isinstance(whole, dict)
    assert told.out[end:].strip() == ""
    assert "NaN" not in told.out
    assert "Infinity" not in told.out


FILES = ["report.md", "report.txt", "results.json", "rows.csv", "rows.parquet", "summary.csv"]


def test_a_folder_gets_every_file_with_the_same_figures(files, karat, folder):
    told = karat("score", "qa.jsonl", "bm25.run", "answers.jsonl", "-o", "out/", "--by", "kind")
    assert told.code == 0
    assert sorted(os.listdir("out")) == FILES
    assert all(f"wrote {Path('out') / name}" in told.err for name in FILES)
    report = package.score("qa.jsonl", ["bm25.run", "answers.jsonl"])
    rows = pl.read_parquet("out/rows.parquet")
    summary = list(csv.DictReader(io.StringIO(Path("out/summary.csv").read_text(encoding="utf-8"))))
    mean = report.mean("MRR", system="bm25")
    assert mean == pytest.approx((1 + 0.5 + 0.5) / 3)
    (line,) = (r for r in summary if (r["system"], r["measure"], r["slice"]) == ("bm25", "MRR", ""))
    assert float(line["mean"]) == pytest.approx(mean)
    assert rows.filter(pl.col("system") == "bm25")["MRR"].mean() == pytest.approx(mean)
    flat = list(csv.DictReader(io.StringIO(Path("out/rows.csv").read_text(encoding="utf-8"))))
    assert len(flat) == len(rows) == 6
    whole = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert whole["systems"]


@pytest.mark.parametrize("ending", [".csv", ".json", ".md", ".parquet", ".tex", ".txt"])
def test_each_ending_names_a_format(files, karat, ending):
    told = karat("score", "qa.jsonl", "bm25.run", "-m", "MRR", "-o", f"table{ending}")
    assert (told.code, told.err) == (0, f"wrote table{ending}\n")
    data = Path(f"table{ending}").read_bytes()
    assert data[:4] == b"PAR1" if ending == ".parquet" else b"MRR" in data


def test_an_ending_that_names_no_format_is_refused(files, karat, folder):
    before = sorted(os.listdir())
    assert "Endings: .csv" in karat("score", "qa.jsonl", "bm25.run", "-o", "table.docx").sentence
    assert "into a folder" in karat("score", "qa.jsonl", "bm25.run", "-o", "t.md", "--export", "trec").sentence
    assert "add -o out/" in karat("score", "qa.jsonl", "bm25.run", "--export", "trec").sentence
    assert "Did you mean liverag" in karat("score", "qa.jsonl", "bm25.run", "-o", "out", "--export", "liverg").sentence
    assert sorted(os.listdir()) == before


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(files, process):
    words = ["score", "qa.jsonl", "bm25.run", "answers.jsonl", "--by", "kind", "--export", "trec", "-o"]
    one, two = process(*words, "one"), process(*words, "two")
    assert one.code == two.code == 0
    assert one.out == two.out
    names = sorted(os.listdir("one"))
    assert len(names) == len(FILES) + 2
    assert names == sorted(os.listdir("two"))
    for name in names:
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes(), name


def test_exported_runs_score_the_same(files, karat):
    karat("score", "qa.jsonl", "bm25.run", "dense.run", "-o", "out", "--export", "trec")
    assert sorted(n for n in os.listdir("out") if n.endswith(".trec")) == ["run.bm25.trec", "run.dense.trec"]
    one = karat("score", "qa.jsonl", "bm25.run", "--json")
    os.rename("out/run.bm25.trec", "bm25.trec")
    two = karat("score", "qa.jsonl", "bm25.trec", "--json")
    assert means(one) == means(two)


def test_exit_code_5_and_the_reason_where_rows_failed(files, put, karat):
    put("rag.jsonl", [*[{k: r[k] for k in ("id", "retrieved")} for r in ({"id": "q1", "retrieved": ["d1"]},)],
                      {"id": "q2", "status": "failed", "error": "timed out after 30 s"},
                      {"id": "q3", "retrieved": ["d4"]}])  # fmt: skip
    told = karat("score", "qa.jsonl", "rag.jsonl", "-m", "Recall@5", "-o", "out")
    assert told.code == 5
    assert "n 2, 0 undefined, 1 failed" in told.out
    assert ".6667 to 1.0000" in told.out or ".667 to 1.000" in told.out
    rows = list(csv.DictReader(io.StringIO(Path("out/rows.csv").read_text(encoding="utf-8"))))
    assert [(r["status"], r["reason"]) for r in rows if r["question_id"] == "q2"] == [
        ("failed", "timed out after 30 s")
    ]
    assert karat("score", "qa.jsonl", "rag.jsonl", "-m", "Recall@5", "--json").code == 5


def test_no_common_question_is_exit_code_3(files, put, karat):
    put("other.run", RUN_OTHER)
    told = karat("score", "qa.jsonl", "other.run")
    assert told.code == 3
    assert told.sentence.startswith("other.run shares no question with qa")
    assert "'x1'" in told.sentence
    assert karat("score", "qa.jsonl", "bm25.run", "other.run", "--json").code == 3


RUN_OTHER = "x1 Q0 d1 1 3.0 t\nx2 Q0 d2 1 3.0 t\n"


def test_no_common_id_is_exit_code_3_unless_it_is_meant(files, put, karat):
    put("none.run", "q1 Q0 e1 1 3.0 t\nq2 Q0 e2 1 3.0 t\n")
    told = karat("score", "qa.jsonl", "none.run", "-o", "out")
    assert told.code == 3
    assert "none of the gold is among the hits of 'none'" in told.sentence
    assert "--allow-zero-overlap" in told.sentence
    assert not os.path.exists("out")
    assert karat("score", "qa.jsonl", "bm25.run", "none.run").code == 3
    meant = karat("score", "qa.jsonl", "none.run", "-m", "MRR", "--allow-zero-overlap")
    assert meant.code == 0
    assert ".00 [.00, " in meant.out


def test_zero_overlap_names_the_matcher_that_helps(put, karat):
    """Another chunk of the gold's document is not the gold: the unit is never loosened unasked."""
    put(
        "qa.jsonl",
        [{"id": q, "question": "?", "gold": [{"id": f"{d}::chunk-3"}]} for q, d in (("q1", "d1"), ("q2", "d2"))],
    )
    put("chunks.run", "q1 Q0 d1::chunk-0 1 3.0 t\nq2 Q0 d9::chunk-4 1 3.0 t\n")
    told = karat("score", "qa.jsonl", "chunks.run")
    assert told.code == 3
    assert "--match doc" in told.sentence
    fixed = karat("score", "qa.jsonl", "chunks.run", "--match", "doc", "-m", "Recall@5", "--json")
    assert means(fixed)["chunks", "Recall@5"] == 0.5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-m", "Recal@5"], "Did you mean Recall?"),
        (["--dialect", "livrag"], "Did you mean liverag?"),
        (["--match", "urls"], "Did you mean url?"),
        (["--repeats", "twice"], "is not one of once, collapse, count"),
        (["--ties", "float16"], "is not one of float32, double"),
        (["--rel", "0"], "Use 1 or more"),
        (["-k", "0"], "a cut-off is 1 or more"),
        (["--map", "gold"], "write COLUMN=FIELD"),
        (["-m", "AQWV@5"], "number of documents searched"),
        (["-m", "Recall@800t"], "needs the size of each hit"),
        (["--match", "regex:("], "regex"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(files, karat, words, sentence):
    told = karat("score", "qa.jsonl", "bm25.run", *words)
    assert told.code == 2
    assert sentence in told.sentence


def test_an_unknown_option_or_command_is_exit_code_2(files, process):
    for words in (["score", "--wat"], ["scor"], ["score", "qa.jsonl"]):
        told = process(*words)
        assert (told.code, told.out) == (2, "")
        assert "Traceback" not in told.err


def test_debug_shows_the_traceback(files, process):
    told = process("score", "nothing.jsonl", "bm25.run", "--debug")
    assert "Traceback" in told.err
    assert "FileRefusedError: nothing.jsonl: does not exist" in told.err


def test_quiet_and_verbose(files, karat):
    plain, quiet = karat("score", "qa.jsonl", "bm25.run"), karat("score", "qa.jsonl", "bm25.run", "-q")
    assert len(quiet.out) < len(plain.out)
    assert "nDCG@10" in quiet.out
    assert "read as" not in quiet.out
    by = ["score", "qa.jsonl", "bm25.run", "--by", "kind"]
    assert len(karat(*by, "-v").out) > len(karat(*by).out)


def test_version_help_and_a_closed_pipe(files, process, folder):
    assert process("--version").out.startswith("karat 0.")
    assert process("--version", code="import runpy; runpy.run_module('karat')").out.startswith("karat 0.")
    assert "score" in process("--help").out
    pipe = "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1); from karat.cli.main import main; main()"
    told = process("measures", code=pipe)
    assert "Traceback" not in told.err
    assert "internal error" not in told.err
