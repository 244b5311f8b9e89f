"""Fused scores by hand. Scores are binary fractions, so that float32 keeps them whole."""

import math

import numpy as np
import pytest

from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.fuse import FUSIONS, Legs
from karat.fuse.rrf import fuse_phrasings
from karat.fuse.weighted import alpha_weights

combmnz, combsum, isr, rrf = (FUSIONS.get(name).fuse for name in ("combmnz", "combsum", "isr", "rrf"))


def weighted(legs, weights, **settings):
    return FUSIONS.get("weighted").fuse(legs, weights=weights, **settings)


def ranked(*lists):
    """Each list is {row: score}."""
    hits = [(i, row, score) for i, one in enumerate(lists) for row, score in one.items()]
    query, rows, scores = (np.array(column) for column in zip(*hits, strict=True)) if hits else (np.zeros(0),) * 3
    return Ranked.ordered(len(lists), query.astype(np.int64), rows.astype(np.int64), scores.astype(np.float64))


def listed(fused):
    """What stands in a ranking, in its order."""
    return [list(zip(rows.tolist(), scores.tolist(), strict=True)) for rows, scores in fused]


DENSE = ranked({1: 0.75, 2: 0.5, 3: 0.25})
SPARSE = ranked({2: 12.0, 4: 8.0, 5: 4.0})


def test_weighted_adds_weighted_scores_between_the_least_and_the_greatest_of_each_list():
    # min-max: dense 1, .5, 0; sparse 1, .5, 0; absent 0
    fused = weighted([DENSE, SPARSE], (0.75, 0.25), normalise="minmax")
    assert listed(fused) == [[(1, 0.75), (2, 0.375 + 0.25), (4, 0.125), (5, 0.0), (3, 0.0)]]


def test_weighted_divides_by_the_greatest_of_each_list_unless_told_otherwise():
    # dense 1, 2/3, 1/3; sparse 1, 2/3, 1/3; both lists are as long, so what a leg did not find gets its least, 1/3
    (hits,) = listed(weighted([DENSE, SPARSE], (0.75, 0.25)))
    assert [row for row, _ in hits] == [1, 2, 4, 5, 3]
    assert [score for _, score in hits] == pytest.approx([5 / 6, 0.75, 5 / 12, 1 / 3, 1 / 3], abs=1e-12)


def test_by_the_greatest_a_leg_that_gave_all_it_had_gives_0_to_what_it_did_not_find():
    """The longer list may have been cut: what is missing from it can be as good as its last hit, and no better."""
    few = ranked({2: 12.0, 4: 6.0})
    assert dict(listed(weighted([DENSE, few], (0.5, 0.5)))[0]) == pytest.approx(
        {1: 0.5, 2: 1 / 3 + 0.5, 3: 1 / 6, 4: 1 / 6 + 0.25}, abs=1e-12
    )


def test_by_the_greatest_a_list_with_scores_below_0_spans_0_to_1():
    cosine, robertson = ranked({1: 0.5, 2: -0.5, 3: 0.0}), ranked({3: -1.0, 1: -3.0, 2: -5.0})
    assert dict(listed(weighted([cosine, robertson], (0.5, 0.5)))[0]) == {1: 0.75, 2: 0.0, 3: 0.75}
    same, nothing = ranked({1: -2.0, 2: -2.0}), ranked({3: 0.0, 4: 0.0})
    assert dict(listed(weighted([same, nothing], (0.5, 0.5)))[0]) == dict.fromkeys((1, 2, 3, 4), 0.25)
    assert listed(weighted([ranked({1: 7.0}), ranked({})], (0.5, 0.5))) == [[(1, 0.5)]]


def test_weighted_by_z_scores_gives_what_a_leg_did_not_find_its_lowest():
    # dense: mean .5, deviation sqrt(1/24); sparse: mean 8, deviation sqrt(32/3); both lists become z, 0, -z
    z = math.sqrt(1.5)
    fused = weighted([DENSE, SPARSE], (0.5, 0.5), normalise="zscore")
    (hits,) = listed(fused)
    assert [row for row, _ in hits] == [2, 1, 4, 5, 3]
    assert [score for _, score in hits] == pytest.approx([z / 2, 0.0, -z / 2, -z, -z], abs=1e-12)


def test_weighted_as_they_are_gives_what_a_leg_did_not_find_its_lowest():
    fused = weighted([DENSE, SPARSE], (0.5, 0.5), normalise="none")
    (hits,) = listed(fused)
    assert dict(hits) == {1: 0.375 + 2, 2: 0.25 + 6, 3: 0.125 + 2, 4: 0.125 + 4, 5: 0.125 + 2}
    assert [row for row, _ in hits] == [2, 4, 1, 5, 3]


def test_negative_scores_are_scores():
    """Cosines and robertson's idf go below 0: min-max still spans 0 to 1, and absent is not above the worst."""
    cosine, robertson = ranked({1: 0.5, 2: -0.5}), ranked({3: -1.0, 1: -3.0, 2: -5.0})
    assert dict(listed(weighted([cosine, robertson], (0.5, 0.5), normalise="minmax"))[0]) == {1: 0.75, 2: 0.0, 3: 0.5}
    plain = dict(listed(weighted([cosine, robertson], (0.5, 0.5), normalise="none"))[0])
    assert plain == {1: -1.25, 2: -2.75, 3: -0.75}


