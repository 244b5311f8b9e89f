"""Router: a system that predicts the kind of a question and takes the setting that was best for that kind.

Everything about it is scored out of sample: what predicts the kinds, and which setting is taken for which kind, come
from the folds that the scored question is not in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.study import Pair, Routed
from karat.experiment.kinds import Features, KindPredictor, features_of, guess_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

NAME = "router"
SINGLE = "best single setting (cross-validated)"
CONFIDENT = 0.7  # with less the setting that is best over all kinds is taken
OTHERS = 3.0  # questions that all other kinds together count as when the setting for a kind is chosen
FEW = 5  # questions of a kind to choose a setting by
WORK = 1500  # questions x repeats: large sets need no repeats


@dataclass(frozen=True)
class Step:
    """What the router does with one question."""

    kind: str
    confidence: float
    setting: str
    confident: bool  # else the setting is the one for all kinds


@dataclass(frozen=True)
class Router:
    """Settings by kind, learned from scored questions. Without a predictor kinds are guessed by form."""

    settings: Mapping[str, str]
    otherwise: str
    predictor: KindPredictor | None = None

    def predict(self, text: str) -> tuple[str, float]:
        """The kind of a question, and the confidence in it from 0 to 1."""
        return guess_kind(text) if self.predictor is None else self.predictor.predict(text)

    def step(self, text: str) -> Step:
        """The setting for a question, and why."""
        kind, confidence = self.predict(text)
        confident = confidence >= CONFIDENT and kind in self.settings
        return Step(kind, confidence, self.settings[kind] if confident else self.otherwise, confident)


def fit_router(
    names: Sequence[str],
    values: Floats,
    texts: Sequence[str],
    kinds: Sequence[str | None] | None = None,
    *,
    higher_is_better: bool = True,
) -> Router | None:
    """A router from all questions, by the values (settings x questions) the settings reached; None without any."""
    known = _Known.of(values, texts, kinds, higher_is_better)
    if known is None:
        return None
    everything = np.ones(len(known.asked), bool)
    learned = known.learn(everything)
    settings = {kind: names[row] for kind, row in learned.rows.items()}
    return Router(settings, names[learned.otherwise], learned.predictor)


def route(
    measure: str,
    names: Sequence[str],
    values: Floats,
    texts: Sequence[str],
    kinds: Sequence[str | None] | None = None,
    *,
    ids: Sequence[str] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    folds: int = 5,
    repeats: int = 10,
    seed: int = 0,
    higher_is_better: bool = True,
) -> Routed | None:
    """The router's score on questions it has not seen, beside that of one setting chosen on the same folds.

    `values` are settings x questions, NaN where there is none. Kinds that are None are not learned from; where all are,
    they are guessed by form, and the note says so. None where fewer than two questions have a value.
    """
    from karat.stats.folds import deal, mean_known
    from karat.stats.intervals import mean_intervals
    from karat.stats.pairs import pairs

    if values.shape != (len(names), len(texts)):
        raise ValueError(f"values of shape {values.shape} for {len(names)} settings and {len(texts)} questions")
    known = _Known.of(values, texts, kinds, higher_is_better)
    router = fit_router(names, values, texts, kinds, higher_is_better=higher_is_better)
    if known is None or router is None or len(known.asked) < 2:
        return None
    many = len(known.asked)
    strata = None if kinds is None else [kinds[i] for i in known.asked.tolist()]
    dealt = deal(many, strata, folds=folds, repeats=max(1, min(repeats, WORK // many)), seed=seed)
    routed, single = np.full(dealt.shape, np.nan), np.full(dealt.shape, np.nan)
    right, confidence = np.full(dealt.shape, np.nan), np.full(dealt.shape, np.nan)
    for repeat, row in enumerate(dealt):
        for fold in range(int(row.max()) + 1):
            learned = known.learn(row != fold)
            single[repeat, row == fold] = known.values[learned.otherwise, row == fold]
            for question in np.flatnonzero(row == fold).tolist():
                kind, sure, taken = learned.step(known.features[question], known.guesses[question])
                routed[repeat, question] = known.values[taken, question]
                confidence[repeat, question] = sure
                if not known.guessed and known.kinds[question] is not None:
                    right[repeat, question] = kind == known.kinds[question]
    scored = np.full((2, len(texts)), np.nan)
    scored[:, known.asked] = mean_known(single), mean_known(routed)
    low, high = mean_intervals(scored[1:], bounds, seed=seed)
    (against,) = pairs(measure, [SINGLE, NAME], scored, ids=ids, seed=seed, higher_is_better=higher_is_better)
    accuracy = float(np.nanmean(right)) if np.isfinite(right).any() else None
    reached = scored[1][np.isfinite(scored[1])]
    if not len(reached):
        return None
    return Routed(
        name=NAME,
        measure=measure,
        mean=float(reached.mean()),
        low=None if np.isnan(low[0]) else float(low[0]),
        high=None if np.isnan(high[0]) else float(high[0]),
        n=len(reached),
        against=against,
        accuracy=accuracy,
        confidence=float(np.nanmean(confidence)),
        by_kind=dict(router.settings),
        values=[float(v) if np.isfinite(v) else None for v in scored[1]],
        note=_told(against, known, router, accuracy, higher_is_better),
    )


@dataclass(frozen=True)
class _Learned:
    """A router over row numbers."""

    rows: Mapping[str, int]
    otherwise: int
    predictor: KindPredictor | None

    def step(self, features: Features, guess: tuple[str, float]) -> tuple[str, float, int]:
        kind, confidence = guess if self.predictor is None else self.predictor.predict_features(features)
        taken = self.rows.get(kind, self.otherwise) if confidence >= CONFIDENT else self.otherwise
        return kind, confidence, taken


@dataclass(frozen=True)
class _Known:
    """The questions that have a value, with their kinds or what is guessed for them."""

    asked: Ints  # their places among all questions
    values: Floats
    allowed: Bools
    kinds: list[str | None]
    guessed: bool
    features: list[Features]
    guesses: list[tuple[str, float]]
    higher_is_better: bool

    @classmethod
    def of(
        cls, values: Floats, texts: Sequence[str], kinds: Sequence[str | None] | None, higher_is_better: bool
    ) -> _Known | None:
        from karat.stats.folds import full_enough

        values = np.where(np.isfinite(values), values, np.nan)
        allowed = full_enough(values)
        asked = np.flatnonzero(np.isfinite(values[allowed]).any(axis=0))
        if not len(asked):
            return None
        guesses = [guess_kind(texts[i]) for i in asked.tolist()]
        own = [kinds[i] if kinds is not None else None for i in asked.tolist()]
        guessed = all(kind is None for kind in own)
        return cls(
            asked,
            values[:, asked],
            allowed,
            [kind for kind, _ in guesses] if guessed else own,
            guessed,
            [features_of(texts[i]) for i in asked.tolist()],
            guesses,
            higher_is_better,
        )

    def learn(self, seen: Bools) -> _Learned:
        """Predictor and settings from the seen questions only."""
        from karat.stats.folds import best_rows

        labels = np.array(self.kinds, object)
        labelled = [i for i in np.flatnonzero(seen).tolist() if self.kinds[i] is not None]
        kinds = [str(self.kinds[i]) for i in labelled]
        enough = [kind for kind in dict.fromkeys(kinds) if kinds.count(kind) >= FEW]
        counting = np.array([_weights(labels == kind, seen) for kind in enough] + [seen.astype(np.float64)])
        best = best_rows(self.values, counting, allowed=self.allowed, higher_is_better=self.higher_is_better).tolist()
        predictor = None
        if not self.guessed and labelled:
            predictor = KindPredictor.fit_features([self.features[i] for i in labelled], kinds)
        return _Learned(dict(zip(enough, best, strict=False)), best[-1], predictor)


def _weights(of_kind: Bools, seen: Bools) -> Floats:
    """What each seen question counts when the setting for a kind is chosen.

    Few questions of a kind would choose at random among settings that are alike; the other kinds then decide.
    """
    other = seen & ~of_kind
    return np.where(of_kind, 1.0, min(1.0, OTHERS / max(int(other.sum()), 1))) * seen


def _told(against: Pair, known: _Known, router: Router, accuracy: float | None, higher_is_better: bool) -> str:
    """The router beside the single setting, in words."""
    from karat.stats.pairs import LEVEL
    from karat.stats.spread import thousandths

    ahead = against.difference if higher_is_better else -against.difference
    if against.adjusted <= LEVEL:
        verdict = "is better than" if ahead > 0 else "is worse than"
    else:
        verdict = "cannot be told apart from"
    low, high = against.low, against.high
    few = ", no interval because too few questions differ"
    ends = few if low is None or high is None else f" [{thousandths(low)}, {thousandths(high)}]"
    told = (
        f"On questions it was not made from, the router {verdict} one setting chosen on the same questions "
        f"(difference {thousandths(against.difference)}{ends}, p {thousandths(against.p)})."
    )
    if known.guessed:
        told += " The test set names no kinds: they were guessed from the form of the questions."
    elif accuracy is not None:
        told += f" It predicts the kind of {100 * accuracy:.0f}% of the questions rightly."
    if len(set(router.settings.values()) | {router.otherwise}) == 1:
        told += " It takes the same setting for every kind."
    return told
