"""What the tests and intervals promise, simulated: error rates and coverage, with seed, sizes and distributions fixed.

Each study is a pair (or a family) of systems over its own questions, drawn from a known distribution. `pytest -s`
prints every figure. Bands: a test under no difference rejects 3.5 to 6.5% of 2,000 at 5% (3 standard errors either
way); with Holm at most 6.5% of families have any rejection; 95% intervals cover in 93 to 97%.
"""

import numpy as np
import pytest

from karat.stats.corrections import adjust
from karat.stats.paired_tests import paired_t, wilcoxon
from karat.stats.permutation import drawn_pairs
from karat.stats.tukey import tukey

pytestmark = pytest.mark.slow
SEED, STUDIES, LEVEL = 20261115, 2_000, 0.05
RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 0])
CHANCE = np.array([0.45, 0.15, 0.1, 0.05, 0.05, 0.2])


def normal(rng, shape):
    """Scores with a common part for the question, of which both systems miss by normal errors."""
    return rng.normal(0, 0.3, (shape[0], 1, shape[2])) + rng.normal(0, 0.2, shape)


def ranks(rng, shape):
    """Reciprocal ranks, in half of the questions the same for all systems."""
    shared = rng.choice(RANKS, (shape[0], 1, shape[2]), p=CHANCE)
    return np.where(rng.random((shape[0], 1, shape[2])) < 0.5, shared, rng.choice(RANKS, shape, p=CHANCE))


def found(rng, shape):
    """0 or 1: whether a question of its own difficulty is answered."""
    return (rng.random(shape) < rng.beta(2, 1.5, (shape[0], 1, shape[2]))).astype(float)


def overlap(rng, shape):
    """F1 of words: a third are 0, the rest spread with a long tail upwards."""
    return np.where(rng.random(shape) < 0.33, 0.0, rng.beta(1.2, 3, shape))


MODELS = {"normal": normal, "reciprocal ranks": ranks, "0 or 1": found, "skewed F1": overlap}


def told(what, model, n, figure):
    print(f"{what:<34} {model:<17} n={n:<4} {STUDIES:,} studies: {figure:.2%}")
    return figure


def studies(model, n, systems=2, seed=SEED):
    """Studies x systems x questions."""
    return MODELS[model](np.random.default_rng([seed, n, systems]), (STUDIES, systems, n))


def one_call(values):
    """All studies as pairs of one call: 2i and 2i + 1."""
    many, _, n = values.shape
    return values.reshape(1, 2 * many, n), [(2 * i, 2 * i + 1) for i in range(many)]


@pytest.mark.parametrize("n", [50, 133])
@pytest.mark.parametrize("model", MODELS)
def test_one_test_rejects_no_difference_in_five_percent(model, n):
    values = studies(model, n)
    p = drawn_pairs(*one_call(values), alpha=None).p[0]
    rate = told("sign flip rejects at 5%", model, n, np.mean(p <= LEVEL))
    if model == "0 or 1":  # a few p lie between 0 and 10% at all, and the test stays below the level by a step
        assert rate <= 0.065
    else:
        assert 0.035 <= rate <= 0.065
        apart = values[:, 1] - values[:, 0]
        for name, peer in (("Wilcoxon", wilcoxon(apart)[0]), ("paired t", paired_t(apart).p)):
            assert 0.035 <= told(f"{name} rejects at 5%", model, n, np.mean(peer <= LEVEL)) <= 0.065


@pytest.mark.parametrize("model", MODELS)
def test_holm_holds_the_error_of_the_family(model):
    """4 equal systems, 6 pairs, 50 questions."""
    values = studies(model, 50, systems=4)
    pairs = [(4 * i + a, 4 * i + b) for i in range(STUDIES) for a in range(4) for b in range(a + 1, 4)]
    p = drawn_pairs(values.reshape(1, -1, 50), pairs, draws=4_000, alpha=None).p[0].reshape(STUDIES, 6)
    rate = told("any of 6 pairs rejected, Holm", model, 50, np.mean([adjust(row).min() <= LEVEL for row in p]))
    assert rate <= 0.065


@pytest.mark.parametrize("model", ["normal", "reciprocal ranks"])
def test_tukey_holds_the_error_of_the_family(model):
    """4 equal systems, 50 questions, 500 studies, 500 draws each."""
    values = studies(model, 50, systems=4)[:500]
    rate = np.mean([tukey(one, draws=499).min() <= LEVEL for one in values])
    print(f"{'any of 6 pairs rejected, Tukey HSD':<34} {model:<17} n=50   500 studies: {rate:.2%}")
    assert 0.025 <= rate <= 0.08


@pytest.mark.parametrize("n", [50, 133])
@pytest.mark.parametrize("model", MODELS)
def test_intervals_cover_the_true_difference(model, n):
    """The second system is shifted by a known amount: .05 on every question, or better on a tenth of them."""
    values = studies(model, n, seed=SEED + 1)
    rng = np.random.default_rng([SEED + 2, n])
    if model in ("normal", "skewed F1"):
        values[:, 1] += 0.05
        truth = 0.05
    else:
        lifted = rng.random((STUDIES, n)) < 0.1
        mean = {"reciprocal ranks": float(RANKS @ CHANCE), "0 or 1": 2 / 3.5}[model]
        values[:, 1] = np.where(lifted, 1.0, values[:, 1])
        truth = 0.1 * (1 - mean)
    made = drawn_pairs(*one_call(values), draws=2_000)
    covered = np.mean((made.low[0] <= truth) & (truth <= made.high[0]))
    assert 0.93 <= told("95% interval covers", model, n, covered) <= 0.97


def test_the_noise_of_a_judge_is_within_the_interval():
    """Scores are means of 2 replies that each miss by .2; nothing is added for it, and coverage holds."""
    rng = np.random.default_rng([SEED, 5])
    true = rng.beta(2, 2, (STUDIES, 1, 60)) + rng.normal(0, 0.1, (STUDIES, 2, 60))
    replies = true[..., None] + rng.normal(0, 0.2, (*true.shape, 2))
    made = drawn_pairs(*one_call(replies.mean(axis=3)), draws=2_000)
    covered = np.mean((made.low[0] <= 0) & (made.high[0] >= 0))
    assert 0.93 <= told("interval with a judge's noise", "normal, 2 replies", 60, covered) <= 0.97


def test_power_is_what_it_says():
    """The smallest detectable difference at 80% is found in about 80% of studies."""
    from karat.stats.power import detectable

    values = studies("normal", 100)
    values[:, 1] += detectable(0.2 * np.sqrt(2), 100)
    p = drawn_pairs(*one_call(values), alpha=None).p[0]
    assert 0.76 <= told("power at the detectable difference", "normal", 100, np.mean(p <= LEVEL)) <= 0.84
