"""How papers print figures: what follows ±, units in headings, measures down the side, counts of hits."""

import math
import statistics

import pytest

from karat.core.errors import InputError
from karat.experiment.verify import verify


def put(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        ("0.5789 ± 0.0430", {"n": 133}),  # the standard error
        ("0.5789 ± 0.0839", {"n": 133}),  # half of the 95% interval
        ("57.9 ± 0.3", {}),  # over runs
    ],
)
def test_what_follows_a_sign_may_be_no_standard_deviation(cell, options):
    found = verify([{"system": "dense", "Hit@5": cell}], **options)
    assert not found.broken
    assert [(f.name, f.what) for f in found.of("unchecked")] == [("Hit@5", "std")]
    assert "standard error" in found.of("unchecked")[0].why


def test_a_column_of_standard_deviations_is_held_to_its_name():
    (figure,) = verify([{"system": "dense", "Hit@5": "0.5789", "Hit@5 std": "0.0430"}], n=133).of("impossible")
    assert figure.cause == "spread"


def test_a_standard_error_after_the_sign_follows_from_the_rows(tmp_path):
    values = [(0, 0.5, 1)[i % 3] for i in range(30)]
    rows = put(tmp_path / "rows.csv", ["qid,system,R@5", *(f"q{i},A,{v}" for i, v in enumerate(values))])
    error = statistics.stdev(values) / math.sqrt(30)
    for spread in (error, 1.96 * error):
        table = put(tmp_path / "t.md", ["| system | R@5 |", "|---|---|", f"| A | 0.50 ± {spread:.2f} |"])
        found = verify(rows, table)
        assert not found.broken
        assert [f.cause for f in found.figures if f.what == "std"] == ["standard error"]
    table = put(tmp_path / "t.md", ["| system | R@5 |", "|---|---|", "| A | 0.50 ± 0.23 |"])
    assert [f.what for f in verify(rows, table).of("mismatch")] == ["std"]


@pytest.mark.parametrize("unit", ["(%)", "[%]", "%", "(in %)"])
def test_percent_in_a_heading_is_no_part_of_the_name(tmp_path, unit):
    wide = [f"| Model | P@5 {unit} | R@5 {unit} | F1@5 {unit} |", "|---|---|---|---|", "| A | 30.0 | 60.0 | {} |"]
    long = [
        "| Metric | A |",
        "|---|---|",
        *(f"| {m}@5 {unit} | {v} |" for m, v in zip("PR", (30.0, 60.0), strict=True)),
    ]
    for lines, last in ((wide, ""), (long, f"| F1@5 {unit} | {{}} |")):
        text = "\n".join([*lines, *([last] if last else [])])
        assert [f.cause for f in verify(put(tmp_path / "bad.md", [text.format(48.0)])).of("impossible")] == ["order"]
        assert verify(put(tmp_path / "good.md", [text.format(38.0)])).count("ok") == 3


@pytest.mark.parametrize("heading", ["", "index", "Metrics", "Unnamed: 0"])
def test_measures_down_the_side_whatever_their_heading(tmp_path, heading):
    lines = [f"{heading},A,B", "recall_at_1,0.30,0.20", "recall_at_5,0.62,0.40", "recall_at_10,0.58,0.50"]
    (figure,) = verify(put(tmp_path / "t.csv", lines)).of("impossible")
    assert (figure.where, figure.name, figure.cause) == ("A", "recall_at_10", "order")


def test_numbers_of_hits_are_no_percentages():
    counts = [{"system": s, "Hits@5": h, "questions": 97} for s, h in (("A", "41"), ("B", "50"))]
    assert not verify(counts).broken
    shares = [{"system": s, "Hits@5": h, "questions": 97} for s, h in (("A", "41.0"), ("B", "50.2"))]
    assert {f.cause for f in verify(shares).of("impossible")} == {"not 0/1 over n"}


def test_map_and_recall_are_the_same_at_the_first_hit():
    columns = ("abc", (0.2, 0.3, 0.4), (0.4, 0.5, 0.6))
    table = [{"system": s, "MAP@1": v, "Recall@1": v, "MRR": m} for s, v, m in zip(*columns, strict=True)]
    assert not verify(table).of("suspect")


