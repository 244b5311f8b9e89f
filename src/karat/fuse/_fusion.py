"""What a fusion is: it says what each leg contributes to each hit; the sum of that is the hit's score."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.core.ranked import Ranked
from karat.core.registry import Registry, instance_of
from karat.fuse._legs import Legs

if TYPE_CHECKING:
    from karat.core.ranked import Floats, Ints


@dataclass(frozen=True)
class Contributions:
    """What a fusion makes of the legs' hits: tables with a row a leg and a column a hit, as in `Legs`.

    `normalised` is what it makes of a leg's score or rank alone, `contribution` what of that enters the sum.
    """

    normalised: Floats
    contribution: Floats

    @classmethod
    def weighted(cls, table: Floats, weights: Floats | None) -> Contributions:
        """A table of which each leg contributes by its weight; without weights it is what they contribute."""
        with np.errstate(over="ignore"):
            return cls(table, table if weights is None else table * weights[:, None])


@dataclass(frozen=True)
class FusedParts:
    """How each fused score came about: tables with a row a leg and a column for each hit of `ranked`, in its order.

    A hit that a leg did not find has rank 0 and score nan there; so has every hit in a leg that was not consulted.
    """

    ranked: Ranked
    rank: Ints
    score: Floats
    normalised: Floats
    contribution: Floats


@dataclass(frozen=True)
class Fusion:
    """A way of fusing. `contribute(legs, *, setting=default, ...)` says what each leg contributes to each hit.

    Its keyword-only parameters are the settings. Where one is called `weights` (None: the legs weigh the same), the
    weights are checked here and legs of weight 0 are left out before `contribute` sees them: they are not consulted.
    """

    name: str
    summary: str
    contribute: Callable[..., Contributions]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Every setting with its default."""
        parameters = inspect.signature(self.contribute).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    def fuse(self, legs: Sequence[Ranked] | Legs, **settings: Any) -> Ranked:
        """One ranking of every hit that a consulted leg found; the caller cuts it."""
        consulted, contributed, _ = self._consult(legs, settings)
        return consulted.fused(contributed.contribution)[0]

    def parts(self, legs: Sequence[Ranked] | Legs, **settings: Any) -> FusedParts:
        """The same ranking with what it was made from."""
        consulted, contributed, chosen = self._consult(legs, settings)
        ranked, order = consulted.fused(contributed.contribution)
        rank = np.zeros((len(legs), len(order)), np.int64)
        score = np.full((len(legs), len(order)), np.nan)
        normalised, contribution = np.zeros_like(score), np.zeros_like(score)
        rank[chosen], score[chosen] = consulted.rank[:, order], consulted.scores[:, order]
        normalised[chosen], contribution[chosen] = (
            contributed.normalised[:, order],
            contributed.contribution[:, order],
        )
        return FusedParts(ranked, rank, score, normalised, contribution)

    def _consult(
        self, legs: Sequence[Ranked] | Legs, settings: dict[str, Any]
    ) -> tuple[Legs, Contributions, list[int]]:
        """The legs that are consulted, what they contribute, and their numbers."""
        for name in settings:
            if name not in self.settings:
                known = f"It takes {', '.join(self.settings)}." if self.settings else "It takes none."
                raise UsageError(f"{self.name} has no setting {name!r}.{did_you_mean(name, self.settings)} {known}")
        laid = legs if isinstance(legs, Legs) else Legs(legs)
        chosen = list(range(len(laid)))
        if settings.get("weights") is not None:
            weights = _weights(self.name, settings["weights"], len(laid))
            chosen = np.flatnonzero(weights).tolist()
            laid = laid.only(chosen)
            settings = {**settings, "weights": weights[chosen]}
        return laid, self.contribute(laid, **settings), chosen


def _weights(fusion: str, weights: Any, legs: int) -> Floats:
    """One weight a leg, checked."""
    try:
        numbers = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(())
    if numbers.shape != (legs,):
        raise UsageError(f"{fusion}: the weights {weights!r} for {legs} legs. Give one number for each leg.")
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not numbers.any():
        shown = ", ".join(f"{weight:g}" for weight in numbers)
        raise UsageError(f"{fusion}: the weights {shown}. Give finite numbers of 0 or more, at least one above 0.")
    return numbers


FUSIONS: Registry[Fusion] = Registry("fusion", ("karat.fuse",), "karat.fusions", instance_of(Fusion, "fusion"))
