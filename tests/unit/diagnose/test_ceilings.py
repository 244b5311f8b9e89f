"""The highest scores any ranking could reach, against every ranking there is."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.docs import Chunk, Chunks
from karat.core.language import parse_all
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.ceilings import ceilings
from karat.match import judge, resolve
from karat.measures.compute import compute

CUTS = (1, 2, 3, 5)
NAMES = [f"{m}@{k}" for m in ("Precision", "Recall", "F1", "nDCG") for k in CUTS]


def resolved(grades, held):
    """Pages 1, 2, ... of one file with these grades; chunks that stand on the given pages."""
    gold = tuple(Gold(page=str(p), grade=g) for p, g in enumerate(grades, 1))
    chunks = Chunks.ordered([Chunk(f"c{i}", "a.pdf", "x", pages=tuple(sorted(p))) for i, p in enumerate(held)])
    return resolve(TestSet([Question("q", gold=gold)]), chunks, by="page")


def best(grades, held, cuts=CUTS):
    return {f"{c.measure}@{c.k}": c for c in ceilings(resolved(grades, held), cuts)}


def by_trying(grades, held):
    """The highest value of each measure over all rankings of all chunks."""
    found = resolved(grades, held)
    orders = list(permutations(found.chunks.ids))
    runs = [Run.from_lists(str(i), {"q": list(order)}) for i, order in enumerate(orders)]
    judged = judge(found.testset, runs, found)
    scores = compute(parse_all(NAMES), [r.name for r in runs], ["q"], judged=judged)
    return dict(zip(NAMES, scores.values[:, 0, :].max(axis=0).tolist(), strict=True))


@settings(max_examples=2 * settings.default.max_examples)
@given(
    grades=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    held=st.lists(st.sets(st.integers(1, 6), max_size=3), min_size=1, max_size=5),
)
def test_no_ranking_passes_a_ceiling_and_an_exact_one_is_reached(grades, held):
    tried, said = by_trying(grades, held), best(grades, held)
    for name in NAMES:
        assert said[name].value >= tried[name] - 1e-12, name
        if said[name].exact:
            assert said[name].value == pytest.approx(tried[name], abs=1e-12), name
    assert all(c.exact for c in said.values())


@given(
    units=st.integers(1, 5),
    held=st.lists(st.sets(st.integers(1, 6), max_size=4), min_size=1, max_size=5),
)
def test_without_grades_every_ceiling_is_exact(units, held):
    assert all(c.exact for c in best([1] * units, held).values())


def test_one_gold_page_in_one_chunk():
    said = best([1], [{1}, {2}])
    assert [said[f"Precision@{k}"].value for k in CUTS] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 5])
    assert said["F1@5"].value == pytest.approx(1 / 3)
    assert said["Recall@1"].value == said["nDCG@5"].value == 1


def test_a_unit_that_nobody_holds_can_never_be_found():
    said = best([1, 1], [{1}])
    assert said["Recall@5"].value == 0.5
    assert said["nDCG@5"].value == pytest.approx(1 / (1 + 0.6309297535714575))


def test_two_units_in_one_chunk_fill_one_slot():
    said = best([1, 1], [{1, 2}])
    assert said["Precision@2"].value == 0.5
    assert said["Recall@1"].value == said["nDCG@5"].value == 1


def test_a_chunk_of_both_and_one_of_each():
    """Two slots credit, whichever way; the second of three chunks that hold each other's units does not."""
    assert best([1, 1], [{1, 2}, {1}])["Precision@2"].value == 1
    assert best([1, 1, 1], [{1, 2}, {2, 3}, {1, 3}])["Precision@3"].value == pytest.approx(2 / 3)


def test_means_run_over_questions_with_relevant_gold_alone():
    chunks = Chunks.ordered([Chunk("a", "d", "x"), Chunk("b", "d", "y")])
    questions = [
        Question("q1", gold=(Gold(id="a"), Gold(id="b", grade=0))),
        Question("q2", gold=(Gold(id="gone"), Gold(id="b"))),
        Question("q3"),
        Question("q4", gold=(Gold(id="a", grade=0),)),
    ]
    said = {(c.measure, c.k): c.value for c in ceilings(resolve(TestSet(questions), chunks), (1,))}
    assert said["Recall", 1] == pytest.approx((1 + 0.5) / 2)
    assert ceilings(resolve(TestSet(questions[2:]), chunks)) == ()


def test_the_order_in_which_chunks_credit_is_part_of_the_ceiling():
    """Grades 2, 3, 2; the first unit nobody holds. The chunk of both brings 3 and leaves nothing to the other."""
    said = best([2, 3, 2], [{2, 3}, {3}])
    assert said["nDCG@2"].value == pytest.approx((2 + 3 * 0.6309297535714575) / (3 + 2 * 0.6309297535714575))


def test_too_many_ways_give_a_bound_that_says_so():
    held = [{i, i % 40 + 1, (i * 7) % 40 + 1} for i in range(1, 41)]
    said = best([1, 2] * 20, held)
    assert not said["nDCG@5"].exact
    assert said["Recall@5"].value == 15 / 40
    assert said["Precision@5"].value == 1


def test_many_units_one_a_chunk_are_exact():
    said = best([1, 2, 3] * 100, [{i} for i in range(1, 301)], (10,))
    assert all(c.exact for c in said.values())
    assert said["Recall@10"].value == pytest.approx(10 / 300)
    assert said["nDCG@10"].value == 1
