import numpy as np
import pytest

from karat.stats.corrections import CORRECTIONS, adjust

P = [0.01, 0.04, 0.03, 0.005]


def test_holm_by_hand():
    # sorted .005 .01 .03 .04 times 4 3 2 1: .02 .03 .06 .04, the last raised to .06
    np.testing.assert_allclose(adjust(P), [0.03, 0.06, 0.06, 0.02])


def test_the_others_by_hand():
    np.testing.assert_allclose(adjust(P, "bonferroni"), [0.04, 0.16, 0.12, 0.02])
    # .005*4/1=.02, .01*4/2=.02, .03*4/3=.04, .04*4/4=.04
    np.testing.assert_allclose(adjust(P, "bh"), [0.02, 0.04, 0.04, 0.02])
    np.testing.assert_allclose(adjust(P, "none"), P)
    np.testing.assert_allclose(adjust(P), adjust(P))


@pytest.mark.parametrize("method", CORRECTIONS)
def test_laws(method):
    p = np.random.default_rng(0).random(50) ** 3
    adjusted = adjust(p, method)
    assert (adjusted >= p).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p)
    assert (np.diff(adjusted[order]) >= 0).all()
    turned = adjust(p[::-1], method)[::-1]
    np.testing.assert_array_equal(turned, adjusted)
    assert adjust([], method).shape == (0,)
    assert adjust([0.2], method).tolist() == [0.2]


def test_ties_get_one_value_and_nothing_passes_one():
    assert adjust([0.5, 0.5, 0.5]).tolist() == [1, 1, 1]
    assert adjust([0.02, 0.02]).tolist() == [0.04, 0.04]


def test_the_values_passed_in_stay():
    p = np.array(P)
    for method in CORRECTIONS:
        adjust(p, method)[:] = 9
    assert p.tolist() == P


@pytest.mark.parametrize("p", [[-0.1], [1.1], [float("nan")], [[0.1]]])
def test_what_is_no_p_is_refused(p):
    with pytest.raises(ValueError, match="from 0 to 1"):
        adjust(p)


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="'sidak' is not one of holm, bonferroni, bh, none"):
        adjust([0.1], "sidak")
