"""Analysis of variance by hand."""

import numpy as np
import pytest

from karat.stats.anova import anova
from karat.stats.tails import f_tail, t_tail


def test_one_way_by_hand():
    # means 2, 4, 6 of (1,2,3), (3,4,5), (5,6,7): between 3*(4+0+4) = 24, within 2+2+2 = 6; F = 12 / 1
    (effect,) = anova(np.array([1, 2, 3, 3, 4, 5, 5, 6, 7.0]), {"a": list("xxxyyyzzz")}).effects
    assert (effect.freedom, effect.error_freedom) == (2, 6)
    assert effect.squares == pytest.approx(24)
    assert effect.f == pytest.approx(12)
    assert effect.eta == pytest.approx(0.8)
    assert effect.omega == pytest.approx((24 - 2) / 31)
    assert effect.p == pytest.approx(0.008, abs=1e-4)


def test_an_interaction_alone_is_no_main_effect():
    found = anova(np.array([0, 0.1, 1, 1.1, 1, 1.1, 0, 0.1]), {"a": list("xxxxyyyy"), "b": list("uuvvuuvv")})
    a, b, both = found.effects
    assert found.balanced
    assert (a.squares, b.squares) == (0.0, 0.0)
    assert both.name == "a x b"
    assert both.squares == pytest.approx(2.0)
    assert both.eta > 0.98


def test_blocks_take_out_what_questions_have_in_common():
    scores = np.array([0, 0.01, 1, 1.01, 5, 5.02])
    plain = anova(scores, {"a": list("xyxyxy")}).effects[0]
    blocked = anova(scores, {"a": list("xyxyxy")}, blocks=[1, 1, 2, 2, 3, 3])
    assert plain.p > 0.9
    assert blocked.residual_freedom == 2
    assert blocked.effects[0].p == pytest.approx(t_tail(0.04 / 3 / (np.std([0.01, 0.01, 0.02], ddof=1) / 3**0.5), 2))


def test_nothing_to_compare_with():
    one = anova(np.array([1.0, 2.0]), {"a": ["x", "y"]}).effects[0]
    assert one.f is None
    assert one.p is None
    same = anova(np.ones(6), {"a": list("xxxyyy")}).effects[0]
    assert (same.f, same.eta, same.omega) == (None, 0.0, 0.0)
    apart = anova(np.array([1, 1, 2, 2.0]), {"a": list("xxyy")}).effects[0]
    assert (apart.f, apart.p, apart.eta) == (float("inf"), 0.0, 1.0)


def test_missing_cells_lower_the_freedom_of_the_interaction():
    levels = {"a": ["x"] * 4 + ["y"] * 2, "b": list("uuvvuu")}
    found = anova(np.array([1, 2, 3, 4, 5, 7.0]), levels)
    assert not found.balanced
    assert [effect.freedom for effect in found.effects] == [1, 1, 0]


def test_bad_input():
    with pytest.raises(ValueError, match="finite"):
        anova(np.array([1.0, np.nan]), {"a": ["x", "y"]})
    with pytest.raises(ValueError, match="1 and 2 levels"):
        anova(np.ones(1), {"a": ["x", "y"]})
    with pytest.raises(ValueError, match="degrees of freedom"):
        f_tail(1.0, 0, 5)
