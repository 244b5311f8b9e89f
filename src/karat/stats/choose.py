"""Choose: the best of many cells, with what keeps it from being taken for more than it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.words import estimate, names, not_different, number, plural, probability
from karat.results.comparison import Pair
from karat.results.study import Cell, Choice, KindChoice
from karat.stats.corrections import holm
from karat.stats.folds import FOLDS, REPEATS, best_rows, deal, full_enough, held_out, mean_known, training
from karat.stats.intervals import mean_intervals
from karat.stats.luck import lucky
from karat.stats.pairs import LEVEL, draws_for, pairs
from karat.stats.permutation import TIE, sign_flip

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
) -> tuple[Cell, ...]:
    """The cells of (system, measure, k) by their rows of `values`, of measures that lie within `bounds`.

    What is not finite is no value.
    """
    if values.shape[0] != len(labels):
        raise ValueError(f"{len(labels)} cells for {values.shape[0]} rows of values")
    mean, n = mean_known(values.T), np.isfinite(values).sum(axis=1)
    nothing = np.full(len(labels), np.nan)
    low, high = mean_intervals(values, bounds) if intervals else (nothing, nothing)
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
    that lacks more than a tenth of the questions is never the best: its mean is over other questions. Where it is
    better on those that both have, that is said. In the pairs the best is b: the difference is how far it is ahead.
    Their adjusted p is Holm's, or the chance that the best of equal cells leads by as much where that is higher: the
    best was picked for its lead. `ids` of the questions make p and interval of a pair those of `karat compare`.
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
    systems = [cell.system for cell in cells]
    others = [i for i in range(len(cells)) if i != best and n[i]]
    found = pairs(
        measure, systems, values, [(i, best) for i in others], ids=ids, seed=seed, higher_is_better=higher_is_better
    )
    chance = lucky(values, best, seed=seed, higher_is_better=higher_is_better)
    sign = 1.0 if higher_is_better else -1.0
    ahead: list[Pair] = []
    equals: list[Pair] = []
    beaten: list[Pair] = []
    for i, pair in zip(others, found, strict=True):
        gain = sign * (pair.difference or 0.0)
        if not allowed[i] and gain < 0:
            ahead.append(pair)
            continue
        pair = replace(pair, adjusted=max(pair.adjusted, float(chance[i])))
        (beaten if pair.adjusted <= LEVEL and gain > 0 else equals).append(pair)
    validated = _validated(values, best, allowed, kinds, bounds, folds, repeats, seed, higher_is_better)
    by_kind, small = _by_kind(cells, values, allowed, kinds, bounds, seed, higher_is_better)
    choice = Choice(
        measure=measure,
        cells=tuple(cells),
        best=cells[best],
        equals=tuple(equals),
        beaten=tuple(beaten),
        cross_validated=validated.mean,
        optimism=validated.optimism,
        picks={systems[i]: many for i, many in validated.picks},
        folds=validated.folds,
        oracle=_oracle(values, sign),
        by_kind=by_kind,
        expected_low=validated.low,
        expected_high=validated.high,
        higher_is_better=higher_is_better,
        ties=tuple(systems[i] for i in others if allowed[i] and abs(cells[i].mean - cells[best].mean) <= TIE),
        barred=tuple(systems[i] for i in np.flatnonzero(~allowed).tolist()),
        ahead=tuple(ahead),
    )
    return replace(choice, sentences=_sentences(choice, small))


@dataclass(frozen=True)
class _Validated:
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    optimism: float | None = None
    picks: tuple[tuple[int, int], ...] = ()
    folds: int = 0


def _validated(
    values: Floats,
    best: int,
    allowed: Bools,
    kinds: Sequence[str | None] | None,
    bounds: tuple[float, float],
    folds: int,
    repeats: int,
    seed: int,
    higher_is_better: bool,
) -> _Validated:
    """Cells chosen on all folds but one and scored on that one, over questions where any cell has a value."""
    asked = np.flatnonzero(np.isfinite(values[allowed]).any(axis=0))
    if len(asked) < 2:
        return _Validated()
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
        return _Validated()
    mean = float(scored[np.isfinite(scored)].mean())
    gap = float(values[best, both].mean() - scored[both].mean())
    gap = gap if abs(gap) > TIE else 0.0  # rounding is no optimism
    counted = sorted(Counter(picks[picks >= 0].tolist()).items(), key=lambda item: (-item[1], item[0]))
    (low,), (high,) = mean_intervals(scored[None], bounds)
    return _Validated(
        mean, _end(low), _end(high), gap if higher_is_better else -gap, tuple(counted), int(dealt.max()) + 1
    )  # fmt: skip


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
        usable = allowed & np.isfinite(part).any(axis=1)
        others = np.array([i for i in np.flatnonzero(usable) if i != best], np.int64)
        ahead = part[best] - part[others]
        p = holm(sign_flip(ahead, draws=draws_for(len(others)), seed=seed))
        if (p <= LEVEL).any():
            p = np.maximum(p, lucky(part, best, seed=seed, higher_is_better=higher_is_better)[others])
        gain = mean_known(ahead.T) if higher_is_better else -mean_known(ahead.T)
        equal = others[~((p <= LEVEL) & (gain > 0))]
        label = (cells[best].system, cells[best].measure, cells[best].k)
        (cell,) = cells_of([label], part[best : best + 1], bounds=bounds)
        found.append(KindChoice(kind, cell.n, cell, tuple(cells[i].system for i in equal.tolist())))
    return tuple(found), small


def _oracle(values: Floats, sign: float) -> float:
    """The mean if the best cell of each question were known beforehand."""
    most = np.where(np.isfinite(values), sign * values, -np.inf).max(axis=0)
    return float(sign * most[np.isfinite(most)].mean())


def _sentences(choice: Choice, small: Sequence[str]) -> tuple[str, ...]:
    """The choice in words; `small` are the kinds with too few questions to choose for."""
    told = [_verdict(choice), *_expected(choice), *_by_kind_told(choice, small)]
    if choice.oracle is not None and (choice.equals or choice.beaten):
        told.insert(2, f"Oracle (best configuration per question): {number(choice.oracle, 3)}.")
    better = {pair.a for pair in choice.ahead}
    lacking = [name for name in choice.barred if name not in better]
    if lacking:
        told.append(f"Not considered, since more than a tenth of the questions have no value: {names(lacking, NAMED)}.")
    return tuple(told)


def _verdict(choice: Choice) -> str:
    """Which cell is best, how sure that is, and who is ahead of it that cannot be called best."""
    best, others = choice.best, len(choice.equals) + len(choice.beaten)
    end = "highest" if choice.higher_is_better else "lowest"
    stands = f"{best.system} " + (f"ties with {names(choice.ties, NAMED)} for" if choice.ties else "has")
    mean = estimate(best.mean, best.low, best.high)
    stands += f" the {end} {choice.measure} ({mean}, {plural(best.n, 'question')})"
    if choice.ahead:
        stands += " of those with a value on nine tenths of the questions"
    if not others and not choice.ahead:
        return f"{stands}; it is the only one, so there was nothing to choose."
    if choice.equals:
        stands += f"; {not_different(len(choice.equals), others)}"
        if choice.beaten:
            same = sorted(choice.equals, key=lambda pair: abs(pair.difference or 0.0))
            stands += f": {names([pair.a for pair in same], NAMED)}"
    elif choice.beaten:
        stands += f"; significantly better than {'the other' if others == 1 else f'all {others:,} others'}"
    return " ".join([f"{stands}.", *(_ahead(choice, pair) for pair in choice.ahead[:NAMED])])


def _ahead(choice: Choice, pair: Pair) -> str:
    """A cell that is better than the best, and why it is barred from being called so."""
    n = {cell.system: cell.n for cell in choice.cells}
    most = max(n.values())
    sure = f"{'' if pair.adjusted <= LEVEL else 'not significant, '}p {probability(pair.adjusted)}"
    lead = number(abs(pair.difference or 0.0), 3)
    return (
        f"{pair.a} is ahead of it by {lead} on the {plural(pair.n, 'question')} that both "
        f"have ({sure}), but is barred from being best: {most - n[pair.a]:,} of {plural(most, 'question')} have no "
        "value, more than a tenth."
    )


def _expected(choice: Choice) -> list[str]:
    if choice.cross_validated is None or choice.optimism is None:
        return ["There are too few questions to say what to expect on new ones."]
    if not choice.equals and not choice.beaten:
        return []
    expected = f"expect about {estimate(choice.cross_validated, choice.expected_low, choice.expected_high, 2)}"
    measured = round(choice.optimism, 3) > 0
    bias = f"Selection bias about {number(choice.optimism, 3)}" if measured else "No measurable selection bias"
    return [f"{bias}: {expected} on new questions."]


def _by_kind_told(choice: Choice, small: Sequence[str]) -> list[str]:
    told = []
    others = len(choice.equals) + len(choice.beaten)
    differs = [kind for kind in choice.by_kind if choice.best.system not in (kind.best.system, *kind.equals)]
    silent = [f"{kind.kind} ({kind.n})" for kind in choice.by_kind if _silent(others, kind.n)]
    if differs:
        which = ", ".join(f"{kind.kind} ({kind.best.system}, {kind.n} questions)" for kind in differs)
        told.append(f"Another is significantly better for some question types: {which}.")
    elif others and len(silent) < len(choice.by_kind):
        told.append("For no question type is another significantly better.")
    few = f"Too few questions to show any difference between {others + 1} systems"
    if others and _silent(others, choice.best.n):
        told.append(f"{few}.")
    elif silent:
        told.append(f"{few}: {names(silent, NAMED)}.")
    if small:
        told.append(f"Fewer than {FEW} questions with a value, so nothing is chosen: {names(small, NAMED)}.")
    return told


def _silent(others: int, questions: int) -> bool:
    """Whether no difference from so many others could be significant, not even one on every question."""
    return others * 2.0 ** (1 - questions) > LEVEL


def _end(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
