"""UnsupportedTrigrams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._support import support

if TYPE_CHECKING:
    from numpy.typing import NDArray


NO_TRIGRAMS = np.zeros(0, np.int64)


@measure(
    name="UnsupportedTrigrams",
    aliases=("unsupported_trigrams", "novel_trigrams"),
    needs_gold=False,
    needs_contexts=True,
    direction="lower",
    formula="trigrams of the answer that no context holds / trigrams of the answer",
    defined_by="See et al. (2017), their share of novel n-grams",
    best_for="telling answers that quote their contexts from those that rephrase or invent",
    prefer="SupportCoverage when rephrasing is welcome",
)
def unsupported_trigrams(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """Share of the answer's runs of three tokens that no context holds.

    An answer of fewer than three tokens has none, so that it is undefined.
    """
    held = support(answered, norm)
    total = np.maximum(held.answers.sizes - 2, 0)
    missing = np.zeros(len(total), np.int64)
    number = np.zeros(len(held.vocabulary), np.int64)
    for pair, chosen in enumerate(held.used):
        if total[pair] and pair not in held.undefined:
            codes = held.answers[pair]
            distinct = np.unique(codes)
            number[distinct] = np.arange(1, len(distinct) + 1)
            base = len(distinct) + 1
            known = [_trigrams(number[held.contexts[context]], base) for context in chosen]
            known = [trigrams[trigrams >= 0] for trigrams in known]
            missing[pair] = (~np.isin(_trigrams(number[codes], base), np.concatenate([NO_TRIGRAMS, *known]))).sum()
            number[distinct] = 0
    return held.ratio(missing, total, "the answer has fewer than three tokens")


def _trigrams(numbers: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    """Each run of three as one number; -1 where one of the three is 0, a token the answer does not hold."""
    one, two, three = numbers[:-2], numbers[1:-1], numbers[2:]
    whole = (one > 0) & (two > 0) & (three > 0)
    return np.where(whole, (one * base + two) * base + three, -1)
