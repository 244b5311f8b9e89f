"""Laws of every registered ranking measure, plug-ins included, from what it declares of itself."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.language import parse
from karat.core.measure import MEASURES, Measure, measure
from karat.core.run import Run
from karat.core.scores import Status
from karat.core.types import Gold, Question, TestSet
from karat.match import JudgingSettings, judge
from karat.measures.compute import compute

CUTS = (1, 2, 3, 5, 10)
COLLECTION = 1000
SYSTEMS = ("s1", "s2")
TOLERANCE = 1e-12


@dataclass(frozen=True)
class World:
    """Gold `{question: {unit: grade}}` and what each system returned, `{question: [units of a slot, ...]}`.

    `scores` of a system rank its hits instead of their order, ties and all.
    """

    gold: dict
    ranked: dict
    scores: dict | None = None


def judged_of(world, repeats="once"):
    """Units are pages, so that a slot can hold several."""
    testset = TestSet(
        [
            Question(q, gold=tuple(Gold(page=str(u), grade=grade) for u, grade in units.items()))
            for q, units in world.gold.items()
        ]
    )
    runs = []
    for name, lists in world.ranked.items():
        ids = [f"{q}-{i}" for q, slots in lists.items() for i in range(len(slots))]
        offsets = np.cumsum([0, *map(len, lists.values())])
        pages = {"page": [[str(u) for u in units] for slots in lists.values() for units in slots]}
        if world.scores is None:
            run = Run(name, question_ids=list(lists), offsets=offsets, _docs=ids, fields=pages)
        else:
            scores = np.array([s for q in lists for s in world.scores[name][q]], float)
            run = Run(
                name, question_ids=list(lists), offsets=offsets, _docs=ids, _scores=scores, order="score", fields=pages
            )
        runs.append(run)
    return judge(testset, runs, "page", JudgingSettings(repeats=repeats, collection=COLLECTION))


def ranking_measures(variants=True):
    """Every registered ranking measure, uncut and at each cut, in each declared variant, and at rel=2 and condensed."""
    found = {}
    for spec in (s for s in MEASURES if s.stage == "retrieval"):
        cuts = [] if spec.cut == "none" else list(CUTS)
        uncut = [] if spec.cut == "required" else [None]
        made = [Measure(spec, k) for k in (*uncut, *cuts)]
        if variants:
            made += [parse(v) for v in spec.variants]
            made += [Measure(spec, m.k, given=given) for m in made for given in ((("rel", 2),), (("condensed", True),))]
        found.update((m.name, m) for m in made)
    return list(found.values())


def scores_of(world, measures, repeats="once"):
    judged = judged_of(world, repeats)
    return compute(measures, judged.systems, judged.questions, judged=judged)


def units(low=1, high=3):
    return st.lists(st.integers(1, 9), min_size=low, max_size=high, unique=True)


@st.composite
def worlds(draw, several=True, min_questions=1):
    """Several or one unit a slot, grades 0-3, repeated units, ragged and missing lists, ties of scores."""
    gold = draw(
        st.dictionaries(
            st.sampled_from("abcde"),
            st.one_of(st.just({}), st.dictionaries(st.integers(1, 7), st.integers(0, 3), min_size=2, max_size=6)),
            min_size=min_questions,
            max_size=4,
        )
    )
    slot = units() if several else units(1, 1)
    asked = st.sampled_from([*sorted(gold), "not in the test set"])
    hits = st.one_of(st.lists(slot, max_size=3), st.lists(slot, min_size=4, max_size=9))
    ranked = {s: draw(st.dictionaries(asked, hits, min_size=1, max_size=4)) for s in SYSTEMS}
    scores = None
    if draw(st.booleans()):
        tied = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.5])
        scores = {
            s: {q: draw(st.lists(tied, min_size=len(hits), max_size=len(hits))) for q, hits in lists.items()}
            for s, lists in ranked.items()
        }
    return World(gold, ranked, scores)


def equal(one, other):
    return np.array_equal(one.values, other.values, equal_nan=True) and np.array_equal(one.status, other.status)


def check_bounds(scores):
    for m, one in enumerate(scores.measures):
        low, high = one.bounds
        values = scores.values[:, :, m][scores.status[:, :, m] == Status.ok]
        assert (values >= low - TOLERANCE).all(), f"{one}: {values.min()} is below {low}"
        assert (values <= high + TOLERANCE).all(), f"{one}: {values.max()} is above {high}"


def check_values_and_reasons(scores):
    has_value = np.isfinite(scores.values)
    assert np.array_equal(has_value, scores.status == Status.ok)
    assert not np.isinf(scores.values).any()
    assert {tuple(int(i) for i in at) for at in np.argwhere(~has_value)} == set(scores.reasons)
    assert all(scores.reasons.values())


def check_perfect(world, measures, repeats="once"):
    """For one unit a slot only: a slot that holds two gold units beats, at a cut, a list that gives each its own."""
    judged = judged_of(world, repeats)
    for one in (m for m in measures if m.spec.direction == "higher"):
        view = judged.at(rel=one.rel)
        best = compute([one], ["perfect"], judged.questions, judged=view.perfect())
        found = compute([one], judged.systems, judged.questions, judged=judged)
        with np.errstate(invalid="ignore"):
            worse = best.values[0, :, 0] < found.values[:, :, 0] - TOLERANCE
        assert not worse.any(), f"{one}: {found.values[worse]} is better than the perfect {best.values[0, :, 0]}"


def top(world, k, repeats):
    """The world with every list ended where its top k ends; under collapse repeated units take no place."""

    def cut(slots):
        if repeats == "once":
            return slots[:k]
        seen, places = set(), 0
        for i, held in enumerate(slots):
            if not seen.issuperset(held):
                seen.update(held)
                places += 1
            if places == k:
                return slots[: i + 1]
        return slots

    return replace(
        world, ranked={s: {q: cut(slots) for q, slots in lists.items()} for s, lists in world.ranked.items()}
    )


def check_nothing_below(world, measures, repeats="once"):
    """`condensed` and `ideal=retrieved` look at the whole list by definition."""
    for k in CUTS:
        here = [m for m in measures if m.k == k and "condensed" not in m.name and "ideal=retrieved" not in m.name]
        whole, cut = scores_of(world, here, repeats), scores_of(top(world, k, repeats), here, repeats)
        apart = ~np.isclose(whole.values, cut.values, rtol=0, atol=TOLERANCE, equal_nan=True)
        assert not apart.any(), {m.name for i, m in enumerate(here) if apart[:, :, i].any()}
        assert np.array_equal(whole.status, cut.status)


REPEATS = pytest.mark.parametrize("repeats", ["once", "collapse"])


def test_the_laws_see_every_measure_and_the_plugins():
    seen = {m.spec.name for m in ranking_measures()}
    assert {"Precision", "Recall", "nDCG", "MAP", "AQWV", "bpref", "Judged", "Retrieved", "early"} <= seen
    assert len(seen) == sum(spec.stage == "retrieval" for spec in MEASURES)
    assert {"nDCG@3", "Recall(rel=2)@5", "MRR(condensed)", "nDCG(gain=exp)@10", "early@2"} <= {
        m.name for m in ranking_measures()
    }


@REPEATS
@given(world=worlds())
def test_every_value_is_within_its_bounds_or_has_a_reason(repeats, world):
    scores = scores_of(world, ranking_measures(), repeats)
    check_bounds(scores)
    check_values_and_reasons(scores)


@REPEATS
@given(world=worlds(several=False))
def test_no_list_beats_the_perfect_one(repeats, world):
    check_perfect(world, ranking_measures(), repeats)


@REPEATS
@settings(max_examples=2 * settings.default.max_examples)
@given(world=worlds())
def test_nothing_below_k_matters(repeats, world):
    check_nothing_below(replace(world, scores=None), ranking_measures(), repeats)


@REPEATS
@given(world=worlds(), random=st.randoms(use_true_random=False))
def test_the_order_of_the_gold_changes_nothing(repeats, world, random):
    shuffled = {q: dict(random.sample(list(units.items()), len(units))) for q, units in world.gold.items()}
    measures = ranking_measures()
    assert equal(scores_of(world, measures, repeats), scores_of(replace(world, gold=shuffled), measures, repeats))


@given(world=worlds(min_questions=2), random=st.randoms(use_true_random=False))
def test_the_order_of_questions_and_systems_changes_only_their_order(world, random):
    questions, systems = list(world.gold), list(world.ranked)
    shuffled = random.sample(questions, len(questions))
    other = World(
        {q: world.gold[q] for q in shuffled},
        {s: dict(reversed(world.ranked[s].items())) for s in reversed(systems)},
        world.scores,
    )
    measures = ranking_measures()
    one, two = scores_of(world, measures), scores_of(other, measures)
    at = [shuffled.index(q) for q in questions]
    assert np.array_equal(one.values, two.values[::-1][:, at], equal_nan=True)
    assert np.array_equal(one.status, two.status[::-1][:, at])


@pytest.mark.parametrize("repeats", ["once", "collapse", "count"])
@given(world=worlds(min_questions=2))
def test_a_further_question_or_system_does_not_change_the_values_of_others(repeats, world):
    measures = ranking_measures()
    whole = scores_of(world, measures, repeats)
    fewer = scores_of(replace(world, gold=dict(list(world.gold.items())[:-1])), measures, repeats)
    assert np.array_equal(whole.values[:, :-1], fewer.values, equal_nan=True)
    alone = scores_of(replace(world, ranked={"s1": world.ranked["s1"]}), measures, repeats)
    assert np.array_equal(whole.values[:1], alone.values, equal_nan=True)


@REPEATS
@given(world=worlds())
def test_hit_and_recall_do_not_fall_as_k_grows(repeats, world):
    for name in ("Hit", "Recall"):
        scores = scores_of(world, [parse(f"{name}@{k}") for k in range(1, 12)] + [parse(name)], repeats)
        steps = np.diff(scores.values, axis=2)
        assert (steps[~np.isnan(steps)] >= 0).all()


@given(world=worlds())
def test_a_question_without_an_answer_scores_as_an_empty_list_does(world):
    lists = {s: {**dict.fromkeys(world.gold, ()), **lists} for s, lists in world.ranked.items()}
    filled = World(
        world.gold, lists, world.scores and {s: {**dict.fromkeys(lists[s], ()), **world.scores[s]} for s in lists}
    )
    measures = ranking_measures()
    assert equal(scores_of(world, measures), scores_of(filled, measures))


@REPEATS
@given(world=worlds())
def test_nothing_found_of_some_gold_is_zero_for_measures_on_0_to_1(repeats, world):
    blind = {s: {q: [[99]] * len(slots) for q, slots in lists.items()} for s, lists in world.ranked.items()}
    measures = [m for m in ranking_measures() if m.bounds == (0.0, 1.0) and m.spec.direction == "higher"]
    scores = scores_of(replace(world, ranked=blind), measures, repeats)
    assert (scores.values[scores.status == Status.ok] == 0).all()


@given(world=worlds())
def test_twice_the_same_bytes(world):
    measures = ranking_measures()
    one, two = scores_of(world, measures), scores_of(world, measures)
    assert one.values.tobytes() == two.values.tobytes()
    assert one.status.tobytes() == two.status.tobytes()
    assert one.reasons == two.reasons


@pytest.mark.parametrize("repeats", ["once", "collapse", "count"])
@given(world=worlds(several=False))
def test_with_one_unit_a_slot_the_two_ways_of_the_ideal_agree(repeats, world):
    """A two-unit slot of another question switches nDCG to its general way, which must give the same values."""
    measures = [m for m in ranking_measures() if m.spec.name == "nDCG"]
    lists = {s: {**lists, "z": [[1, 2]]} for s, lists in world.ranked.items()}
    scores = world.scores and {s: {**world.scores[s], "z": [1.0]} for s in world.scores}
    wider = World({**world.gold, "z": {1: 1, 2: 1}}, lists, scores)
    narrow, wide = scores_of(world, measures, repeats), scores_of(wider, measures, repeats)
    assert np.allclose(narrow.values, wide.values[:, :-1], rtol=0, atol=TOLERANCE, equal_nan=True)


WORLD = World({"a": {1: 1, 2: 2, 3: 0}}, {"s1": {"a": [[1], [9], [2]]}, "s2": {"a": [[8], [9], [7]]}})


def lying(function, **declared):
    measure(name="lying", **declared)(function)
    return Measure(function.__karat_measure__, 2)


def test_the_laws_catch_a_measure_that_breaks_them():
    """Each law, given a measure that lies about itself, must fail."""
    beyond = lying(lambda judged, k=None: judged.found_within(k) + 1)
    with pytest.raises(AssertionError, match="above"):
        check_bounds(scores_of(WORLD, [beyond]))
    upside_down = lying(lambda judged, k=None: 1 - judged.found_within(k) / judged.relevant)
    with pytest.raises(AssertionError, match="better than the perfect"):
        check_perfect(WORLD, [upside_down])
    deep = lying(lambda judged, k=None: judged.found_within() / judged.relevant)
    with pytest.raises(AssertionError, match="lying"):
        check_nothing_below(WORLD, [deep])
    no_progress = scores_of(WORLD, [parse("MRR")])
    with pytest.raises(AssertionError):
        check_values_and_reasons(replace(no_progress, values=np.full_like(no_progress.values, np.nan)))
