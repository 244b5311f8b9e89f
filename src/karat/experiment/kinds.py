"""Kinds: what a question asks for, told from its text with a confidence.

`guess_kind` goes by the form of the question alone: signs such as "how many", "stands for" or "than". `KindPredictor`
learns the kinds of a test set from the same signs and the words. Neither understands a question: kinds that differ in
their matter and not in their form are taken for each other, which the confidence is there to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.normalise import tokenise
from karat.experiment._signs import signs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Which signs make which kind, the first that applies, and how often it is right: the share of the questions it caught
# in the half of the demo that is there to tune on, with one right and one wrong added.
RULES: tuple[tuple[str, frozenset[str], float], ...] = (
    ("abbreviation", frozenset({"capitals", "meaning"}), 0.8),
    ("scenario", frozenset({"first person", "sentences"}), 0.6),
    ("comparative", frozenset({"comparison"}), 0.9),
    ("numerical", frozenset({"amount"}), 0.6),
    ("procedural", frozenset({"manner"}), 0.8),
    ("listing", frozenset({"plural"}), 0.4),
    ("abbreviation", frozenset({"capitals"}), 0.8),
)
OTHERWISE = ("factual", 0.3)
LENGTHS = (6, 12, 18, 24)  # words: a question falls between two of these
RIDGE = 0.3
MOST = 1000  # questions to learn from; of more, as many evenly spaced ones
SCALES = np.array([0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1.5])


def guess_kind(text: str) -> tuple[str, float]:
    """The kind of a question by its form, and how often such a guess was right.

    >>> guess_kind("How many litres does the tank hold?")[0], guess_kind("What does MSR stand for?")[0]
    ('numerical', 'abbreviation')
    """
    signs = frozenset(signs_of(text))
    return next(((kind, right) for kind, needed, right in RULES if needed <= signs), OTHERWISE)


@dataclass(frozen=True)
class KindPredictor:
    """Kinds learned from examples: a ridge regression onto each kind, turned into shares of confidence.

    The scale of the confidence is the one under which the kinds of the examples, each predicted without itself, are
    most likely.
    """

    kinds: tuple[str, ...]
    rows: dict[str, int]
    idf: Floats
    weights: Floats  # features x kinds
    prior: Floats
    scale: float

    @classmethod
    def fit(cls, texts: Sequence[str], kinds: Sequence[str]) -> KindPredictor:
        """Learn from questions and their kinds; of equally likely kinds the first to appear is predicted."""
        return cls.fit_features([features_of(text) for text in texts], kinds)

    @classmethod
    def fit_features(cls, features: Sequence[Features], kinds: Sequence[str]) -> KindPredictor:
        """As `fit`, from what `features_of` found."""
        if not features or len(features) != len(kinds):
            raise ValueError(f"{len(kinds)} kinds for {len(features)} questions: one each, and at least one")
        if len(features) > MOST:
            spaced = np.linspace(0, len(features) - 1, MOST).astype(int).tolist()
            features, kinds = [features[i] for i in spaced], [kinds[i] for i in spaced]
        names = tuple(dict.fromkeys(kinds))
        rows = {x: i for i, x in enumerate(sorted({x for found in features for part in found for x in part}))}
        held = np.zeros(len(rows))
        for found in features:
            held[[rows[x] for part in found for x in part]] += 1
        idf = np.log((1 + len(features)) / (1 + held)) + 1
        table = np.stack([_vector(found, rows, idf) for found in features])
        wanted = (np.array(kinds, object)[:, None] == np.array(names, object)[None, :]).astype(np.float64)
        prior = wanted.mean(axis=0)
        inverse = np.linalg.inv(table @ table.T + RIDGE * np.eye(len(table)))
        dual = inverse @ (wanted - prior)
        alone = wanted - dual / np.diag(inverse)[:, None]  # each predicted by the others
        likely = [np.log((_shares(alone, scale) * wanted).sum(axis=1)).sum() for scale in SCALES]
        return cls(names, rows, idf, table.T @ dual, prior, float(SCALES[int(np.argmax(np.round(likely, 9)))]))

    def predict(self, text: str) -> tuple[str, float]:
        """The kind of a question, and the confidence in it from 0 to 1."""
        return self.predict_features(features_of(text))

    def predict_features(self, features: Features) -> tuple[str, float]:
        """As `predict`, from what `features_of` found."""
        scores = _vector(features, self.rows, self.idf) @ self.weights + self.prior
        shares = _shares(scores[None], self.scale)[0]
        best = int(np.argmax(np.round(shares, 9)))
        return self.kinds[best], float(shares[best])


Features = tuple[tuple[str, ...], tuple[str, ...]]


def features_of(text: str) -> Features:
    """The signs of a question and its length; its words and pairs of words. Each feature once."""
    words = tokenise(text, "words")
    length = f"length:{sum(len(words) >= limit for limit in LENGTHS)}"
    form = (*(f"sign:{sign}" for sign in signs_of(text)), length)
    pairs = (f"pair:{a} {b}" for a, b in pairwise(("", *words[:50])))
    return form, tuple(dict.fromkeys((*(f"word:{word}" for word in words[:50]), *pairs)))


def _vector(features: Features, rows: dict[str, int], idf: Floats) -> Floats:
    """Form and words, each as a vector of length 1; what was never seen is left out."""
    vector = np.zeros(len(rows))
    for part in features:
        known = [rows[x] for x in part if x in rows]
        if known:
            vector[known] = idf[known] / np.linalg.norm(idf[known])
    return vector


def _shares(scores: Floats, scale: float) -> Floats:
    """Scores as shares of 1."""
    raised = np.exp((scores - scores.max(axis=1, keepdims=True)) / scale)
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return np.maximum(shares, 1e-12)