def test_one_gold_holds_precision_to_recall_where_there_is_no_hit_rate():
    line = {"system": "a", "P@5": "0.50", "R@5": "0.70"}
    assert [f.name for f in verify([line], one_gold=True).of("impossible")] == ["P@5"]
    assert not verify([{**line, "P@5": "0.14"}], one_gold=True).broken


def test_a_whole_step_of_the_last_digit_is_no_rounding(tmp_path):
    rows = put(tmp_path / "rows.csv", ["qid,system,R@5", *(f"q{i},a,{i % 2}" for i in range(20))])
    (figure,) = verify(rows, put(tmp_path / "t.csv", ["system,R@5", "a,0.6"])).of("mismatch")
    assert figure.cause == ""
    odd = put(
        tmp_path / "odd.csv", ["qid,system,R@5", *(f"q{i},a,{int(i < 109)}" for i in range(200))]
    )  # .545, .55, .6
    assert [f.cause for f in verify(odd, put(tmp_path / "t.csv", ["system,R@5", "a,0.6"])).of("mismatch")] == [
        "rounding"
    ]


def test_a_reciprocal_rank_next_to_nothing_is_none(tmp_path):
    rows = ["question_id,system,MRR", *(f"q{i},a,{1 / (i + 1)}" for i in range(5)), "q5,a,1e-310"]
    found = verify(put(tmp_path / "rows.csv", rows))
    assert "not 1/rank" in found.causes


def test_a_table_with_a_return_within_a_line_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"summary.csv line 2: a carriage return stands within a line"):
        verify(put(tmp_path / "summary.csv", ["system,MRR,Hit@5", "a\rb,0.5,0.6", "c,0.4,0.5"]))


@pytest.mark.parametrize("recall", ["0.655 (+0.043)", "$0.655$", r"$0.655 \pm 0.02$", "0.655 (−4.3%)"])
def test_differences_in_brackets_and_numbers_set_by_latex_are_read(recall):
    true = verify([{"system": "dense", "Recall@5": recall, "Hit@5": "$0.71$"}])
    assert not true.broken
    assert not [figure for figure in true.of("unchecked") if figure.what == "mean"]
    false = verify([{"system": "dense", "Recall@5": recall, "Hit@5": "0.61 (+0.1)"}])
    assert [(figure.name, figure.cause) for figure in false.of("impossible")] == [("Recall@5", "order")]


@pytest.mark.parametrize("cell", ["$0.41", "0.655 (12)", "$$", "0.655 (+a)"])
def test_what_may_be_a_price_or_a_count_is_not_read(cell):
    (figure,) = verify([{"system": "dense", "Recall@5": cell, "MRR": "0.4"}]).of("unchecked")
    assert figure.name == "Recall@5"


def test_a_count_beside_each_measure_says_that_failed_rows_were_left_out(tmp_path):
    lines = ["qid,system,MRR,Hit@5,error", *(f"q{i},A,{(i % 2) / 2},{i % 2}," for i in range(9)), "q9,A,,,timed out"]
    rows = put(tmp_path / "rows.csv", lines)
    means = ["system,measure,mean,n,n_failed", f"A,MRR,{2 / 9},9,1", f"A,Hit@5,{4 / 9},9,1"]
    found = verify(rows, put(tmp_path / "table.csv", means))
    assert not found.broken
    assert not found.of("suspect")
    found = verify(rows, put(tmp_path / "table.csv", [means[0], means[1].replace(",9,", ",10,"), means[2]]))
    assert ("MRR", "n shrank") in {(one.name, one.cause) for one in found.figures}


def test_pairs_as_compare_prints_them_are_no_means(tmp_path):
    heads = ("measure", "b", "a", "b - a", "p", "adjusted p", "d", "n", "Wilcoxon", "rank-biserial", "b over a")
    pair = ("MRR", "new", "old", "+.36 [.07, .57]", ".026", ".158", ".57", "29", ".026", ".742", "+125.6%")
    mean = ["| system | MRR | n |", "|---|---|---|", "| old | .29 | 33 |", "| new | .65 | 33 |", ""]
    table = [f"| {' | '.join(cells)} |" for cells in (heads, ("---",) * len(heads), pair)]
    found = verify(put(tmp_path / "compared.md", [*mean, *table]))
    assert not found.broken
    assert {one.where for one in found.figures if one.name == "MRR"} == {"old", "new"}
