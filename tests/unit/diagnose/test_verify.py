"""A planted table for every cause, and tables with nothing wrong."""

import math
import random
import statistics
import sys
from ast import literal_eval

import pytest
from printed_tables import METRICS, healthcare, judged, scored, summary, write

from karat.experiment.verify import verify


def lists(row):
    return literal_eval(row["retrieved_pages"]), literal_eval(row["relevant_pages"])


def wrong(found):
    """(name, what, cause) of all that is not right."""
    return {(f.name, f.what, f.cause) for f in found.figures if f.broken}


def test_the_rows_of_the_healthcare_evaluation_are_recomputed(tmp_path):
    rows = healthcare(repeats=True)
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", summary(rows)))
    assert not found.broken
    assert {f.name for f in found.of("ok") if f.what == "rows"} == set(METRICS)
    assert sum(f.cells for f in found.of("ok") if f.what == "rows") == len(rows) * 6
    assert {f.what for f in found.of("ok")} == {"rows", "mean", "std", "n"}


@pytest.mark.parametrize("digits", [2, 3, 4])
def test_printed_digits_decide_what_agrees(tmp_path, digits):
    rows = healthcare()
    table = summary(rows, digits=digits)
    path = write(tmp_path / "rows.csv", rows)
    assert not verify(path, write(tmp_path / "table.csv", table)).broken
    unit = 10**-digits
    table[0]["mrr_mean"] = f"{float(table[0]['mrr_mean']) + 2 * unit:.{digits}f}"
    assert [f.name for f in verify(path, write(tmp_path / "wrong.csv", table)).of("mismatch")] == ["mrr"]


def test_rows_with_fewer_digits_than_their_table_was_made_of(tmp_path):
    rows = healthcare(questions=9)
    table = summary(rows)
    short = [{**row, **{metric: round(row[metric], 2) for metric in METRICS}} for row in rows]
    assert not verify(write(tmp_path / "rows.csv", short), write(tmp_path / "table.csv", table)).broken
    table[0]["mrr_mean"] += 0.02
    assert verify(write(tmp_path / "rows.csv", short), write(tmp_path / "table.csv", table)).broken


def test_recall_that_is_a_hit_rate(tmp_path):
    rows = healthcare()
    for row in rows:
        row["recall_at_k"] = row["hit_rate_at_k"]
        p, r = row["precision_at_k"], row["recall_at_k"]
        row["f1_score"] = 2 * p * r / (p + r) if p + r else 0.0
    found = verify(write(tmp_path / "rows.csv", rows))
    assert ("recall_at_k", "rows", "hit rate") in wrong(found)


def test_a_table_whose_recall_is_a_hit_rate(tmp_path):
    rows = healthcare()
    table = summary(rows)
    for line in table:
        line["recall_at_k_mean"], line["recall_at_k_std"] = line["hit_rate_at_k_mean"], line["hit_rate_at_k_std"]
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert wrong(found) == {("recall_at_k", "mean", "hit rate"), ("recall_at_k", "std", "hit rate")}


def test_repeats_that_are_counted(tmp_path):
    rows = healthcare(repeats=True)
    for row in rows:
        pages, gold = lists(row)
        row["recall_at_k"] = sum(page in gold for page in pages) / len(gold)
    found = verify(write(tmp_path / "rows.csv", rows))
    assert {cause for name, _, cause in wrong(found) if name == "recall_at_k"} == {"repeats counted"}


def test_repeats_are_wrong_where_the_dialect_does_not_count_them(tmp_path):
    path = write(tmp_path / "rows.csv", healthcare(repeats=True))
    found = verify(path, dialect="karat")
    assert {(n, c) for n, _, c in wrong(found)} >= {
        ("precision_at_k", "repeats counted"),
        ("ndcg_at_k", "repeats counted"),
    }


def test_ndcg_above_1(tmp_path):
    rows = healthcare(most_gold=1)
    for row in rows:
        _, gold = lists(row)
        row["retrieved_pages"] = repr([gold[0]] * 5)
        row.update(scored([gold[0]] * 5, gold, 5))
    found = verify(write(tmp_path / "rows.csv", rows))
    (figure,) = (f for f in found.of("impossible") if f.name == "ndcg_at_k" and f.where.startswith("dense"))
    assert figure.cause == "repeats counted"
    assert figure.printed == pytest.approx(2.9485, abs=1e-4)
    assert figure.recomputed == pytest.approx(1.0)


