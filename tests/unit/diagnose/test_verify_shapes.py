"""Tables alone that cannot be, shapes that tables come in, and tables with nothing wrong."""

import random
import statistics
from ast import literal_eval

import pytest
from printed_tables import healthcare, hybrid_rag, judged, scored, summary, write

from karat.core.errors import InputError, UsageError
from karat.diagnose.verify import CAUSES
from karat.experiment.verify import verify


def lists(row):
    return literal_eval(row["retrieved_pages"]), literal_eval(row["relevant_pages"])


def wrong(found):
    """(name, what, cause) of all that is not right."""
    return {(f.name, f.what, f.cause) for f in found.figures if f.broken}


def test_rows_that_keep_the_first_hit_alone(tmp_path):
    rows = hybrid_rag()
    found = verify(
        write(tmp_path / "rows.csv", rows),
        write(tmp_path / "t.csv", summary(rows, "method", ("mrr", "recall@10", "answer_f1"))),
    )
    assert not found.broken
    assert {f.name for f in found.of("ok") if f.what == "rows"} == {"mrr", "recall@10", "answer_f1"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: {"mrr": 0.0} if row["expected_url"].startswith("[") else {}, ("mrr", "gold as text")),
        (
            lambda row: (
                {"retrieved_top1_url": "https://example.org", "mrr": 1.0}
                if row["mrr"] == 0.5 and row["expected_url"].startswith("[")
                else {}
            ),
            ("mrr", "gold as text"),
        ),
        (
            lambda row: {"retrieved_top1_url": "https://example.org", "mrr": 1.0} if row["mrr"] == 0.5 else {},
            ("mrr", "substring"),
        ),
        (lambda row: {"mrr": 0.4} if row["mrr"] == 0.5 else {}, ("mrr", "not 1/rank")),
        (lambda row: {"mrr": 1.0} if row["mrr"] == 0.5 else {}, ("mrr", "first hit")),
        (lambda row: {"recall@10": 0.7} if row["recall@10"] == 0.5 else {}, ("recall@10", "not a share of the gold")),
        (lambda row: {"answer_f1": row["answer_f1"] / 2} if row["answer_f1"] else {}, ("answer_f1", "answer F1")),
        (
            lambda row: (
                {"retrieved_top1_url": "http://Example.org" + row["retrieved_top1_url"][19:] + "/", "mrr": 0.0}
                if row["mrr"] == 1 and not row["expected_url"].startswith("[")
                else {}
            ),
            ("mrr", "URL spelling"),
        ),
    ],
)
def test_what_rows_with_one_hit_imply(tmp_path, change, expected):
    rows = [{**row, **change(row)} for row in hybrid_rag()]
    assert {(name, cause) for name, _, cause in wrong(verify(write(tmp_path / "rows.csv", rows)))} == {expected}


def test_other_names_of_gold_addresses(tmp_path):
    for name in ("ground_truth_urls", "gold_url", "source_urls"):
        rows = [{**row, "mrr": 1.0 if row["mrr"] == 0.5 else row["mrr"]} for row in hybrid_rag()]
        named = [{name if key == "expected_url" else key: value for key, value in row.items()} for row in rows]
        assert ("mrr", "rows", "first hit") in wrong(verify(write(tmp_path / "rows.csv", named))), name


def test_recall_that_is_never_a_fraction_is_worth_a_look(tmp_path):
    rows = [{**row, "recall@10": float(row["recall@10"] > 0)} for row in hybrid_rag(questions=60)]
    assert [f.cause for f in verify(write(tmp_path / "rows.csv", rows)).of("suspect")] == ["hit rate"]


def test_f_and_t_of_a_grid(tmp_path):
    from scipy import stats

    rng = random.Random(2)
    rows = [
        {"qid": q, "chunker": c, "relevance": rng.gauss(0, 1) + 0.2 * i} for i, c in enumerate("abc") for q in range(30)
    ]
    groups = [[row["relevance"] for row in rows if row["chunker"] == c] for c in "abc"]
    f, t = stats.f_oneway(*groups).statistic, stats.ttest_rel(groups[1], groups[0]).statistic
    path = write(tmp_path / "rows.csv", rows)
    right = [{"factor": "chunker", "F": f"{f:.3f}", "p": f"{stats.f_oneway(*groups).pvalue:.4f}"}]
    assert {x.verdict for x in verify(path, write(tmp_path / "f.csv", right)).figures if x.what in "Fp"} == {"ok"}
    assert verify(path, write(tmp_path / "t.csv", [{"a": "a", "b": "b", "t": f"{t:.3f}"}])).of("ok")
    (figure,) = verify(path, write(tmp_path / "w.csv", [{"factor": "chunker", "F": f"{f + 1:.3f}"}])).of("mismatch")
    assert figure.recomputed == pytest.approx(f)


