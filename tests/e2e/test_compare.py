"""karat compare, also with --power, from the command line."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

QA = [{"id": f"q{i}", "question": f"What is {i}?", "gold": [{"id": f"d{i}"}]} for i in (1, 2, 3)]
FIRST = "q1 Q0 d1 1 3.0 t\nq2 Q0 d2 1 3.0 t\nq3 Q0 d8 1 2.0 t\nq3 Q0 d3 2 1.0 t\n"
SECOND = "q1 Q0 d1 1 3.0 u\nq2 Q0 d2 1 3.0 u\nq3 Q0 d3 1 2.0 u\n"


def rows(n=40, seed=1, systems=("a", "b"), lift=0.0, kinds=("fact", "steps")):
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    found = []
    for s, system in enumerate(systems):
        for q in range(n):
            score = float(np.clip(hard[q] + rng.normal(0, 0.1) + lift * s, 0, 1))
            hit = float(score > 0.5)
            row = {"question_id": f"q{q:02}", "system": system, "kind": kinds[q % len(kinds)]}
            found.append(row | {"MRR": round(score, 4), "Hit@5": hit})
    return found


@pytest.fixture
def table(put):
    """Writes rows as CSV."""

    def write(name, found):
        names = list(dict.fromkeys(key for row in found for key in row))
        lines = [",".join(names)]
        lines += [",".join("" if row.get(key) is None else str(row[key]) for key in names) for row in found]
        return put(name, "\n".join(lines) + "\n")

    return write


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one test set, one of it with other gold, and one of some of its questions."""
    import karat

    folder = tmp_path_factory.mktemp("runs")
    words = ["oil", "pump", "filter", "valve", "gasket", "lamp", "fuse", "belt", "chain", "gear", "seal", "hose"]
    words += ["bolt", "nut", "washer", "spring"]
    docs = [
        {"id": f"d{i}", "text": f"The {w} is changed every {i + 2} months. Keep the {w} dry."}
        for i, w in enumerate(words)
    ]
    qa = [
        {"id": f"q{i:02}", "question": f"When is the {w} changed?", "answers": [f"{i + 2} months"],
         "gold": [{"doc": f"d{i}"}], "kind": "fact" if i % 2 else "steps"}
        for i, w in enumerate(words)
    ]  # fmt: skip
    other = [row | {"gold": [{"doc": "d0"}]} if row["id"] == "q03" else row for row in qa]
    for name, content in (("docs", docs), ("qa", qa), ("other", other), ("some", qa[:12])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    systems = {"one": "bm25", "two": "dense", "three": "bm25", "four": "bm25"}
    testsets = {"one": "qa", "two": "qa", "three": "other", "four": "some"}
    for name, engine in systems.items():
        spec = {
            "name": name, "corpus": "docs.jsonl", "testset": f"{testsets[name]}.jsonl", "chunk": "whole",
            "systems": [{"name": engine, "engine": engine}], "main": "MRR", "outputs": ["csv"],
            "measures": ["MRR", "Recall@1", "Recall@5"] if name != "two" else ["MRR", "Recall@1"],
        }  # fmt: skip
        (folder / f"{name}.yaml").write_text(json.dumps(spec))
        karat.run(folder / f"{name}.yaml", runs_dir=folder / "runs")
    return folder


def test_two_runs(karat, runs):
    told = karat("compare", "one", "two", "-m", "MRR", "--runs-dir", runs / "runs")
    assert told.code == 0, told.err
    assert "2 systems over 16 questions, paired by question" in told.out
    assert "By MRR, bm25 and dense are" in told.out or "By MRR, bm25 is better than dense" in told.out


def test_runs_of_different_test_sets_are_refused(karat, runs):
    told = karat("compare", "one", "three", "--runs-dir", runs / "runs")
    assert told.code == 2
    assert "different test sets" in told.sentence
    assert "1 question is not the same in both (q03)" in told.sentence
    assert "--common" in told.sentence


def test_systems_of_one_name_are_told_apart_by_their_runs(karat, runs):
    told = karat("compare", "one", "four", "--common", "-m", "MRR", "--json", "--runs-dir", runs / "runs")
    assert json.loads(told.out)["systems"] == ["one:bm25", "four:bm25"]


def test_other_questions_under_the_same_ids_are_refused(karat, table):
    asked = [row | {"question": f"What is {row['question_id']}?"} for row in rows()]
    other = [row | {"question": "Who?" if row["question_id"] == "q07" else row["question"]} for row in asked]
    told = karat("compare", table("a.csv", asked[:40]), table("b.csv", other[40:]))
    assert told.code == 2
    assert "question q07 is not the same in all of them: a.csv asks 'What is q07?', b.csv 'Who?'" in told.sentence
    told = karat("compare", table("a.csv", asked[:40]), table("b.csv", asked[40:]), "-m", "MRR")
    assert told.code == 0
    assert "paired by id alone" in " ".join(told.out.split())


def test_with_common_they_meet_on_the_same_questions_and_the_loss_is_told(karat, runs):
    told = karat("compare", "one", "three", "--common", "--json", "-m", "MRR", "--runs-dir", runs / "runs")
    found = json.loads(told.out)
    assert told.code == 0
    assert len(found["questions"]) == 15
    assert [loss["kept"] for loss in found["losses"]] == [15, 15]
    assert found["losses"][0]["examples"] == ["q03"]
    told = karat("compare", "one", "four", "--common", "-m", "MRR", "--runs-dir", runs / "runs")
    assert "4 of 16 questions are not in all inputs and are left out (q12, q13, q14, ...)" in " ".join(told.out.split())


def test_a_measure_that_one_run_lacks(karat, runs):
    told = karat("compare", "one", "two", "-m", "Recall@5", "--runs-dir", runs / "runs")
    assert told.code == 2
    assert "two was not scored by Recall@5" in told.sentence
    told = karat("compare", "one", "two", "--runs-dir", runs / "runs")
    assert told.code == 0
    assert "not in every input" in " ".join(told.out.split())


def test_p_of_one_run(karat, runs):
    told = karat("compare", "one", "--runs-dir", runs / "runs")
    assert told.code == 2
    assert told.sentence == "one holds one system, bm25, and a comparison needs two. Name another."
    told = karat("compare", "one", "one", "--runs-dir", runs / "runs")
    assert told.code == 2
    assert "named twice" in told.sentence


@pytest.mark.parametrize("word", ["nothing", "one:colbert", "missing.csv"])
def test_what_is_not_there(karat, runs, word):
    told = karat("compare", "one", word, "--runs-dir", runs / "runs")
    assert told.code == 2
    assert word.partition(":")[2] or word in told.sentence
    assert "no run" in told.sentence or "no system 'colbert'" in told.sentence or "no such file" in told.sentence


def test_results_against_a_test_set(karat, put):
    files = put("qa.jsonl", QA), put("a.run", FIRST), put("b.run", SECOND)
    told = karat("compare", files[1], files[2], "--testset", files[0], "-m", "MRR", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    (pair,) = found["pairs"]
    assert (pair["n"], pair["wins"], pair["ties"], pair["losses"]) == (3, 1, 2, 0)
    assert pair["better"][0]["question"] == "q3"
    assert pair["difference"] == pytest.approx((1 - 0.5) / 3)
    told = karat("compare", files[1], files[2])
    assert told.code == 2
    assert "--testset" in told.sentence


def test_a_table(karat, table):
    name = table("scores.csv", rows(lift=0.1))
    told = karat("compare", name, "--by", "kind", "-v")
    assert told.code == 0, told.err
    out = " ".join(told.out.split())
    assert "scores.csv read as score table: 2 systems, 2 measures, 40 questions" in out
    assert "By MRR, b is significantly better than a by" in out
    assert "value slice measure" in out
    assert "McNemar" in out
    found = json.loads(karat("compare", name, "--by", "kind", "--json").out)
    assert (found["tests"], found["slice_tests"], found["draws"]) == (2, 4, 10_000)
    mrr, hit = found["pairs"]
    assert mrr["mcnemar"] is None
    assert hit["mcnemar"] == pytest.approx(hit["permutation"], abs=1e-9)
    assert mrr["told_apart"]
    assert mrr["better_system"] == "b"
    assert mrr["adjusted"] == pytest.approx(min(1, 2 * mrr["p"]))
    assert len(mrr["better"]) == 5
    assert sum(s["n"] for s in found["slices"] if s["measure"] == "MRR") == 40


def test_the_order_of_rows_and_other_systems_change_nothing(karat, table):
    three = rows(systems=("a", "b", "c"), lift=0.03)
    found = [
        json.loads(karat("compare", table(f"{i}.csv", some), "-m", "MRR", "--correction", "none", "--json").out)
        for i, some in enumerate((three, three[::-1], [row for row in three if row["system"] != "c"]))
    ]
    pairs = [{frozenset((p["a"], p["b"])): p["p"] for p in one["pairs"]} for one in found]
    assert pairs[0] == pairs[1]
    assert pairs[2][frozenset("ab")] == pairs[0][frozenset("ab")]


def test_unequal_questions_are_aligned_and_told(karat, table):
    both = rows()
    names = table("a.csv", both[:40]), table("b.csv", both[45:])
    told = karat("compare", *names, "-m", "MRR")
    assert told.code == 0
    assert "a.csv: 5 of 40 questions are not in all inputs and are left out (q00, q01, q02, ...)" in " ".join(
        told.out.split()
    )


def test_a_baseline_and_many_systems(karat, table):
    name = table("s.csv", rows(systems=("a", "b", "c", "d"), lift=0.06))
    told = karat("compare", name, "--baseline", "a", "-m", "MRR", "--json")
    found = json.loads(told.out)
    assert [(p["a"], p["b"]) for p in found["pairs"]] == [("a", "b"), ("a", "c"), ("a", "d")]
    means = {m["system"]: m for m in found["means"]}
    assert means["d"]["over"] == pytest.approx(means["d"]["mean"] / means["a"]["mean"] - 1)
    assert means["a"]["over"] is None
    told = karat("compare", name, "--baseline", "a", "-m", "MRR")
    assert "**" in told.out
    assert "%)" in told.out
    tukey = json.loads(karat("compare", name, "--test", "tukey", "-m", "MRR", "--json").out)
    assert len(tukey["pairs"]) == 6
    assert all(p["adjusted"] == p["tukey"] for p in tukey["pairs"])
    told = karat("compare", name, "--baseline", "z")
    assert told.code == 2
    assert "--baseline z is none of the systems" in told.sentence


def test_every_form_is_written(karat, table, folder):
    name = table("s.csv", rows(systems=("a_1", "b", "c", "d"), lift=0.06))
    for ending in ("html", "md", "tex", "csv", "json", "txt"):
        told = karat("compare", name, "-o", f"out.{ending}", "-q", "--by", "kind")
        assert told.code == 0, told.err
        assert f"wrote out.{ending}" in told.err
    tex = Path("out.tex").read_text()
    assert "a & a\\_1 & " in tex
    assert "\\textbf{" in tex
    assert "$^{abc}$" in tex
    page = Path("out.html").read_text()
    for part in (
        "Differences by MRR",
        'id="matrix"',
        'id="flips"',
        "Differences within slices",
        "Content-Security-Policy",
    ):
        assert part in page
    assert "http" + "://" not in page.partition("<script>")[0]
    frame = pl.read_csv("out.csv")
    assert frame.height == 12
    assert frame["adjusted"].max() <= 1
    assert json.loads(Path("out.json").read_text())["sentences"]
    told = karat("compare", name, "-o", "out.docx")
    assert told.code == 2
    assert "out.docx" in told.sentence


def test_a_hostile_name_stays_text(karat, table):
    name = table("s.csv", rows(systems=("<script>x</script>", "b")))
    assert karat("compare", name, "-o", "out.html", "-q").code == 0
    page = Path("out.html").read_text()
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page


def test_one_question(karat, table):
    told = karat("compare", table("s.csv", rows(n=1)))
    assert told.code == 2
    assert told.sentence.startswith("one question (q00) is all they have in common")


def test_no_question_in_common(karat, table):
    both = rows()
    other = [row | {"question_id": f"x{row['question_id']}"} for row in both[40:]]
    told = karat("compare", table("a.csv", both[:40]), table("b.csv", other))
    assert told.code == 3
    assert "no question is in all of them" in told.sentence


def test_all_ties(karat, table):
    same = [row | {"system": s} for s in ("a", "b") for row in rows()[:40]]
    told = karat("compare", table("s.csv", same), "-m", "MRR")
    assert told.code == 0
    assert "By MRR, a and b are the same on all 40 questions." in told.out


def test_constant_scores(karat, table):
    flat = [row | {"MRR": 0.5 if row["system"] == "a" else 0.75} for row in rows()]
    found = json.loads(karat("compare", table("s.csv", flat), "-m", "MRR", "--json").out)
    (pair,) = found["pairs"]
    assert (pair["difference"], pair["low"], pair["high"]) == (0.25, None, None)
    assert (pair["t"], pair["d"]) == (None, None)
    assert pair["told_apart"]


@pytest.mark.parametrize("cell", ["nan", "inf", "n/a"])
def test_what_is_no_number(karat, table, cell):
    found = rows()
    found[7]["MRR"] = cell
    told = karat("compare", table("s.csv", found))
    assert told.code == 2
    assert 's.csv line 9 field "MRR"' in told.sentence
    assert "Leave a cell empty" in told.sentence


def test_nan_in_a_parquet_table(karat, folder):
    found = pl.DataFrame(rows()).with_columns(pl.Series("MRR", [float("nan")] + [0.5] * 79))
    found.write_parquet("s.parquet")
    told = karat("compare", "s.parquet")
    assert told.code == 2
    assert "nan is no score" in told.sentence


def test_a_row_that_stands_twice(karat, table):
    found = rows()
    told = karat("compare", table("s.csv", [*found, found[3]]))
    assert told.code == 2
    assert 's.csv line 82: a row for question "q03" of "a" stands twice' in told.sentence


def test_empty_cells_leave_a_question_out_and_failed_ones_show_in_the_exit_code(karat, table):
    found = [row | {"status": "ok"} for row in rows()]
    found[0] |= {"MRR": None}
    told = karat("compare", table("s.csv", found), "-m", "MRR", "--json")
    assert told.code == 0
    assert json.loads(told.out)["pairs"][0]["n"] == 39
    found[1] |= {"MRR": None, "Hit@5": None, "status": "failed"}
    told = karat("compare", table("s.csv", found), "-m", "MRR")
    assert told.code == 5
    assert "MRR failed unequally (a on 1)" in " ".join(told.out.split())


def test_less_is_better(karat, table):
    found = [row | {"effort": 1 - row["MRR"]} for row in rows(lift=0.1)]
    name = table("s.csv", found)
    up = json.loads(karat("compare", name, "-m", "effort", "--json").out)
    down = json.loads(karat("compare", name, "-m", "effort", "--lower", "effort", "--json").out)
    assert up["pairs"][0]["better_system"] == "a"
    assert down["pairs"][0]["better_system"] == "b"
    assert up["pairs"][0]["wins"] == down["pairs"][0]["losses"]


def test_more_tests_than_draws_can_serve_is_said(karat, table):
    name = table("s.csv", rows(systems=tuple("abcdef"), lift=0.1))
    told = karat("compare", name, "--draws", "99")
    assert "no difference can be significant" in " ".join(told.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--test", "welch"], "--test welch"),
        (["--correction", "sidak"], "--correction sidak"),
        (["--draws", "0"], "--draws 0"),
        (["--by", "colour"], "there is no slice 'colour'"),
        (["-m", "Recal@5"], "Recal"),
        (["--testset", "s.csv"], "s.csv"),
    ],
)
def test_options_that_cannot_be(karat, table, words, said):
    told = karat("compare", table("s.csv", rows()), *words)
    assert told.code == 2
    assert said in told.sentence


def test_power(karat, table, put):
    qa = put("qa.jsonl", [{"id": f"q{i:02}", "question": "?", "gold": [{"id": "d"}]} for i in range(40)])
    name = table("s.csv", rows(systems=("a", "b", "c")))
    told = karat("compare", "--power", qa, name, "--difference", "0.03", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    frame = pl.DataFrame(rows(systems=("a", "b", "c"))).pivot("system", index="question_id", values="MRR")
    spreads = sorted((frame[x] - frame[y]).std() for x, y in ("ab", "ac", "bc"))
    mrr = next(m for m in found["measures"] if m["measure"] == "MRR")
    assert mrr["middle"] == pytest.approx(spreads[1])
    assert mrr["detectable"] == pytest.approx(2.8016 * spreads[1] / 40**0.5, rel=1e-3)
    assert mrr["needed"] == int(np.ceil((2.8016 * spreads[1] / 0.03) ** 2))
    assert mrr["detectable_least"] < mrr["detectable"] < mrr["detectable_most"]
    more = json.loads(karat("compare", "--power", qa, name, "--comparisons", "10", "-m", "MRR", "--json").out)
    assert more["measures"][0]["detectable"] > mrr["detectable"]
    told = karat("compare", "--power", qa, name, "--difference", "0.03")
    assert "MRR: a difference of .030 takes" in " ".join(told.out.split())
    assert karat("compare", "--power", qa, "-o", "p.md").code == 0
    assert "# What qa can tell" in Path("p.md").read_text()


def test_power_of_one_system_is_bounded_by_its_variance(karat, table, put):
    qa = put("qa.jsonl", [{"id": f"q{i:02}", "question": "?", "gold": [{"id": "d"}]} for i in range(40)])
    one = rows(systems=("a",))
    found = json.loads(karat("compare", "--power", qa, table("s.csv", one), "-m", "MRR", "--json").out)
    (mrr,) = found["measures"]
    assert mrr["middle"] == pytest.approx(2**0.5 * pl.DataFrame(one)["MRR"].std())
    assert mrr["pairs"] == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--difference", "0"], 2, "--difference 0"),
        (["--level", "2"], 2, "--level 2"),
        (["--comparisons", "0"], 2, "--comparisons 0"),
        (["x.csv"], 3, "no question of qa is in x.csv"),
        (["nothing"], 2, "no runs"),
    ],
)
def test_power_of_bad_input(karat, table, put, words, code, said):
    put("qa.jsonl", [{"id": f"q{i:02}", "question": "?", "gold": [{"id": "d"}]} for i in range(40)])
    table("x.csv", [row | {"question_id": f"z{row['question_id']}"} for row in rows()])
    told = karat("compare", "--power", "qa.jsonl", *words)
    assert told.code == code
    assert said in told.sentence
