"""The sample of questions that are answered: its size, its kinds, its gold, its seed."""

from collections import Counter

import pytest

from karat.core.types import Gold, Question, TestSet
from karat.experiment._limited import answered_ids, gold_of, shares, unasked

KINDS = ("literal", "paraphrase", "scenario")


def made(chunks=30, kinds=KINDS):
    """A test set as `generate` makes it: all questions of a kind in a row, one about each chunk."""
    return TestSet(
        Question(f"{kind}-{n:03d}", "?", gold=(Gold(doc="d", chunk=f"d#{n}", quote=f"{kind} {n}"),), kind=kind)
        for kind in kinds
        for n in range(chunks)
    )


def of(testset, ids):
    by_id = {q.id: q for q in testset}
    return [by_id[qid] for qid in ids]


@pytest.mark.parametrize("seed", range(20))
def test_kinds_get_their_shares_and_no_gold_stands_twice(seed):
    testset = made()
    chosen = answered_ids(testset, 20, seed)
    assert Counter(q.kind for q in of(testset, chosen)) == {"literal": 7, "paraphrase": 7, "scenario": 6}
    assert len({q.gold[0].chunk for q in of(testset, chosen)}) == 20
    assert list(chosen) == sorted(chosen, key=testset.ids.index)


def test_it_is_not_the_first_rows_and_follows_the_seed():
    testset = made()
    drawn = {answered_ids(testset, 20, seed) for seed in range(10)}
    assert len(drawn) == 10
    assert testset.ids[:20] not in drawn
    assert answered_ids(testset, 20, 3) == answered_ids(testset, 20, 3)


def test_the_order_of_the_file_does_not_matter():
    testset = made()
    turned = TestSet(reversed(testset.questions))
    assert set(answered_ids(turned, 20, 1)) == set(answered_ids(testset, 20, 1))


def test_more_questions_than_gold_spread_evenly():
    testset = made(chunks=4)
    chosen = of(testset, answered_ids(testset, 9, 0))
    assert sorted(Counter(q.gold[0].chunk for q in chosen).values()) == [2, 2, 2, 3]


def test_a_rare_kind_chooses_first():
    """Its one question rests on a chunk that the many could take."""
    rare = Question("rare-1", "?", gold=(Gold(chunk="d#0"),), kind="rare")
    testset = TestSet([*made(chunks=10, kinds=("literal",)).questions, rare])
    for seed in range(10):
        chosen = of(testset, answered_ids(testset, 10, seed))
        assert len({q.gold[0].chunk for q in chosen}) == 10
        assert rare in chosen


def test_a_limit_past_the_end_is_none():
    testset = made(chunks=2)
    assert answered_ids(testset, 6) == answered_ids(testset, 100) == testset.ids
    assert unasked(testset, testset.ids) == {}


@pytest.mark.parametrize(
    ("sizes", "limit", "expected"),
    [
        ({"a": 30, "b": 30, "c": 30}, 20, {"a": 7, "b": 7, "c": 6}),
        ({"a": 90, "b": 1}, 10, {"a": 9, "b": 1}),
        ({"a": 5, "b": 5, "c": 5}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 1, "b": 100}, 1, {"a": 0, "b": 1}),
        ({"a": 2, "b": 2}, 3, {"a": 2, "b": 1}),
    ],
)
def test_shares(sizes, limit, expected):
    found = shares(sizes, limit)
    assert sum(found.values()) == limit
    assert all(found[kind] <= size for kind, size in sizes.items())
    assert found == expected


def test_what_a_question_rests_on():
    assert gold_of(Question("q", gold=(Gold(chunk="c", quote="x"), Gold(chunk="c", quote="y")))) == ("c",)
    assert gold_of(Question("q", gold=(Gold(doc="d", page="3"), Gold(doc="d", page="4", grade=0)))) == ("d#page=3",)
    assert gold_of(Question("q", answerable=False)) != gold_of(Question("r", answerable=False))


def test_the_reason():
    testset = made(chunks=1)
    assert unasked(testset, testset.ids[:2]) == {"scenario-000": "not among the 2 questions that were answered"}
    assert set(unasked(testset, testset.ids[:1]).values()) == {"not the question that was answered"}