@pytest.mark.parametrize(
    ("line", "options", "expected"),
    [
        ({"Hit@5": "0.5801"}, {"n": 133}, ("Hit@5", "mean", "not 0/1 over n")),
        ({"Precision@5": "0.2491"}, {"n": 133}, ("Precision@5", "mean", "not a share of k over n")),
        ({"Hit@5": "0.5789 ± 0.3845"}, {"n": 133}, ("Hit@5", "std", "spread")),
        ({"MRR_mean": "0.05", "MRR_std": "0.35"}, {}, ("MRR", "std", "spread")),
        ({"nDCG@5": "1.08"}, {}, ("nDCG@5", "mean", "range")),
        ({"P@5": "0.25", "R@5": "0.30", "F1@5": "0.29"}, {}, ("F1@5", "mean", "order")),
        ({"Recall@5": "0.50", "Recall@10": "0.45"}, {}, ("Recall@10", "mean", "order")),
        ({"Recall@5": "0.61", "Hit@5": "0.58"}, {}, ("Recall@5", "mean", "order")),
        ({"MRR@5": "0.61", "Hit@5": "0.58"}, {}, ("MRR@5", "mean", "order")),
        ({"MAP": "0.41", "MRR": "0.52"}, {"one_gold": True}, ("MAP", "mean", "MAP is not MRR")),
        ({"MRR min": "0.20", "MRR 25%": "0.10"}, {}, ("MRR", "25%", "order")),
        ({"MRR": "0.40", "MRR std": "-0.10"}, {}, ("MRR", "std", "range")),
        ({"MRR": "0.40", "p": "1.3"}, {}, ("p", "p", "range")),
        ({"MRR": "0.40", "p": "-0.1"}, {}, ("p", "p", "range")),
        ({"MRR": "0.40", "F": "-2.0"}, {}, ("F", "F", "range")),
    ],
)
def test_a_table_alone_that_cannot_be(line, options, expected):
    found = verify([{"system": "dense", **line}], **options)
    assert expected in wrong(found)


def test_the_same_tables_one_digit_away_can_be():
    for line, options in (
        ({"Hit@5": "0.5789"}, {"n": 133}),
        ({"Precision@5": "0.2496"}, {"n": 133}),
        ({"Hit@5": "0.5789 ± 0.4956"}, {"n": 133}),
        ({"Hit@5": "0.5789 ± 0.4937"}, {"n": 133}),
        ({"P@5": "0.25", "R@5": "0.30", "F1@5": "0.28"}, {}),
        ({"MAP": "0.52", "MRR": "0.52"}, {"one_gold": True}),
    ):
        assert not verify([{"system": "dense", **line}], **options).broken, line


def test_columns_and_rows_that_are_the_same_are_worth_a_look():
    table = [
        {"system": s, "Recall@5": v, "Hit@5": v, "MRR": m}
        for s, v, m in (("a", 0.4, 0.3), ("b", 0.5, 0.31), ("c", 0.6, 0.4))
    ]
    assert [f.cause for f in verify(table).of("suspect")] == ["hit rate"]
    table = [{"system": s, "P@5": 0.2, "Recall@5": 0.5, "MRR": 0.44} for s in "ab"]
    assert [f.cause for f in verify(table).of("suspect")] == ["identical rows"]
    table = [{"system": "a", "MRR": 0.44, "n": 100}, {"system": "b", "MRR": 0.41, "n": 62}]
    assert [f.cause for f in verify(table).of("suspect")] == ["unequal n"]


def test_what_cannot_be_checked_is_listed(tmp_path):
    found = verify([{"system": "a", "MRR": 0.5, "sparkle": 0.7}])
    assert [f.name for f in found.of("unchecked")] == ["sparkle"]
    rows = judged()
    found = verify(
        write(tmp_path / "rows.csv", rows), write(tmp_path / "t.csv", [{"system": "zebra", "faithfulness": 0.5}])
    )
    assert any("zebra" in f.why for f in found.of("unchecked"))


