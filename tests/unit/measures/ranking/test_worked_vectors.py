"""Every worked vector of the measures' specification, and the edge cases beside them."""

import math

import numpy as np
import pytest

from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.match import JudgingSettings, judge


def judged_of(ranked, gold, repeats="once", matcher="exact", fields=None, grades=None, **settings):
    """One question 'q' with one ranked list."""
    golds = tuple(Gold(id=g, grade=(grades or {}).get(g, 1)) for g in gold)
    run = Run.from_lists("s", {"q": ranked})
    run.fields.update(fields or {})
    return judge(TestSet([Question("q", gold=golds)]), [run], matcher, JudgingSettings(repeats=repeats, **settings))


def value(measure, *args, **kwargs):
    with np.errstate(all="ignore"):
        return float(parse(measure).of(judged_of(*args, **kwargs))[0])


AABCX, ACD = list("AABCX"), list("ACD")


@pytest.mark.parametrize(
    ("repeats", "measure", "expected"),
    [
        ("once", "P@5", 0.4),
        ("once", "R@5", 2 / 3),
        ("once", "F1@5", 0.5),
        ("once", "MRR", 1),
        ("once", "nDCG@5", 0.6714),
        ("collapse", "P@5", 0.4),
        ("collapse", "R@5", 2 / 3),
        ("collapse", "nDCG@5", 0.7039),
        ("count", "P@5", 0.6),
        ("count", "nDCG@5", 0.9675),
        ("count", "R@5", 2 / 3),
        ("count", "F1@5", 0.6316),
    ],
)
def test_repeats(repeats, measure, expected):
    assert value(measure, AABCX, ACD, repeats) == pytest.approx(expected, abs=5e-5)


HEALTH = ["34", "78", "35", "102", "45"]


@pytest.mark.parametrize(
    ("gold", "measure", "expected"),
    [
        (["34", "35"], "P@5", 0.4),
        (["34", "35"], "R@5", 1),
        (["34", "35"], "F1@5", 0.5714),
        (["34", "35"], "MRR", 1),
        (["34", "35"], "Hit@5", 1),
        (["34", "35"], "nDCG@5", 0.9197),
        (["34", "35", "89"], "R@5", 0.6667),
        (["34", "35", "89"], "F1@5", 0.5),
    ],
)
def test_pages_of_the_healthcare_document(gold, measure, expected):
    assert value(measure, HEALTH, gold) == pytest.approx(expected, abs=5e-5)


def test_ideal_over_the_retrieved_hides_the_miss():
    assert value("nDCG@10", ["D"], ["D", "E"]) == pytest.approx(0.6131, abs=5e-5)
    assert value("nDCG(ideal=retrieved)@10", ["D"], ["D", "E"]) == 1


def test_one_page_three_times():
    assert value("nDCG@3", ["8", "8", "8"], ["8"]) == 1
    assert value("nDCG@3", ["8", "8", "8"], ["8"], "count") == pytest.approx(2.131, abs=5e-4)


@pytest.mark.parametrize("measure", ["P@1", "R@1", "nDCG@1", "MAP", "F1@1", "Rprec"])
def test_one_chunk_that_holds_two_pages(measure):
    run = Run.from_lists("s", {"q": ["c1"]})
    run.fields["page"] = ["34-35"]
    testset = TestSet([Question("q", gold=(Gold(page="34"), Gold(page="35")))])
    judged = judge(testset, [run], "page")
    assert parse(measure).of(judged)[0] == 1


def test_two_pages_a_slot_among_others_stays_textbook_bounded():
    run = Run.from_lists("s", {"q": ["x", "c", "d"]})
    run.fields["page"] = ["1", "34-35", "89"]
    testset = TestSet(
        [Question("q", gold=(Gold(page="34"), Gold(page="35", grade=2), Gold(page="89"), Gold(page="90")))]
    )
    judged = judge(testset, [run], "page")
    # slots: rank 2 credits 34 and 35 (gain 2), rank 3 credits 89; the ideal has gains 2, 1 (89) and 1 (90)
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert parse("nDCG").of(judged)[0] == pytest.approx((2 / math.log2(3) + 1 / 2) / ideal)
    # precision at rank 2 is 1/2 for two units, at rank 3 it is 2/3 for one
    assert parse("MAP").of(judged)[0] == pytest.approx((2 * 1 / 2 + 2 / 3) / 4)
    assert parse("Recall").of(judged)[0] == 0.75


