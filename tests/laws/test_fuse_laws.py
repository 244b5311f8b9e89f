"""What holds of every fusion, whatever the legs."""

import itertools
import sys
import types
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core import registry
from karat.core.ranked import Ranked
from karat.core.registry import key_of
from karat.fuse import FUSIONS, Contributions, Fusion
from karat.fuse.rrf import fuse_phrasings

MODULE = "fusions_of_another_package"
BUILT_IN = ("combmnz", "combsum", "isr", "rrf", "weighted")
NAMES = (*BUILT_IN, "borda")


def borda(legs, *, depth: int = 100):
    table = np.where(legs.rank > 0, np.maximum(depth + 1 - legs.rank, 0), 0).astype(float)
    return Contributions(table, table)


@pytest.fixture(scope="module", autouse=True)
def plugin():
    """The registry as it stands where another package adds a fusion."""
    module = types.ModuleType(MODULE)
    module.fusion = Fusion("borda", "places below a hit", borda)
    entries = [EntryPoint("borda", f"{MODULE}:fusion", "karat.fusions")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, MODULE, module)
        patch.setattr(registry, "entry_points", lambda group: entries if group == "karat.fusions" else [])
        patch.setattr(FUSIONS, "_plugins", None)
        patch.setattr(FUSIONS, "_loaded", dict(FUSIONS._loaded))
        yield


scores = st.one_of(
    st.floats(-1, 1),
    st.floats(-1e30, 1e30),
    st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.0 + 2**-23, 1.0 + 1e-12, -3.0, 1e-40]),
)
one_list = st.dictionaries(st.integers(0, 9), scores, max_size=8)


@st.composite
def legs_of(draw, least=1, most=4):
    queries = draw(st.integers(1, 3))
    return [
        made(draw(st.lists(one_list, min_size=queries, max_size=queries)))
        for _ in range(draw(st.integers(least, most)))
    ]


def made(lists):
    query = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    rows = np.array([row for one in lists for row in one], np.int64)
    return Ranked.ordered(len(lists), query, rows, np.array([s for one in lists for s in one.values()], float))


def same(left, right):
    np.testing.assert_array_equal(left.offsets, right.offsets)
    np.testing.assert_array_equal(left.rows, right.rows)
    np.testing.assert_array_equal(left.scores, right.scores)


def test_the_laws_cover_every_fusion():
    assert [fusion.name for fusion in FUSIONS] == list(NAMES)
    assert all(key_of(fusion.name) == fusion.name and fusion.summary for fusion in FUSIONS)


@pytest.mark.parametrize("name", NAMES)
@given(legs=legs_of())
def test_every_row_that_a_leg_found_stands_once_in_the_order_of_ranked(name, legs):
    fused = FUSIONS.get(name).fuse(legs)
    assert np.isfinite(fused.scores).all()
    for i, (rows, _) in enumerate(fused):
        assert sorted(rows.tolist()) == sorted({row for leg in legs for row in leg.of(i)[0].tolist()})
    same(fused, Ranked.ordered(len(fused), fused.query, fused.rows, fused.scores))


@pytest.mark.parametrize("name", NAMES)
@given(legs=legs_of(least=2))
def test_the_order_of_the_legs_changes_nothing(name, legs):
    fusion = FUSIONS.get(name)
    fused = fusion.fuse(legs)
    for others in itertools.permutations(legs):
        same(fusion.fuse(others), fused)


@pytest.mark.parametrize("name", ["weighted", "rrf"])
@given(legs=legs_of(least=3, most=3), weights=st.permutations([0.1, 0.2, 0.7]))
def test_weights_go_with_their_legs(name, legs, weights):
    fusion = FUSIONS.get(name)
    fused = fusion.fuse(legs, weights=weights)
    for order in itertools.permutations(range(3)):
        same(fusion.fuse([legs[i] for i in order], weights=[weights[i] for i in order]), fused)


@pytest.mark.parametrize("normalise", ["max", "minmax", "zscore", "none"])
@given(legs=legs_of(least=2), data=st.data())
def test_where_one_leg_has_a_weight_the_result_equals_it(normalise, legs, data):
    """At alpha 1 the dense leg, at alpha 0 the sparse one: rows, order and scores."""
    chosen = data.draw(st.integers(0, len(legs) - 1))
    weights = [float(i == chosen) for i in range(len(legs))]
    same(FUSIONS.get("weighted").fuse(legs, weights=weights, normalise=normalise), legs[chosen])


