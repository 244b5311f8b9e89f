from dataclasses import replace

import pytest

from karat.core.language import parse, parse_all
from karat.diagnose.decisions import verdicts
from karat.report.build.evaluation import leader
from karat.results.decisions import BestSystems, headlines, main_measures
from karat.results.evaluation import Summary


def names(measures):
    return [m.name for m in measures]


def test_headlines_are_recall_near_five_and_the_answer_measure():
    assert names(headlines(parse_all(["P@5", "MRR", "Recall@{1,3,10,20}"]))) == ["Recall@3"]
    assert names(headlines(parse_all(["P@5", "nDCG@{5,10}", "MRR"]))) == ["nDCG@10"]
    assert names(headlines(parse_all(["Retrieved", "Rprec"]))) == ["Rprec"]
    assert names(headlines(parse_all(["Recall", "Recall@5", "Recall(rel=2)@5"]))) == ["Recall@5"]


def test_a_foreign_dialect_names_its_main_measure_first():
    assert names(headlines(parse_all(["F1@5", "Recall@5"]), "healthcare")) == ["F1@5"]


def test_main_measures_take_one_of_each_kind():
    found = names(main_measures(parse_all(["P@{1,5}", "Recall@{1,5,10}", "MRR", "MRR@10", "nDCG@{5,10}", "Rprec"])))
    assert found == ["Recall@5", "nDCG@10", "MRR", "Precision@5", "Rprec"]


def summary(mean=0.71, n=50, **more):
    given = {"low": 0.66, "high": 0.76, "band": "Good", "meaning": "most is found", **more}
    return Summary(
        system="bm25",
        measure="Recall@5",
        n=n,
        n_undefined=0,
        n_failed=more.pop("n_failed", 0),
        mean=mean,
        **{k: v for k, v in given.items() if k != "n_failed"},
    )


def said(*summaries, measures="Recall@5"):
    return verdicts(summaries, parse_all(measures))["bm25"]


def test_a_verdict_names_figure_interval_band_and_meaning():
    assert said(summary()) == (
        "bm25: Recall@5 .71 [.66, .76], Good: finds about 7 in 10 of the relevant units in the top 5."
    )


def test_a_verdict_names_the_weakest_slice():
    whole = summary()
    weak = summary(0.42, 12, low=0.2, high=0.63, slice="kind", value="scenario")
    tiny = summary(0.1, 3, slice="kind", value="tiny")
    fine = summary(0.8, 30, slice="kind", value="factual")
    assert said(whole, fine, tiny, weak).endswith("; weakest on kind=scenario (Recall@5 .42 [.20, .63], n=12).")
    near = summary(0.70, 12, slice="kind", value="scenario")
    assert "weakest" not in said(whole, near, fine)


def test_a_verdict_with_failed_rows_gives_the_range():
    assert "(.690 to .730 as 3 failed)" in said(summary(n_failed=3, worst=0.69, best=0.73))


def test_a_verdict_without_a_value_says_so():
    empty = Summary(system="bm25", measure="Recall@5", n=0, n_undefined=12, n_failed=0)
    assert said(empty) == "bm25: Recall@5 has no value (12 undefined, 0 failed)."


@pytest.mark.parametrize(
    ("mean", "words"), [(0, "none of"), (0.04, "hardly any of"), (0.97, "nearly all of"), (1, "all of")]
)
def test_the_ends_are_put_in_words(mean, words):
    assert f"finds {words} the relevant units" in said(summary(mean))


def test_the_leader_is_named_with_its_interval_and_its_rivals():
    row = [
        Summary(system=s, measure="Recall@5", n=9, n_undefined=0, n_failed=0, mean=m, low=m - 0.1, high=m + 0.1)
        for s, m in (("a", 0.5), ("b", 0.6))
    ]
    head = parse("Recall@5")
    close = leader(head, row, BestSystems(frozenset("b"), frozenset("a")))
    assert close == "highest Recall@5: b, .60 [.50, .70]; its interval overlaps that of a."
    apart = [replace(row[0], high=0.45), row[1]]
    assert leader(head, apart, BestSystems(frozenset("b"))).endswith("; no other interval overlaps.")
    assert leader(head, row, BestSystems(frozenset("ab"))).endswith("; all systems tie.")
    assert leader(head, row, BestSystems(frozenset())) is None
