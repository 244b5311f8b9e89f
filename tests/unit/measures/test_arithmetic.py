import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core.language import parse_all
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.match import MATCHERS, Settings, judge
from karat.measures.arithmetic import arithmetic
from karat.measures.compute import compute

MEASURES = parse_all(
    ["Precision@5", "Recall@5", "F1@5", "Hit@5", "MRR", "nDCG@5", "MAP", "Precision", "Recall", "F1", "nDCG"]
)


def lines(ranked, gold, repeats="once"):
    testset = TestSet([Question("q", gold=tuple(Gold(id=g, grade=n) for g, n in gold.items()))])
    settings = Settings(MATCHERS.get("exact"), repeats=repeats)
    judged = judge(testset, [Run.from_lists("s", {"q": ranked})], settings)
    scores = compute(MEASURES, ["s"], testset.ids, judged=judged)
    return {m.name: arithmetic(m, judged, 0, float(scores.values[0, 0, i])) for i, m in enumerate(MEASURES)}


def test_the_worked_example_of_five_pages():
    assert lines(["34", "78", "35", "102", "45"], {"34": 1, "35": 1}) == {
        "Precision@5": "2 / 5 = .4",
        "Recall@5": "2 / 2 = 1",
        "F1@5": "2 x .4 x 1 / (.4 + 1) = .5714",
        "Hit@5": "2 relevant in the top 5 = 1",
        "MRR": "1 / 1 = 1",
        "nDCG@5": "(1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3)) = 1.5 / 1.6309 = .9197",
        "MAP": "(1/1 + 2/3) / 2 = .8333",
        "Precision": "2 / 5 = .4",
        "Recall": "2 / 2 = 1",
        "F1": "2 x .4 x 1 / (.4 + 1) = .5714",
        "nDCG": "(1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3)) = 1.5 / 1.6309 = .9197",
    }


def test_nothing_found_is_written_as_nothing():
    found = lines(["x"], {"a": 1})
    assert found["MRR"] == "nothing relevant = 0"
    assert found["F1@5"] == "0, since precision and recall are 0 = 0"
    assert found["nDCG@5"] == "0 / (1/log2(2)) = 0"
    assert found["MAP"] == "(0) / 1 = 0"


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=12),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), min_size=1),
)
def test_every_line_agrees_with_the_measure(ranked, gold):
    for repeats in ("once", "collapse"):
        assert all(lines(ranked, gold, repeats).values())


def test_a_line_that_disagrees_is_never_shown():
    judged = judge(
        TestSet([Question("q", gold=(Gold(id="a"),))]),
        [Run.from_lists("s", {"q": ["a"]})],
        Settings(MATCHERS.get("exact")),
    )
    with pytest.raises(AssertionError, match=r"Precision@5 of q: 0.2 != 0.3"):
        arithmetic(MEASURES[0], judged, 0, 0.3)


def test_a_measure_without_a_line_has_none():
    (other,) = parse_all(["RBP(p=.8)"])
    judged = judge(
        TestSet([Question("q", gold=(Gold(id="a"),))]),
        [Run.from_lists("s", {"q": ["a"]})],
        Settings(MATCHERS.get("exact")),
    )
    assert arithmetic(other, judged, 0, 0.2) is None