@pytest.mark.parametrize("name", ["weighted", "rrf"])
@given(legs=legs_of(least=3, most=3))
def test_a_leg_of_weight_0_might_as_well_not_be_there(name, legs):
    fusion = FUSIONS.get(name)
    same(fusion.fuse(legs, weights=(0.25, 0, 0.75)), fusion.fuse([legs[0], legs[2]], weights=(0.25, 0.75)))


@pytest.mark.parametrize("name", NAMES)
@given(legs=legs_of())
def test_parts_are_the_same_arithmetic(name, legs):
    fusion = FUSIONS.get(name)
    parts = fusion.parts(legs)
    same(parts.ranked, fusion.fuse(legs))
    np.testing.assert_array_equal(np.sort(parts.contribution, axis=0).sum(axis=0), parts.ranked.scores)
    for leg, rank, score in zip(legs, parts.rank, parts.score, strict=True):
        query = parts.ranked.query
        for q, row, its_rank, its_score in zip(query, parts.ranked.rows, rank, score, strict=True):
            rows, own = leg.of(int(q))
            place = np.flatnonzero(rows == row)
            assert its_rank == (place[0] + 1 if len(place) else 0)
            assert its_score == own[place[0]] if len(place) else np.isnan(its_score)


@pytest.mark.parametrize("name", BUILT_IN)
@given(legs=legs_of())
def test_what_every_leg_ranks_lower_is_not_fused_higher(name, legs):
    """Of two rows that all legs found: where every leg has the first above, its score is not below."""
    fused = FUSIONS.get(name).fuse(legs)
    for i, (rows, values) in enumerate(fused):
        ranks = [{row: r for r, row in enumerate(leg.of(i)[0].tolist())} for leg in legs]
        shared = [row for row in rows.tolist() if all(row in one for one in ranks)]
        score = dict(zip(rows.tolist(), values.astype(np.float32).tolist(), strict=True))
        for a, b in itertools.permutations(shared, 2):
            if all(one[a] < one[b] for one in ranks):
                assert score[a] >= score[b]


@pytest.mark.parametrize("normalise", ["minmax", "zscore"])
@given(legs=legs_of(least=2), shift=st.sampled_from([-4.0, 8.0]), scale=st.sampled_from([0.5, 4.0]))
def test_a_scale_of_its_own_changes_nothing_once_normalised(normalise, legs, shift, scale):
    small = [Ranked(leg.offsets, leg.rows, np.round(np.clip(leg.scores, -8, 8) * 4) / 4) for leg in legs]
    small = [Ranked.ordered(len(leg), leg.query, leg.rows, leg.scores) for leg in small]
    moved = [Ranked(leg.offsets, leg.rows, leg.scores * scale + shift) for leg in small]
    weights = np.arange(1, len(legs) + 1) / 8
    weighted = FUSIONS.get("weighted")
    plain, other = (weighted.fuse(some, weights=weights, normalise=normalise) for some in (small, moved))
    if normalise == "minmax":
        same(plain, other)
    else:
        by_row = [np.lexsort((one.rows, one.query)) for one in (plain, other)]
        np.testing.assert_allclose(plain.scores[by_row[0]], other.scores[by_row[1]], atol=1e-9)


@given(legs=legs_of(), seed=st.integers(0, 5))
def test_phrasings_of_one_number_are_legs_of_rrf(legs, seed):
    """Each leg one phrasing of every question, laid after one another in any order."""
    queries = len(legs[0])
    owner = np.tile(np.arange(queries), len(legs))
    query = np.concatenate([leg.query + n * queries for n, leg in enumerate(legs)])
    rows, values = (np.concatenate([getattr(leg, part) for leg in legs]) for part in ("rows", "scores"))
    together = Ranked.ordered(len(owner), query, rows, values)
    order = np.random.default_rng(seed).permutation(len(owner))
    same(fuse_phrasings(together.take(order), owner[order], queries), FUSIONS.get("rrf").fuse(legs))