@pytest.mark.parametrize(
    "shape",
    [
        lambda m: {"dense": {"mrr": m["dense"]}, "bm25": {"mrr": m["bm25"]}},
        lambda m: {"results": {s: {"mrr": {"mean": v, "count": 40}} for s, v in m.items()}},
        lambda m: {"summary": [{"config_name": s, "avg_mrr": v, "num_queries": 40} for s, v in m.items()]},
        lambda m: [{"system": s, "measure": "MRR", "mean": v, "n": 40} for s, v in m.items()],
        lambda m: [{"config_name": s, "alpha": i, "k": 5, "mean_mrr": v} for i, (s, v) in enumerate(m.items())],
    ],
)
def test_shapes_of_tables(tmp_path, shape):
    rows = healthcare()
    means = {line["config_name"]: line["mrr_mean"] for line in summary(rows)}
    path = write(tmp_path / "rows.csv", rows)
    found = verify(path, shape(means))
    assert not found.broken
    assert sum(f.what == "mean" and f.verdict == "ok" for f in found.figures) == 2
    found = verify(path, shape({s: v + 0.01 for s, v in means.items()}))
    assert sum(f.what == "mean" and f.verdict == "mismatch" for f in found.figures) == 2


def test_two_lines_of_header_and_describe(tmp_path):
    rows = healthcare(systems=("dense",))
    (line,) = summary(rows)
    (tmp_path / "agg.csv").write_text(
        f",mrr,mrr,recall_at_k\n,mean,std,mean\nconfig_name,,,\n"
        f"dense,{line['mrr_mean']},{line['mrr_std']},{line['recall_at_k_mean']}\n"
    )
    (tmp_path / "describe.csv").write_text(
        f",mrr\ncount,40.0\nmean,{line['mrr_mean']}\nstd,{line['mrr_std']}\nmax,1.0\n"
    )
    path = write(tmp_path / "rows.csv", rows)
    for name, many in (("agg.csv", 3), ("describe.csv", 4)):
        found = verify(path, tmp_path / name)
        assert [f.verdict for f in found.figures if f.what != "rows"] == ["ok"] * many


def test_one_question_has_no_spread(tmp_path):
    rows = healthcare(questions=1)
    table = [{"config_name": line["config_name"], "mrr": line["mrr"], "mrr_std": 0.0} for line in rows]
    found = verify(write(tmp_path / "rows.csv", [*rows, {**rows[0], "config_name": "third"}]), table)
    assert {(f.verdict, f.why) for f in found.figures if f.what == "std"} <= {("unchecked", "one value has no spread.")}


@pytest.mark.parametrize("digits", [2, 3, 4])
def test_decimal_commas(tmp_path, digits):
    rows = hybrid_rag()
    table = summary(rows, "method", ("mrr", "recall@10"), digits=digits)
    table.append(
        {**table[0], "method": "perfect", "mrr_mean": 1, "recall@10_mean": 1, "mrr_std": 0, "recall@10_std": 0}
    )
    lines = [list(table[0])] + [
        [f"{v:.{digits}f}" if isinstance(v, float) else str(v) for v in t.values()] for t in table
    ]
    lines[-1] = [cell if cell not in "01" else f"{int(cell):.{digits}f}" for cell in lines[-1]]
    (tmp_path / "t.csv").write_text("\ufeff" + "".join(";".join(line).replace(".", ",") + "\n" for line in lines))
    assert not verify(tmp_path / "t.csv").broken
    found = verify(write(tmp_path / "rows.csv", rows), tmp_path / "t.csv")
    assert not found.broken
    assert sum(f.what in ("mean", "std", "n") for f in found.of("ok")) == 5 * (len(table) - 1)


@pytest.mark.parametrize(
    ("cell", "value"), [("1,330", 1330), ("0,579", 0.579), ("0,5789", 0.5789), ("57,9%", 0.579), ("12,345.5", 12345.5)]
)
def test_commas_of_single_cells(cell, value):
    (figure,) = verify([{"system": "a", "sparkle": cell}]).figures
    assert figure.printed == pytest.approx(value)


