"""F tails against scipy, analyses of variance against scipy and statsmodels."""

import numpy as np
import pytest

from karat.stats.anova import anova

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("seed", range(5))
def test_one_way_equals_scipy(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(i / 4, 1, rng.integers(3, 30)) for i in range(4)]
    levels = [i for i, group in enumerate(groups) for _ in group]
    (effect,) = anova(np.concatenate(groups), {"a": levels}).effects
    peer = stats.f_oneway(*groups)
    assert effect.f == pytest.approx(peer.statistic, rel=1e-9)
    assert effect.p == pytest.approx(peer.pvalue, rel=1e-9)


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("balanced", [False, True])
def test_two_way_equals_statsmodels(balanced, blocked):
    pd = pytest.importorskip("pandas")
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(7)
    a, b, q = np.repeat([0, 0.3, 0.5], 80), np.tile(np.repeat([1, 2, 3, 4], 20), 3), np.tile(np.arange(20), 12)
    y = rng.normal(size=240) + a + 0.2 * b * (a > 0) + rng.normal(size=20)[q]
    kept = np.ones(240, bool) if balanced else rng.random(240) > 0.25
    frame = pd.DataFrame({"a": a, "b": b, "q": q, "y": y})[kept]
    blocks = frame.q.tolist() if blocked else ()
    found = anova(frame.y.to_numpy(), {"a": frame.a.tolist(), "b": frame.b.tolist()}, blocks=blocks)
    peer = anova_lm(ols("y ~ C(a) * C(b)" + " + C(q)" * blocked, frame).fit(), typ=2)
    assert found.balanced is balanced
    for effect, name in zip(found.effects, ("C(a)", "C(b)", "C(a):C(b)"), strict=True):
        assert effect.squares == pytest.approx(peer.sum_sq[name], rel=1e-9)
        assert effect.freedom == peer.df[name]
        assert effect.f == pytest.approx(peer.F[name], rel=1e-9)
        assert effect.p == pytest.approx(peer["PR(>F)"][name], rel=1e-8)
    assert found.residual_freedom == peer.df["Residual"]