def test_reciprocal_ranks():
    ranked = {"a": ["g"], "b": ["x", "y", "g"], "c": ["x", "g"], "d": ["x"]}
    judged = judge(TestSet(qrels={q: {"g": 1} for q in ranked}), [Run.from_lists("s", ranked)])
    assert parse("MRR").of(judged).mean() == pytest.approx(0.4583, abs=5e-5)


def test_average_precision_divides_by_all_gold():
    assert value("MAP", ["a", "x", "y"], ["a", "b", "c"]) == pytest.approx(1 / 3)


def test_ideal_is_cut_at_k():
    assert value("nDCG@3", ["a", "b", "c"], list("abcde")) == 1


@pytest.mark.parametrize(
    "measure", ["P@5", "P", "R@5", "F1@5", "F1", "Hit@5", "MRR", "nDCG@5", "nDCG", "MAP", "Rprec", "bpref", "RBP"]
)
def test_an_empty_ranking_scores_zero(measure):
    assert value(measure, [], ["a"]) == 0


def test_precision_without_a_cut_counts_distinct_units():
    assert value("Precision", ["A", "A", "B", "C"], ["A", "Z"]) == pytest.approx(1 / 3)
    assert value("F1", ["A", "A", "B", "C"], ["A", "Z"]) == pytest.approx(2 * (1 / 3) * 0.5 / (1 / 3 + 0.5))


def test_counts():
    assert value("Retrieved", AABCX, ACD) == 4
    assert value("Gold", AABCX, ACD) == 3
    assert value("Correct", AABCX, ACD) == 2
    assert value("AnyGold", AABCX, ACD) == 1
    assert value("AllGold", AABCX, ACD) == 0
    assert value("AllGold", ["D", "C", "A"], ACD) == 1


