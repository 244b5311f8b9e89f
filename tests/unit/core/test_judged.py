"""Judged by hand: views, the perfect list, the ideal, token budgets."""

import math

import numpy as np
import pytest

from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.match import JudgingSettings, judge


def paged(gold, ranked, repeats="once", **settings):
    """`gold` {question: {page: grade}}, `ranked` {question: [pages of a slot, ...]} of one system."""
    testset = TestSet(
        [Question(q, gold=tuple(Gold(page=p, grade=g) for p, g in row.items())) for q, row in gold.items()]
    )
    run = Run.from_lists("s", {q: [f"c{i}" for i in range(len(slots))] for q, slots in ranked.items()})
    run.fields["page"] = [list(pages) for slots in ranked.values() for pages in slots]
    return judge(testset, [run], "page", JudgingSettings(repeats=repeats, **settings))


def test_slots_units_and_ranks():
    judged = paged({"q": {"1": 1, "2": 3, "3": 0}}, {"q": [["9"], ["1", "2"], ["2"], ["3"]]})
    assert judged.hits.rank.tolist() == [2]
    assert judged.hits.gain.tolist() == [3]
    assert judged.hits.units.tolist() == [2]
    assert judged.found_within(1).tolist() == [0]
    assert judged.found_within(2).tolist() == [2]
    assert (judged.relevant.tolist(), judged.judged_not_relevant.tolist()) == ([2], [1])
    assert (judged.slots.tolist(), judged.distinct.tolist()) == ([4], [4])
    assert not judged.one_unit_a_slot


def test_a_view_at_a_higher_bar_is_made_once():
    judged = paged({"q": {"1": 1, "2": 2}}, {"q": [["1"], ["2"]]})
    assert judged.at() is judged
    assert judged.at(rel=2) is judged.at(rel=2)
    assert judged.at(rel=2).hits.rank.tolist() == [2]
    assert judged.at(rel=2).relevant.tolist() == [1]


def test_condensed_closes_the_gaps_of_unjudged_hits():
    judged = paged({"q": {"1": 1, "2": 0}}, {"q": [["9"], ["2"], ["8"], ["1"]]})
    condensed = judged.at(condensed=True)
    assert condensed.hits.rank.tolist() == [2]
    assert condensed.slots.tolist() == [2]
    with pytest.raises(UsageError, match="unjudged hits are removed"):
        condensed.within_tokens(10)


def test_the_perfect_list_holds_relevant_units_only_best_first():
    judged = paged({"a": {"1": 0, "2": 1, "3": 3}, "b": {}}, {"a": [["1"]]})
    perfect = judged.perfect()
    assert perfect.hits.gain.tolist() == [3, 1]
    assert perfect.slots.tolist() == [2, 0]
    with np.errstate(invalid="ignore"):
        for name in ("Precision", "F1", "nDCG", "AQWV(fa=retrieved)", "bpref"):
            assert parse(name).of(perfect)[0] == 1
    assert judged.at(rel=2).perfect().slots.tolist() == [1, 0]


def test_a_slot_of_two_units_below_the_cut_does_not_shrink_the_ideal():
    judged = paged({"q": {"1": 1, "2": 1, "3": 1}}, {"q": [["1"], ["8"], ["9"], ["2", "3"]]})
    assert parse("nDCG@3").of(judged)[0] == pytest.approx(1 / (1 + 1 / math.log2(3) + 1 / 2))
    # uncut, pages 2 and 3 share a slot: the ideal has two entries
    assert parse("nDCG").of(judged)[0] == pytest.approx((1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))


def test_counted_repeats_never_enter_the_ideal():
    """Page 8 three times is 2.131 under count, whether or not another question has a slot of two units."""
    lists = {"a": [["8"], ["8"], ["8"]], "b": [["1", "2"]]}
    alone = paged({"a": {"8": 1}}, {"a": lists["a"]}, "count")
    beside = paged({"a": {"8": 1}, "b": {"1": 1, "2": 1}}, lists, "count")
    expected = 1 + 1 / math.log2(3) + 1 / 2
    assert parse("nDCG@3").of(alone)[0] == pytest.approx(expected)
    assert parse("nDCG@3").of(beside).tolist() == pytest.approx([expected, 1])


def test_a_token_budget_counts_whole_slots_of_each_question():
    testset = TestSet(qrels={"a": {"x": 1}, "b": {"y": 1}})
    run = Run.from_lists("s", {"a": ["w", "x"], "b": ["y", "z", "v"]})
    run.fields["tokens"] = [30, 30, 10, 10, 100]
    judged = judge(testset, [run], "exact", JudgingSettings(tokens=True))
    assert judged.within_tokens(59).tolist() == [1, 2]
    assert judged.within_tokens(60).tolist() == [2, 2]
    assert judged.within_tokens(5).tolist() == [0, 0]
    assert judged.within_tokens(1000).tolist() == [2, 3]


def test_a_token_budget_without_sizes_says_what_is_missing():
    judged = judge(TestSet(qrels={"a": {"x": 1}}), [Run.from_lists("s", {"a": ["x"]})])
    with pytest.raises(UsageError, match="a cut of 800 tokens needs the size of each hit"):
        judged.within_tokens(800)


def test_a_budget_of_tokens_restarts_at_each_system():
    testset = TestSet(qrels={"a": {"x": 1}})
    runs = []
    for name, sizes in (("s", [5, 5]), ("t", [7, 1])):
        run = Run.from_lists(name, {"a": ["w", "x"]})
        run.fields["tokens"] = sizes
        runs.append(run)
    judged = judge(testset, runs, "exact", JudgingSettings(tokens=True))
    assert judged.within_tokens(8).tolist() == [1, 2]
    assert parse("Recall@8t").of(judged).tolist() == [0, 1]