@pytest.mark.parametrize("how", ["several", "all", "substring"])
def test_a_gold_list_compared_as_text(tmp_path, how):
    rows = healthcare()
    for row in rows:
        pages, gold = lists(row)
        text = row["relevant_pages"]
        if how == "substring":
            got = [page in text for page in pages]
            row["mrr"] = next((1 / i for i, hit in enumerate(got, 1) if hit), 0.0)
            row["hit_rate_at_k"] = float(any(got))
        elif how == "all" or len(gold) > 1:
            row.update(dict.fromkeys(METRICS, 0.0))
    found = verify(write(tmp_path / "rows.csv", rows))
    causes = {cause for name, _, cause in wrong(found) if name in ("mrr", "hit_rate_at_k")}
    assert causes == {"gold as text"}


def test_ids_compared_as_parts_of_one_another(tmp_path):
    rows = healthcare(questions=60)
    for row in rows:
        pages, gold = lists(row)
        got = [next((g for g in gold if g in page), page) for page in pages]
        row.update(scored(got, gold, 5))
    found = verify(write(tmp_path / "rows.csv", rows))
    assert {cause for _, _, cause in wrong(found)} == {"substring"}


def test_pages_off_by_one(tmp_path):
    rows = healthcare()
    for row in rows:
        pages, gold = lists(row)
        row.update(scored([str(int(page) + 1) for page in pages], gold, 5))
    assert {cause for _, _, cause in wrong(verify(write(tmp_path / "rows.csv", rows)))} == {"off by one page"}


def test_a_missing_key_scored_0(tmp_path):
    rows = healthcare()
    for i, row in enumerate(rows):
        if i % 4 == 0:
            pages, _ = lists(row)
            row["retrieved_pages"] = repr([*pages[:-1], "N/A"])
            row.update(dict.fromkeys(METRICS, 0.0))
        else:
            row.update(scored(*lists(row), 5))
    found = verify(write(tmp_path / "rows.csv", rows))
    assert {cause for _, _, cause in wrong(found)} == {"missing scored 0"}


def test_missing_values_scored_0_in_the_mean(tmp_path):
    rows = judged()
    for row in rows[::5]:
        row["faithfulness"] = None
    means = {s: sum(r["faithfulness"] or 0 for r in rows if r["system"] == s) / 60 for s in "ab"}
    table = [{"system": s, "faithfulness": mean} for s, mean in means.items()]
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert wrong(found) == {("faithfulness", "mean", "missing scored 0")}


def shrunk(tmp_path, value, said=None):
    """100 rows of which 38 failed; the table's mean is over the other 62."""
    rows = judged(questions=100, systems=("a",))
    for row in rows[:38]:
        row.update(faithfulness=value, error="timeout")
    mean = statistics.fmean(row["faithfulness"] for row in rows[38:])
    table = [{"system": "a", "faithfulness": mean, **({} if said is None else {"n": said})}]
    return verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))


def test_n_that_shrank_from_100_to_62(tmp_path):
    found = shrunk(tmp_path, 0.0)
    (figure,) = found.of("mismatch")
    assert figure.cause == "n shrank"
    assert "from 100 to 62" in figure.why
    assert "38 rows that failed" in figure.why


def test_n_that_shrank_and_is_printed_as_62_or_100(tmp_path):
    assert ("n", "n", "n shrank") in wrong(shrunk(tmp_path, 0.0, 62))
    blank = shrunk(tmp_path, None, 62)
    assert not blank.broken
    assert any("from 100 to 62" in f.why for f in blank.figures)
    assert [f.cause for f in shrunk(tmp_path, None).of("suspect")] == ["n shrank"]


def test_a_measure_without_any_value_has_an_n_of_0(tmp_path):
    rows = ["id,system,MRR,TokenF1", *(f"q{i},a,{i % 2},{{f1}}" for i in range(10))]
    (tmp_path / "table.csv").write_text("system,measure,n,mean\na,MRR,10,0.5\na,TokenF1,0,\n")
    (tmp_path / "blank.csv").write_text("\n".join(rows).format(f1=""))
    assert not verify(tmp_path / "blank.csv", table=tmp_path / "table.csv").broken
    (tmp_path / "filled.csv").write_text("\n".join(rows).format(f1="0.25"))
    wrong = verify(tmp_path / "filled.csv", table=tmp_path / "table.csv").of("mismatch")
    assert [(f.name, f.what, f.recomputed) for f in wrong] == [("TokenF1", "n", 10)]