def test_counts_and_tests_that_cannot_be_read_are_listed():
    found = verify([{"system": "a", "Hit@5": "0.57", "n": "n=133"}, {"system": "b", "Hit@5": "0.57", "n": 133}])
    assert [(f.name, f.verdict) for f in found.figures if f.why.startswith("'n=133'")] == [("n", "unchecked")]
    assert {f.where for f in found.figures if f.name == "Hit@5"} == {"a", "b"}
    found = verify([{"system": "a", "MRR": "0.57", "p": "<.001"}])
    assert [(f.name, f.verdict) for f in found.figures] == [("MRR", "ok"), ("p", "unchecked")]


@pytest.mark.parametrize("n", ["-5", "133.5", "0"])
def test_a_number_of_questions_that_cannot_be(n):
    assert wrong(verify([{"system": "a", "Hit@5": "0.5789", "n": n}])) == {("n", "n", "range")}


@pytest.mark.parametrize("name", ["Total", "Average", "**Overall**", "macro avg"])
def test_a_last_row_over_all_systems_is_no_system(name):
    systems = [{"system": "a", "Hit@5": "0.5789", "n": 133}, {"system": "b", "Hit@5": "0.6015", "n": 133}]
    assert not verify([*systems, {"system": name, "Hit@5": "0.5902", "n": 266}]).causes
    some = [{**line, "n": ""} for line in [*systems, {"system": name, "Hit@5": "0.5902"}]]
    assert not verify([{**line, "Hit@5": f"{float(line['Hit@5']):.4f}"} for line in some], n=133).broken


def test_means_of_fewer_rows_than_the_table_says_are_worth_a_look(tmp_path):
    rows = healthcare(questions=133)
    for i, row in enumerate(rows):
        if i % 7 == 0:
            row["hit_rate_at_k"] = None
    table = summary(rows, digits=4)
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert not found.broken
    assert {(f.name, f.cause) for f in found.of("suspect")} == {("hit_rate_at_k", "n shrank")}
    assert "n shrank from 133 to 114, and the table says 133" in found.of("suspect")[0].why


def test_a_column_with_few_impossible_cells_counts_those_alone(tmp_path):
    rows = hybrid_rag()
    halves = [row for row in rows if row["mrr"] == 0.5 and row["method"] == "dense"][:2]
    for row in halves:
        row["mrr"] = 0.4
    found = verify(write(tmp_path / "rows.csv", rows))
    assert (found.count("impossible"), found.count("mismatch")) == (2, 0)
    assert {(f.where, f.name): f.cells for f in found.of("ok")} == {
        ("sparse", "mrr"): 40, ("dense", "recall@10"): 40, ("sparse", "recall@10"): 40, ("dense", "answer_f1"): 40,
        ("sparse", "answer_f1"): 40,
    }  # fmt: skip
    assert found.count("ok") == 5 * 40


def test_a_few_lists_with_a_wrong_rank_are_not_lists_compared_as_text(tmp_path):
    rows = hybrid_rag()
    first = next(row for row in rows if row["mrr"] == 1 and row["expected_url"].startswith("["))
    first["mrr"] = 0.5
    assert wrong(verify(write(tmp_path / "rows.csv", rows))) == {("mrr", "rows", "first hit")}


def test_mrr_score_is_mrr(tmp_path):
    rows = hybrid_rag()
    table = [{"Method": t["method"], "MRR Score": t["mrr_mean"]} for t in summary(rows, "method", ("mrr",), digits=4)]
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "t.csv", table))
    assert [f.verdict for f in found.figures if f.name == "MRR Score"] == ["ok", "ok"]


def test_repeats_are_the_cause_for_f1_too(tmp_path):
    def credited(row):
        pages, gold = lists(row)
        many = sum(page in gold for page in pages[:5])
        return 2 * (many / 5) * (many / len(gold)) / (many / 5 + many / len(gold)) if many else 0.0

    rows = []
    for row in healthcare(questions=60):
        pages, gold = lists(row)
        pages = [*pages[:3], pages[0], pages[0]]
        rows.append({**row, **once(pages, gold), "retrieved_pages": repr(pages)})
    table = [{**line, "f1_score_mean": 0} for line in summary(rows, statistics_=("mean",))]
    for line in table:
        line["f1_score_mean"] = statistics.fmean(credited(r) for r in rows if r["config_name"] == line["config_name"])
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table), dialect="karat")
    assert wrong(found) == {("f1_score", "mean", "repeats counted")}


