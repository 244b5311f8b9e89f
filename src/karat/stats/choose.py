"""Choose: the best of many cells, with what keeps it from being taken for more than it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.study import Cell, Choice, KindChoice
from karat.stats.corrections import holm
from karat.stats.folds import FOLDS, REPEATS, best_rows, deal, full_enough, held_out, mean_known, training
from karat.stats.intervals import mean_intervals
from karat.stats.luck import lucky
from karat.stats.pairs import LEVEL, draws_for, pairs
from karat.stats.permutation import TIE, sign_flip
from karat.stats.spread import thousandths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

FEW = 5  # questions of a kind: with fewer no cell is chosen for it
NAMED = 6  # names in a sentence


def cells_of(
    labels: Sequence[tuple[str, str, int | None]],
    values: Floats,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    intervals: bool = True,
    seed: int = 0,
) -> tuple[Cell, ...]:
    """The cells of (system, measure, k) by their rows of `values`, of measures that lie within `bounds`.

    What is not finite is no value.
    """
    if values.shape[0] != len(labels):
        raise ValueError(f"{len(labels)} cells for {values.shape[0]} rows of values")
    mean, n = mean_known(values.T), np.isfinite(values).sum(axis=1)
    nothing = np.full(len(labels), np.nan)
    low, high = mean_intervals(values, bounds, seed=seed) if intervals else (nothing, nothing)
    return tuple(
        Cell(system, measure, k, float(mean[i]), _end(low[i]), _end(high[i]), int(n[i]))
        for i, (system, measure, k) in enumerate(labels)
    )


def choose(
    measure: str,
    cells: Sequence[Cell],
    values: Floats,
    *,
    kinds: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    higher_is_better: bool = True,
) -> Choice | None:
    """The cell with the best mean of `values` (cells x questions), what equals it, and what to expect of it.

    None where no cell has a value. Of equal means the earlier cell is taken: put the simpler ones first. A cell
    that lacks more than a tenth of the questions is never the best: its mean is over other questions. In the pairs the
    best is b: the difference is how far it is ahead. Their adjusted p is Holm's, or the chance that the best of equal
    cells leads by as much where that is higher: the best was picked for its lead. `ids` of the questions make p and
    interval of a pair those of `karat compare`.
    """
    if values.shape[0] != len(cells) or (kinds is not None and len(kinds) != values.shape[1]):
        raise ValueError(f"{len(cells)} cells and {len(kinds or ())} kinds for values of shape {values.shape}")
    values = np.where(np.isfinite(values), values, np.nan)
    n = np.isfinite(values).sum(axis=1)
    if not n.size or n.max() == 0:
        return None
    allowed = full_enough(values)
    everything = np.ones((1, values.shape[1]), bool)
    best = int(best_rows(values, everything, allowed=allowed, higher_is_better=higher_is_better)[0])
    names = [cell.name for cell in cells]
    others = [i for i in range(len(cells)) if i != best and n[i]]
    found = pairs(
        measure, names, values, [(i, best) for i in others], ids=ids, seed=seed, higher_is_better=higher_is_better
    )
    chance = lucky(values, best, seed=seed, higher_is_better=higher_is_better)[others].tolist()
    found = tuple(replace(pair, adjusted=max(pair.adjusted, p)) for pair, p in zip(found, chance, strict=True))
    sign = 1.0 if higher_is_better else -1.0
    apart = [pair.adjusted <= LEVEL and sign * pair.difference > 0 for pair in found]
    validated = _validated(values, best, allowed, kinds, folds, repeats, seed, higher_is_better)
    by_kind, small = _by_kind(cells, values, allowed, kinds, bounds, seed, higher_is_better)
    choice = Choice(
        measure=measure,
        cells=tuple(cells),
        best=cells[best],
        equals=tuple(pair for pair, told in zip(found, apart, strict=True) if not told),
        beaten=tuple(pair for pair, told in zip(found, apart, strict=True) if told),
        cross_validated=validated.mean,
        optimism=validated.optimism,
        picks={names[i]: many for i, many in validated.picks},
        folds=validated.folds,
        oracle=_oracle(values, sign),
        by_kind=by_kind,
    )
    unequal = [names[i] for i in np.flatnonzero(~allowed)]
    return _with_sentences(choice, small, unequal, higher_is_better)


@dataclass(frozen=True)
class _Validated:
    mean: float | None
    optimism: float | None
    picks: tuple[tuple[int, int], ...]
    folds: int


def _validated(
    values: Floats,
    best: int,
    allowed: Bools,
    kinds: Sequence[str | None] | None,
    folds: int,
    repeats: int,
    seed: int,
    higher_is_better: bool,
) -> _Validated:
    """Cells chosen on all folds but one and scored on that one, over questions where any cell has a value."""
    asked = np.flatnonzero(np.isfinite(values[allowed]).any(axis=0))
    if len(asked) < 2:
        return _Validated(None, None, (), 0)
    values = values[:, asked]
    dealt = deal(
        len(asked),
        None if kinds is None else [kinds[i] for i in asked.tolist()],
        folds=folds,
        repeats=repeats,
        seed=seed,
    )
    picks = best_rows(values, training(dealt), allowed=allowed, higher_is_better=higher_is_better)
    scored = mean_known(held_out(values, dealt, picks))
    both = np.isfinite(scored) & np.isfinite(values[best])
    if not both.any():
        return _Validated(None, None, (), 0)
    mean = float(scored[np.isfinite(scored)].mean())
    gap = float(values[best, both].mean() - scored[both].mean())
    gap = gap if abs(gap) > TIE else 0.0  # rounding is no optimism
    counted = sorted(Counter(picks[picks >= 0].tolist()).items(), key=lambda item: (-item[1], item[0]))
    return _Validated(mean, gap if higher_is_better else -gap, tuple(counted), int(dealt.max()) + 1)


def _by_kind(
    cells: Sequence[Cell],
    values: Floats,
    allowed: Bools,
    kinds: Sequence[str | None] | None,
    bounds: tuple[float, float],
    seed: int,
    higher_is_better: bool,
) -> tuple[tuple[KindChoice, ...], list[str]]:
    """The best cell for each kind of at least `FEW` questions with a value, and the kinds that have fewer."""
    labels = np.array(list(kinds or ()), object)
    found, small = [], []
    for kind in dict.fromkeys(kind for kind in kinds or () if kind is not None):
        part = values[:, labels == kind]
        part = part[:, np.isfinite(part[allowed]).any(axis=0)]
        if part.shape[1] < FEW:
            small.append(f"{kind} ({part.shape[1]})")
            continue
        everything = np.ones((1, part.shape[1]), bool)
        best = int(best_rows(part, everything, allowed=allowed, higher_is_better=higher_is_better)[0])
        others = np.array([i for i in range(len(cells)) if i != best and np.isfinite(part[i]).any()], np.int64)
        ahead = part[best] - part[others]
        p = holm(sign_flip(ahead, draws=draws_for(len(others)), seed=seed))
        if (p <= LEVEL).any():
            p = np.maximum(p, lucky(part, best, seed=seed, higher_is_better=higher_is_better)[others])
        gain = mean_known(ahead.T) if higher_is_better else -mean_known(ahead.T)
        equal = others[~((p <= LEVEL) & (gain > 0))]
        label = (cells[best].system, cells[best].measure, cells[best].k)
        (cell,) = cells_of([label], part[best : best + 1], bounds=bounds, seed=seed)
        found.append(KindChoice(kind, cell.n, cell, tuple(cells[i].name for i in equal.tolist())))
    return tuple(found), small


def _oracle(values: Floats, sign: float) -> float:
    """The mean if the best cell of each question were known beforehand."""
    most = np.where(np.isfinite(values), sign * values, -np.inf).max(axis=0)
    return float(sign * most[np.isfinite(most)].mean())


def _with_sentences(choice: Choice, small: Sequence[str], unequal: Sequence[str], higher_is_better: bool) -> Choice:
    """The choice with itself put into words."""
    told = [_best(choice, higher_is_better), *_expected(choice), *_oracle_told(choice), *_kinds_told(choice, small)]
    if unequal:
        told.append(
            f"Not considered, because they lack a value on more than a tenth of the questions: {_few(unequal)}."
        )
    return replace(choice, sentences=tuple(told))


def _best(choice: Choice, higher_is_better: bool) -> str:
    best, others = choice.best, len(choice.equals) + len(choice.beaten)
    stands = f"{best.name} has the {'highest' if higher_is_better else 'lowest'} {choice.measure}"
    interval = (
        f" [{thousandths(best.low)}, {thousandths(best.high)}]"
        if best.low is not None and best.high is not None
        else ""
    )
    stands += f" ({thousandths(best.mean)}{interval})"
    questions = f"{best.n} question{'' if best.n == 1 else 's'}"
    if not others:
        return f"{stands} with {questions}; it is the only one, so there was nothing to choose."
    same = [pair.a for pair in sorted(choice.equals, key=lambda pair: abs(pair.difference))]
    if not same:
        all_others = "the other" if others == 1 else f"all {others} others"
        return f"{stands}, and with {questions} it can be told apart from {all_others}."
    if len(same) == others and not any(pair.wins or pair.losses for pair in choice.equals):
        return (
            f"On every question all {others + 1} have the same {choice.measure} ({thousandths(best.mean)}{interval}, "
            f"{questions}): {_few([best.name, *same])}."
        )
    if len(same) == others:
        which = "the other" if others == 1 else f"none of the {others} others"
        verb = "cannot be told apart from it" if others == 1 else "can be told apart from it"
        return f"{stands}, but with {questions} {which} {verb}: {_few(same)}."
    return f"{stands}; {len(same)} of {others} others cannot be told apart from it with {questions}: {_few(same)}."


def _expected(choice: Choice) -> list[str]:
    if choice.cross_validated is None or choice.optimism is None:
        return ["There are too few questions to say what to expect on new ones."]
    if not choice.equals and not choice.beaten:
        return []
    expected = f"expect about {thousandths(choice.cross_validated)} on new ones"
    if round(choice.optimism, 3) <= 0:
        return [f"Choosing on these questions does not flatter it measurably: {expected}."]
    return [f"Choosing on these questions flatters it by about {thousandths(choice.optimism)}: {expected}."]


def _oracle_told(choice: Choice) -> list[str]:
    if choice.oracle is None or (not choice.equals and not choice.beaten):
        return []
    return [
        f"If the best setting were known for each single question, the mean would be {thousandths(choice.oracle)}: "
        "no way of choosing by question can do better."
    ]


def _kinds_told(choice: Choice, small: Sequence[str]) -> list[str]:
    told = []
    others = len(choice.equals) + len(choice.beaten)
    differs = [kind for kind in choice.by_kind if choice.best.name not in (kind.best.name, *kind.equals)]
    if differs:
        which = ", ".join(f"{kind.kind} ({kind.best.name}, {kind.n} questions)" for kind in differs)
        told.append(f"For these kinds of question another can be told apart from it and is better: {which}.")
    elif choice.by_kind and others:
        told.append("For no kind of question can another be shown to be better than it.")
    silent = [f"{kind.kind} ({kind.n})" for kind in choice.by_kind if others * 2.0 ** (1 - kind.n) > LEVEL]
    if silent:
        told.append(
            f"So few questions that among {others + 1} no difference could be shown, however large: {_few(silent)}."
        )
    if small:
        told.append(f"Fewer than {FEW} questions with a value, so that nothing is chosen: {_few(small)}.")
    return told


def _few(names: Sequence[str]) -> str:
    left = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {left} more" if left > 0 else "")


def _end(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