def test_a_list_of_equal_scores_becomes_one_half_and_one_hit_is_such_a_list():
    equal, one = ranked({1: 7.0, 2: 7.0}), ranked({1: 3.0})
    assert listed(weighted([equal, one], (0.5, 0.5), normalise="minmax")) == [[(1, 0.5), (2, 0.25)]]
    assert listed(weighted([equal, one], (0.5, 0.5), normalise="zscore")) == [[(2, 0.0), (1, 0.0)]]


def test_scores_that_a_ranking_takes_for_equal_are_not_torn_apart():
    """Compared as float32, the two tie: row 2 stands first, and nothing invents a distance of 1 between them."""
    near = ranked({1: 1.0 + 1e-12, 2: 1.0})
    assert listed(weighted([near, ranked({})], (0.5, 0.5), normalise="minmax")) == [[(2, 0.25), (1, 0.25)]]
    assert listed(weighted([near, ranked({})], (0.5, 0.5))) == [[(2, 0.5), (1, 0.5)]]


@pytest.mark.parametrize("normalise", ["max", "minmax", "zscore", "none"])
@pytest.mark.parametrize("leg", [0, 1])
def test_at_alpha_1_or_0_the_result_is_that_leg(normalise, leg):
    legs = [DENSE, SPARSE]
    fused = weighted(legs, alpha_weights(1 - leg), normalise=normalise)
    assert listed(fused) == listed(legs[leg])


def test_an_empty_list_contributes_nothing():
    full, hole = ranked({1: 4.0, 2: 2.0}, {}), ranked({}, {3: -1.0, 4: -2.0})
    assert listed(weighted([full, hole], (0.5, 0.5), normalise="none")) == [
        [(1, 2.0), (2, 1.0)],
        [(3, -0.5), (4, -1.0)],
    ]
    assert [len(rows) for rows, _ in rrf([ranked({}), ranked({})])] == [0]


def test_without_weights_a_weighted_fusion_weighs_its_legs_the_same():
    assert listed(FUSIONS.get("weighted").fuse([DENSE, SPARSE])) == listed(weighted([DENSE, SPARSE], (0.5, 0.5)))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ((-0.5, 1.5), "weights -0.5, 1.5. Give finite numbers of 0 or more"),
        ((math.nan, 1), "weights nan, 1. Give finite"),
        ((math.inf, 1), "weights inf, 1. Give finite"),
        ((0, 0), "weights 0, 0. .* at least one above 0"),
        ((1,), r"\(1,\) for 2 legs"),
        ((1, 2, 3), r"\(1, 2, 3\) for 2 legs"),
        (("a", "b"), "for 2 legs"),
        (0.5, "for 2 legs"),
    ],
)
@pytest.mark.parametrize("fuse", [weighted, lambda legs, weights: rrf(legs, weights=weights)], ids=["weighted", "rrf"])
def test_weights_that_cannot_be_are_refused(fuse, weights, words):
    with pytest.raises(UsageError, match=words):
        fuse([DENSE, SPARSE], weights)


def test_alpha_is_between_0_and_1():
    assert alpha_weights(0.7) == (0.7, pytest.approx(0.3))
    assert alpha_weights(1) == (1.0, 0.0)
    for alpha in (-0.1, 1.1, math.nan, True, "0.5"):
        with pytest.raises(UsageError, match="between 0"):
            alpha_weights(alpha)


def test_rrf_adds_reciprocals_of_ranks():
    (hits,) = listed(rrf([DENSE, SPARSE]))
    assert [row for row, _ in hits] == [2, 1, 4, 5, 3]
    assert dict(hits) == {1: 1 / 61, 2: 1 / 62 + 1 / 61, 3: 1 / 63, 4: 1 / 62, 5: 1 / 63}
    assert dict(listed(rrf([DENSE, SPARSE], k=0, weights=(2, 1)))[0]) == {1: 2.0, 2: 2.0, 3: 2 / 3, 4: 0.5, 5: 1 / 3}


def test_rrf_does_not_consult_a_leg_of_weight_0():
    assert [rows.tolist() for rows, _ in rrf([DENSE, SPARSE], weights=(0, 1))] == [[2, 4, 5]]


@pytest.mark.parametrize("k", [-1, math.nan, math.inf, "60", True, None])
def test_rrf_refuses_a_k_that_is_no_number(k):
    with pytest.raises(UsageError, match="rrf: k="):
        rrf([DENSE], k=k)


def test_combsum_combmnz_and_isr():
    assert listed(combsum([DENSE, SPARSE])) == [[(2, 1.5), (1, 1.0), (4, 0.5), (5, 0.0), (3, 0.0)]]
    assert listed(combmnz([DENSE, SPARSE])) == [[(2, 3.0), (1, 1.0), (4, 0.5), (5, 0.0), (3, 0.0)]]
    (hits,) = listed(isr([DENSE, SPARSE]))
    assert hits == [(2, 2 * (1 / 4 + 1)), (1, 1.0), (4, 0.25), (5, 1 / 9), (3, 1 / 9)]


