"""All pairs of many systems against the plain loop over scipy.

50 made systems x 7,000 questions x 10 measures (scores like nDCG, 0 for a third of the questions, seeded): 1,225 pairs
by 10 measures, each with a sign-flip test of 10,000 draws, the interval that inverts it, Wilcoxon, paired t and
effect sizes, corrected by Holm. The loop calls scipy.stats for each pair and measure: permutation_test, bootstrap
(with so many questions its interval is the same), wilcoxon, ttest_rel. It is timed on a few pairs and scaled to all of
them; on these pairs both must agree, p and ends within the noise of the draws.
"""

from __future__ import annotations

import resource
import time
from itertools import combinations

import numpy as np

SYSTEMS, QUESTIONS, MEASURES, DRAWS = 50, 7_000, 10, 10_000
SAMPLED = 3
SECONDS, MEMORY = 60.0, 2.0


def made() -> np.ndarray:
    """Measures x systems x questions: systems share what is hard about a question, and differ by up to .02."""
    rng = np.random.default_rng(7)
    hard = rng.normal(0, 1, (MEASURES, 1, QUESTIONS))
    skill = rng.uniform(-0.05, 0.05, (1, SYSTEMS, 1))
    latent = hard + skill + rng.normal(0, 0.7, (MEASURES, SYSTEMS, QUESTIONS))
    return np.round(np.clip(0.4 + 0.4 * latent, 0, 1), 4)


def loop(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float, float, float]:
    """What a script does for one pair and measure."""
    from scipy.stats import bootstrap, permutation_test, ttest_rel, wilcoxon

    difference = np.round(b - a, 9)  # differences that are equal on paper are equal
    flipped = permutation_test(
        (difference,), np.mean, permutation_type="samples", vectorized=True, n_resamples=DRAWS, batch=500,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    drawn = bootstrap(
        (difference,), np.mean, method="BCa", n_resamples=DRAWS, batch=500, rng=np.random.default_rng(0)
    ).confidence_interval  # fmt: skip
    return flipped.pvalue, drawn.low, drawn.high, wilcoxon(difference).pvalue, ttest_rel(b, a).pvalue


def main() -> None:
    from karat.stats.compare import compare_systems

    values = made()
    pairs = list(combinations(range(SYSTEMS), 2))
    print(f"{SYSTEMS} systems x {QUESTIONS:,} questions x {MEASURES} measures: {len(pairs) * MEASURES:,} tests")
    start = time.perf_counter()
    found = compare_systems(values, pairs, draws=DRAWS)
    told = int((found.adjusted("tukey", "holm") <= 0.05).sum())
    ours = time.perf_counter() - start
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for number in rng.choice(len(pairs), SAMPLED, replace=False).tolist():
        a, b = pairs[number]
        p, low, high, ranked, student = loop(values[0, a], values[0, b])
        wide = found.high[0, number] - found.low[0, number]
        assert abs(p - found.permutation[0, number]) < 0.03, (p, found.permutation[0, number])
        assert abs(low - found.low[0, number]) < 0.06 * wide
        assert abs(high - found.high[0, number]) < 0.06 * wide
        np.testing.assert_allclose([ranked, student], [found.wilcoxon[0, number], found.t[0, number]], rtol=1e-6)
    one = (time.perf_counter() - start) / SAMPLED
    theirs = one * len(pairs) * MEASURES
    print(f"karat: {ours:.1f} s, at most {held:.2f} GB (the scores included); {told:,} told apart by Tukey HSD")
    print(f"scipy: {one:.2f} s a pair and measure ({SAMPLED} timed), {theirs / 3600:.1f} h for all, scaled")
    print(f"{'ok  ' if ours < SECONDS else 'MISS'} seconds {ours:.1f} (goal {SECONDS:g})")
    print(f"{'ok  ' if held < MEMORY else 'MISS'} memory {held:.2f} GB (goal {MEMORY:g})")
    print(f"ratio to the loop, which is scaled: {theirs / ours:,.0f}x")