def test_failures_scored_0(tmp_path):
    rows = judged(questions=50, systems=("a",))
    for row in rows[:9]:
        row["error"] = "timeout"
    mean = sum(row["faithfulness"] for row in rows[9:]) / 50
    found = verify(
        write(tmp_path / "rows.csv", rows), write(tmp_path / "t.csv", [{"system": "a", "faithfulness": mean}])
    )
    assert wrong(found) == {("faithfulness", "mean", "failures scored 0")}


def test_a_judge_that_defaults_to_a_half(tmp_path):
    rows = judged()
    for row in rows[::4]:
        row["faithfulness"] = 0.5
    (figure,) = verify(write(tmp_path / "rows.csv", rows)).of("suspect")
    assert figure.cause == "default of .5"
    for row in rows[::4]:
        row["error"] = "the reply did not parse"
    (figure,) = verify(write(tmp_path / "rows.csv", rows)).of("mismatch")
    assert figure.cause == "default of .5"
    assert figure.apart == 30


def test_a_scale_of_halves_is_no_default(tmp_path):
    rng = random.Random(1)
    rows = [{**row, "faithfulness": rng.choice([0, 0.5, 0.5, 1])} for row in judged()]
    assert not verify(write(tmp_path / "rows.csv", rows)).of("suspect")


def test_documents_judged_irrelevant_that_were_counted(tmp_path):
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": rng.choice([0, 0, 1, 2]) for j in range(6)} | {"d9": 1} for i in range(20)}
    run = {"bm25": {q: {f"d{j}": float(rng.random()) for j in range(12)} for q in qrels}}

    def mean(relevant):
        values = []
        for q, docs in qrels.items():
            top = sorted(run["bm25"][q], key=run["bm25"][q].get, reverse=True)[:5]
            gold = [d for d, grade in docs.items() if relevant(grade)]
            values.append(sum(d in top for d in gold) / len(gold))
        return statistics.fmean(values)

    right = verify(run, [{"system": "bm25", "Recall@5": mean(lambda g: g > 0)}], testset=qrels)
    assert [f.verdict for f in right.figures] == ["ok"]
    found = verify(run, [{"system": "bm25", "Recall@5": mean(lambda g: True)}], testset=qrels)
    assert wrong(found) == {("Recall@5", "mean", "irrelevant counted")}


def grid(reverse, cuts=(5,), names=("faiss", "hybrid")):
    """A dense ranking, and a hybrid that is it, or it in reverse: of its candidates, as many as k."""
    rng = random.Random(5)
    rows = []
    for q in range(30):
        ranked = [str(p) for p in rng.sample(range(1, 90), 10)]
        gold = [ranked[0]]
        for k in cuts:
            for name in names:
                pages = ranked[:k][::-1] if reverse and name == "hybrid" else ranked[:k]
                rows.append({"config_name": name, "alpha": 1.0, "k": k, "query_id": q, **scored(pages, gold, k),
                             "retrieved_pages": repr(pages), "relevant_pages": repr(gold)})  # fmt: skip
    return rows


@pytest.mark.parametrize(("cuts", "names"), [((5,), ("faiss", "hybrid")), ((3, 5), ("hybrid",))])
def test_a_dense_leg_that_is_ranked_in_reverse(tmp_path, cuts, names):
    found = verify(write(tmp_path / "rows.csv", grid(True, cuts, names)))
    assert {(f.what, f.cause) for f in found.of("mismatch")} == {("order", "dense leg reversed")}
    assert not verify(write(tmp_path / "right.csv", grid(False, cuts, names))).broken


def fused(reverse, alpha, named):
    """Dense, sparse and a hybrid that adds what their ranks are worth, the dense ones in reverse or not."""
    rng = random.Random(11)
    rows = []
    for q in range(40):
        legs = [[str(p) for p in rng.sample(range(1, 60), 10)] for _ in range(2)]
        dense = legs[0][::-1] if reverse else legs[0]
        worth = {p: alpha * (10 - i) for i, p in enumerate(dense)}
        for i, p in enumerate(legs[1]):
            worth[p] = worth.get(p, 0) + (1 - alpha) * (10 - i)
        hybrid = sorted(worth, key=lambda p: -worth[p])[:10]
        for name, share, pages in (
            ("Pure_Dense", 1.0, legs[0]),
            ("Pure_BM25", 0.0, legs[1]),
            ("Hybrid", alpha, hybrid),
        ):
            setting = {"alpha": share} if named else {}
            rows.append({"config_name": name, **setting, "k": 10, "query_id": q, **scored(pages, [legs[0][0]], 10),
                         "retrieved_pages": repr(pages), "relevant_pages": repr([legs[0][0]])})  # fmt: skip
    return rows


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("named", [True, False])
def test_a_dense_leg_in_reverse_shows_in_what_it_alone_finds(tmp_path, alpha, named):
    found = verify(write(tmp_path / "rows.csv", fused(True, alpha, named)))
    assert [(f.what, f.cause) for f in found.of("mismatch")] == [("order", "dense leg reversed")]
    assert found.of("mismatch")[0].where.startswith("Hybrid")
    assert not verify(write(tmp_path / "right.csv", fused(False, alpha, named))).broken