def test_combmnz_counts_the_last_hit_of_a_leg_as_found():
    first, second = ranked({1: 1.0, 2: 0.0}), ranked({2: 1.0, 3: 0.0})
    assert dict(listed(combmnz([first, second]))[0])[2] == 2.0


def test_queries_are_fused_each_on_its_own():
    both = [ranked({1: 0.75, 2: 0.5, 3: 0.25}, {9: 1.0}), ranked({2: 12.0, 4: 8.0, 5: 4.0}, {8: 2.0, 9: 1.0})]
    for fusion in FUSIONS:
        together = fusion.fuse(both)
        apart = [fusion.fuse([leg.take(np.array([i])) for leg in both]) for i in range(2)]
        assert listed(together) == [hits for one in apart for hits in listed(one)]


def test_legs_of_other_queries_and_no_legs_are_refused():
    with pytest.raises(UsageError, match=r"different numbers of queries \(1, 2\)"):
        rrf([DENSE, ranked({}, {})])
    with pytest.raises(UsageError, match="no leg was given"):
        rrf([])


def test_an_unknown_setting_gets_a_did_you_mean():
    with pytest.raises(UsageError, match=r"weighted has no setting 'normalize'. Did you mean normalise\?"):
        FUSIONS.get("weighted").fuse([DENSE], normalize="minmax")
    with pytest.raises(UsageError, match=r"isr has no setting 'k'\. It takes none"):
        FUSIONS.get("isr").parts([DENSE], k=3)
    with pytest.raises(UsageError, match=r"normalise='min-max' is unknown. Did you mean minmax\?"):
        weighted([DENSE, SPARSE], (1, 1), normalise="min-max")
    with pytest.raises(UsageError, match=r"unknown fusion 'rff'. Did you mean rrf\?"):
        FUSIONS.get("rff")


def test_settings_are_known_with_their_defaults():
    assert {fusion.name: fusion.settings for fusion in FUSIONS} == {
        "combmnz": {},
        "combsum": {},
        "isr": {},
        "rrf": {"k": 60, "weights": None},
        "weighted": {"weights": None, "normalise": "max"},
    }


def test_huge_scores_and_weights_stay_finite():
    ends = np.array([0, 2])
    huge = [
        Ranked(ends, np.array([1, 2]), np.array([1e300, -1e300])),
        Ranked(ends, np.array([1, 3]), np.array([1e300, 5.0])),
    ]
    for normalise in ("minmax", "zscore", "none"):
        fused = weighted(huge, (1e300, 1e300), normalise=normalise)
        assert np.isfinite(fused.scores.astype(np.float32)).all()
        assert fused.rows[0] == 1


def test_phrasings_are_fused_by_question():
    lists = ranked({1: 3.0, 2: 2.0}, {5: 1.0}, {2: 9.0, 3: 8.0}, {})
    fused = fuse_phrasings(lists, np.array([0, 2, 0, 2]), 4)
    assert listed(fused) == [[(2, 1 / 62 + 1 / 61), (1, 1 / 61), (3, 1 / 62)], [], [(5, 1 / 61)], []]


def test_questions_without_phrasings_have_no_hits():
    assert listed(fuse_phrasings(Ranked.empty(0), np.zeros(0, np.int64), 2)) == [[], []]


def test_parts_show_where_a_score_comes_from():
    parts = FUSIONS.get("weighted").parts([DENSE, SPARSE], weights=(0.75, 0.25), normalise="minmax")
    assert parts.ranked.rows.tolist() == [1, 2, 4, 5, 3]
    assert parts.rank.tolist() == [[1, 2, 0, 0, 3], [0, 1, 2, 3, 0]]
    np.testing.assert_array_equal(parts.score, [[0.75, 0.5, np.nan, np.nan, 0.25], [np.nan, 12.0, 8.0, 4.0, np.nan]])
    assert parts.normalised.tolist() == [[1.0, 0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.5, 0.0, 0.0]]
    assert parts.contribution.tolist() == [[0.75, 0.375, 0.0, 0.0, 0.0], [0.0, 0.25, 0.125, 0.0, 0.0]]


def test_parts_of_a_leg_that_was_not_consulted():
    both = [ranked({9: 1.0, 8: 0.5}), ranked({7: 2.0})]
    parts = FUSIONS.get("rrf").parts(both, weights=(1, 0))
    assert parts.ranked.rows.tolist() == [9, 8]
    assert parts.rank.tolist() == [[1, 2], [0, 0]]
    assert np.isnan(parts.score[1]).all()
    assert parts.contribution.tolist() == [[1 / 61, 1 / 62], [0.0, 0.0]]


def test_legs_laid_out_once_serve_every_fusion():
    legs = Legs([DENSE, SPARSE])
    for alpha in (0.0, 0.25, 1.0, 0.25):
        assert listed(weighted(legs, alpha_weights(alpha))) == listed(weighted([DENSE, SPARSE], alpha_weights(alpha)))
    assert (len(legs), legs[1]) == (2, SPARSE)