def once(pages, gold):
    """The metrics with each page credited once."""
    seen = [page if page not in pages[:i] else f"again {i}" for i, page in enumerate(pages)]
    return scored(seen, gold, 5)


@pytest.mark.parametrize("cell", ["1e400", "9" * 400, "abc", "∞", "½", "['1'"])
def test_strange_cells_are_no_numbers(cell):
    found = verify([{"system": "a", "MRR": 0.5, "Hit@5": cell}])
    assert [(f.name, f.verdict) for f in found.figures] == [("MRR", "ok"), ("Hit@5", "unchecked")]
    assert "is no number" in found.figures[-1].why


def test_cells_of_nested_objects_that_are_no_numbers_are_listed():
    found = verify(
        {"results": {"dense": {"mrr": "broken", "Hit@5": float("inf")}, "bm25": {"mrr": 0.2, "Hit@5": None}}}
    )
    assert [(f.where, f.name, f.verdict) for f in found.figures] == [
        ("bm25", "mrr", "ok"), ("dense", "mrr", "unchecked"), ("dense", "Hit@5", "unchecked")
    ]  # fmt: skip


def test_a_column_of_rows_with_a_word_in_it_is_listed(tmp_path):
    rows = healthcare()
    rows[3]["mrr"] = "error"
    (figure,) = verify(write(tmp_path / "rows.csv", rows)).of("unchecked")
    assert figure.name == "mrr"
    assert "'error' of question 4 is no number" in figure.why


def test_bad_input(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        verify(tmp_path / "none.csv")
    (tmp_path / "text.txt").write_text("nothing here\n")
    with pytest.raises(InputError, match="no table"):
        verify(tmp_path / "text.txt")
    with pytest.raises(InputError, match="no figures"):
        verify([{"system": "a", "comment": "fine"}])
    with pytest.raises(InputError, match="no rows of single questions"):
        verify([{"system": "a", "MRR": 0.5}], [{"system": "a", "MRR": 0.5}])
    with pytest.raises(UsageError, match="n=0"):
        verify([{"system": "a", "MRR": 0.5}], n=0)
    with pytest.raises(UsageError, match="k=0"):
        verify([{"system": "a", "hit_rate_at_k": 0.5}], k=0)


def test_every_cause_has_words():
    assert all(text and not text.endswith(".") for text in CAUSES.values())


@pytest.mark.parametrize("seed", [*range(16), *(pytest.param(n, marks=pytest.mark.slow) for n in range(16, 200))])
def test_no_false_alarm_on_clean_tables(tmp_path, seed):
    rng = random.Random(seed)
    digits = rng.choice([None, 2, 3, 4])
    kind = seed % 4
    if kind == 0:
        rows = healthcare(
            seed, questions=rng.randint(5, 60), k=rng.choice([3, 5, 10]), repeats=False, most_gold=rng.choice([1, 2, 4])
        )
        table = summary(rows, digits=digits, n=rng.random() < 0.5)
    elif kind == 1:
        rows = hybrid_rag(seed, questions=rng.randint(5, 50))
        table = summary(rows, "method", ("mrr", "recall@10", "answer_f1"), digits=digits)
    elif kind == 2:
        rows = judged(seed, questions=rng.randint(5, 80), systems=("a", "b", "c"))
        table = summary(rows, "system", ("faithfulness",), digits=digits)
    else:
        rows = healthcare(seed, questions=rng.randint(20, 150), repeats=False)
        named = {
            "precision_at_k": "P@5",
            "recall_at_k": "R@5",
            "f1_score": "F1@5",
            "hit_rate_at_k": "Hit@5",
            "mrr": "MRR",
            "ndcg_at_k": "nDCG@5",
        }
        table = [
            {
                named.get(k.removesuffix("_mean").removesuffix("_std"), k) + (" std" if k.endswith("_std") else ""): v
                for k, v in line.items()
            }
            for line in summary(rows, digits=digits)
        ]
        found = verify(write(tmp_path / "alone.csv", table))
        assert not found.broken, [f for f in found.figures if f.broken]
    found = verify(write(tmp_path / "rows.csv", rows), write(tmp_path / "table.csv", table))
    assert not found.broken, [f for f in found.figures if f.broken]
    assert sum(f.verdict == "ok" for f in found.figures if f.what in ("mean", "std")) == sum(
        f.what in ("mean", "std") for f in found.figures
    )