def test_the_standard_deviation_of_numpy_is_named_and_no_mistake(tmp_path):
    rows = healthcare()
    table = summary(rows)
    for line in table:
        own = [r["mrr"] for r in rows if r["config_name"] == line["config_name"]]
        line["mrr_std"] = statistics.pstdev(own)
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert not found.broken
    assert {f.cause for f in found.of("ok") if f.name == "mrr" and f.what == "std"} == {"ddof"}


def test_percentages_and_figures_that_are_cut_off_are_named_and_no_mistake(tmp_path):
    rows = healthcare()
    table = summary(rows, statistics_=("mean",))
    for line in table:
        line["mrr_mean"] *= 100
        line["ndcg_at_k_mean"] = f"{math.floor(line['ndcg_at_k_mean'] * 1e4) / 1e4:.4f}"
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert not found.broken
    causes = {(f.name, f.cause) for f in found.of("ok")}
    assert ("mrr", "percent") in causes
    assert ("ndcg_at_k", "cut off") in causes


def test_labels_that_the_rows_do_not_know_are_not_guessed(tmp_path):
    rows = healthcare()
    table = [{"config_name": "dense", "language": language, "mrr": 0.5} for language in ("en", "ru")]
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert [(f.verdict, f.name) for f in found.figures if f.what == "mean"] == [("unchecked", "mrr")] * 2
    assert any("'ru'" in f.why for f in found.of("unchecked"))
    (tmp_path / "one.csv").write_text("qid,MRR\n" + "".join(f"{i},1.0\n" for i in range(5)))
    assert not verify(tmp_path / "one.csv", [{"system": "mine", "MRR": 1.0}]).broken
    assert verify(tmp_path / "one.csv", [{"system": "mine", "MRR": 0.9}]).broken
    two = [{"system": "mine", "MRR": 1.0}, {"system": "theirs", "MRR": 0.9}]
    assert not verify(tmp_path / "one.csv", two).broken


def test_questions_that_stand_twice(tmp_path):
    rows = healthcare()
    table = summary(rows)
    path = write(tmp_path / "rows.csv", [*rows, rows[0]])
    assert [f.cause for f in verify(path).of("suspect")] == ["repeated rows"]
    found = verify(path, write(tmp_path / "table.csv", table))
    assert {f.cause for f in found.of("mismatch")} == {"repeated rows"}
    assert not [f for f in found.of("mismatch") if f.what == "n"]


def test_f1_of_the_means_another_statistic_another_column_and_another_system(tmp_path):
    rows = healthcare()
    path = write(tmp_path / "rows.csv", rows)
    right = summary(rows, statistics_=("mean",))
    p, r = (right[0][f"{name}_at_k_mean"] for name in ("precision", "recall"))
    for column, value, cause in (
        ("f1_score_mean", 2 * p * r / (p + r), "F1 of means"),
        ("mrr_mean", statistics.median(x["mrr"] for x in rows if x["config_name"] == "dense"), "other statistic"),
        ("mrr_mean", right[0]["ndcg_at_k_mean"], "other column"),
        ("mrr_mean", right[1]["mrr_mean"], "other system"),
    ):
        table = [{**right[0], column: value}, right[1]]
        found = verify(path, write(tmp_path / "table.csv", table))
        assert [f.cause for f in found.of("mismatch")] == [cause]


def test_a_figure_that_nothing_explains_is_a_mismatch_without_a_cause(tmp_path):
    rows = healthcare()
    table = summary(rows)
    table[0]["mrr_mean"] += 0.0317
    (figure,) = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table)).of("mismatch")
    assert figure.cause == ""
    assert figure.difference == pytest.approx(0.0317)
    assert "no cause was found" in figure.why


def test_a_table_never_loads_code():
    assert not verify([{"system": "a", "Recall@5": 0.5, "antigravity:fly": 3.0}]).broken
    assert "antigravity" not in sys.modules