def test_gains():
    grades = {"a": 3, "b": 1}
    best = 7 + 1 / math.log2(3)
    assert value("nDCG(gain=exp)@2", ["b", "a"], ["a", "b"], grades=grades) == pytest.approx(
        (1 + 7 / math.log2(3)) / best
    )
    assert value("nDCG@2", ["b", "a"], ["a", "b"], grades=grades) == pytest.approx(
        (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    )
    assert value("nDCG(gain=binary)@2", ["b", "a"], ["a", "b"], grades=grades) == 1


def test_aqwv():
    # one of two found, two false alarms in three retrieved
    assert value("AQWV(beta=40, n=102)@3", ["a", "x", "y"], ["a", "b"]) == pytest.approx(1 - 0.5 - 40 * 2 / 100)
    assert value("AQWV(beta=40, fa=retrieved)@3", ["a", "x", "y"], ["a", "b"]) == pytest.approx(1 - 0.5 - 40 * 2 / 3)
    assert value("AQWV(beta=2, fa=retrieved)@10", ["a"], ["a"]) == 1
    with pytest.raises(UsageError, match="number of documents"):
        value("AQWV@3", ["a"], ["a"])
    with pytest.raises(UsageError, match="n=2 is less"):
        value("AQWV(n=2)@3", ["a", "x", "y"], ["a"])


def test_rbp():
    assert value("RBP(p=0.5)", ["a", "x", "b"], ["a", "b"]) == pytest.approx(0.5 * (1 + 0.25))
    with pytest.raises(UsageError, match="not a probability"):
        value("RBP(p=1.5)", ["a"], ["a"])


def test_rbp_of_grades():
    ranked, gold, grades = ["a", "x", "b"], ["a", "b", "c"], {"a": 1, "b": 2, "c": 3}
    linear = value("RBP(p=0.5, gain=linear, max_rel=3)", ranked, gold, grades=grades)
    assert linear == pytest.approx(0.5 * (1 / 3 + 2 / 3 / 4))
    exp = value("RBP(p=0.5, gain=exp, max_rel=3)", ranked, gold, grades=grades)
    assert exp == pytest.approx(0.5 * (1 / 7 + 3 / 7 / 4))
    at_two = value("RBP(p=0.5, gain=linear, max_rel=2)", ["c", "a"], gold, grades=grades)
    assert at_two == pytest.approx(0.5 * (1 + 0.5 / 2))  # a grade beyond max_rel counts as max_rel
    assert value("RBP(p=0.5)", ranked, gold, grades=grades) == pytest.approx(0.5 * (1 + 0.25))
    for text in ("RBP(gain=linear)", "RBP(gain=exp, max_rel=0)"):
        with pytest.raises(UsageError, match="needs the highest grade of the scale"):
            value(text, ["a"], ["a"])


def test_interpolated_precision_counts_units_and_slots():
    assert value("IPrec@0.5", ["x", "a", "b", "y"], ["a", "b"]) == pytest.approx(2 / 3)
    assert value("IPrec@1", ["a", "x"], ["a", "b"]) == 0
    assert value("IPrec@0", ["a", "x"], ["a", "b"]) == 1
    with pytest.raises(UsageError, match="IPrec needs a recall"):
        value("IPrec", ["a"], ["a"])
    with pytest.raises(UsageError, match="share from 0 to 1"):
        value("IPrec@1.5", ["a"], ["a"])


def test_inferred_precision_tells_pooled_from_unpooled():
    """A unit of negative grade is in the pool and unjudged, so it may be relevant; a hit without a grade is not."""
    grades = {"a": 1, "p": -1, "n": 0}
    pooled, unknown, judged = (value("infAP", [one, "a"], ["a", "p", "n"], grades=grades) for one in ("p", "x", "n"))
    assert (pooled, unknown) == (pytest.approx(0.75), pytest.approx(0.5))
    assert unknown <= judged < pooled


def test_judged_share_divides_short_lists_by_their_length():
    grades = {"a": 1, "b": 0}
    assert value("Judged@10", ["a", "b", "x", "y"], ["a", "b"], grades=grades) == 0.5
    assert value("Judged@2", ["a", "b", "x", "y"], ["a", "b"], grades=grades) == 1
    assert math.isnan(value("Judged@10", [], ["a"]))


def test_a_grade_of_zero_is_not_relevant():
    assert value("Recall@2", ["a", "b"], ["a", "b"], grades={"b": 0}) == 1
    assert value("Precision@2", ["a", "b"], ["a", "b"], grades={"b": 0}) == 0.5


def test_rel_raises_the_bar():
    grades = {"a": 1, "b": 2, "c": 2}
    assert value("Recall(rel=2)@2", ["a", "b"], list("abc"), grades=grades) == 0.5
    assert value("P(rel=2)@2", ["a", "b"], list("abc"), grades=grades) == 0.5


def test_condensed_removes_unjudged_hits():
    grades = {"a": 1, "b": 0}
    assert value("MRR", ["x", "b", "y", "a"], ["a", "b"], grades=grades) == 0.25
    assert value("MRR(condensed)", ["x", "b", "y", "a"], ["a", "b"], grades=grades) == 0.5
    assert value("P(condensed)@2", ["x", "b", "y", "a"], ["a", "b"], grades=grades) == 0.5
    assert value("Precision(condensed)", ["x", "b", "y", "a"], ["a", "b"], grades=grades) == 0.5


def test_token_budget_cuts_where_whole_chunks_fit():
    tokens = {"tokens": [300, 300, 300]}
    assert value("Recall@800t", ["x", "a", "b"], ["a", "b"], fields=tokens, tokens=True) == 0.5
    assert value("Recall@900t", ["x", "a", "b"], ["a", "b"], fields=tokens, tokens=True) == 1
    assert value("Recall@299t", ["a"], ["a"], fields={"tokens": [300]}, tokens=True) == 0
    assert value("P@800t", ["x", "a", "b"], ["a", "b"], fields=tokens, tokens=True) == 0.5
    assert value("nDCG@800t", ["a", "x", "b"], ["a"], fields=tokens, tokens=True) == 1
    assert value("Recall@5t", ["a"], ["a"], fields={"text": ["five words are in here"]}, tokens=True) == 1
    with pytest.raises(UsageError, match="needs the size of each hit"):
        value("Recall@800t", ["a"], ["a"], tokens=True)


def test_bpref_ignores_unjudged_hits():
    grades = {"a": 1, "b": 1, "n": 0, "m": 0}
    # a above all, b below one of two judged non-relevant: 1 - 1/2
    assert value("bpref", ["a", "x", "n", "b"], list("abnm"), grades=grades) == pytest.approx((1 + 0.5) / 2)
