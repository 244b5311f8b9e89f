"""Grid: the configurations of a sweep, each once, read from what a person writes: `0:1:0.1`, `3,5,7`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any, TypeVar

from karat.core.errors import UsageError
from karat.results.study import Configuration
from karat.systems.settings import DEPTH, HYBRID, SystemSettings

_T = TypeVar("_T", str, float)
Values = str | float | Iterable[float]
LIMIT = 100_000  # configurations of one sweep
ALPHA = "0:1:0.1"
CUTS = "3,5,7,10,15"
_DIGITS = 6  # of a setting: names show as many


@dataclass(frozen=True)
class Point:
    """One configuration of a grid: its name and how it retrieves.

    `alpha` is 1 for the first leg alone and 0 for the other alone; None where legs are not weighed.
    """

    name: str
    system: SystemSettings
    alpha: float | None = None

    def configuration(self, chunk: str | None = None, embedder: str | None = None) -> Configuration:
        """The same as a study holds it: only settings that have a meaning for it."""
        values = self.system.described
        values |= {"alpha": self.alpha} if self.alpha is not None else {}
        values |= {"chunk": chunk} if chunk is not None else {}
        values |= {"embedder": embedder} if embedder is not None else {}
        return Configuration(self.name, values)


@dataclass(frozen=True)
class Grid:
    """What is swept: every combination that is a ranking of its own, at every cut-off of `k`.

    `alpha` and `normalise` multiply only the weighted fusion, `rrf_k` only rrf. At alpha 1 or 0 one leg is left: it is
    that engine, whatever the normalisation and depth. `engines` are swept beside the fusions. `chunk` and `embedder`
    stand for indexes of their own. Made by `Grid.of`, which reads ranges and says in `notes` what it dropped.
    """

    alpha: tuple[float, ...] = tuple(i / 10 for i in range(11))
    k: tuple[int, ...] = (3, 5, 7, 10, 15)
    fusion: tuple[str, ...] = ("weighted",)
    normalise: tuple[str, ...] = (SystemSettings.normalise,)
    rrf_k: tuple[float, ...] = (float(SystemSettings.rrf_k),)
    depth: tuple[int, ...] = (DEPTH,)
    legs: tuple[str, ...] = ("dense", "bm25")
    engines: tuple[str, ...] = ()
    rewrite: tuple[str, ...] = ()
    chunk: tuple[str, ...] = ()
    embedder: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        *,
        alpha: Values = ALPHA,
        k: Values = CUTS,
        fusion: str | Iterable[str] = "weighted",
        normalise: str | Iterable[str] = SystemSettings.normalise,
        rrf_k: Values = SystemSettings.rrf_k,
        depth: Values = DEPTH,
        legs: str | Iterable[str] = "dense,bm25",
        engines: str | Iterable[str] = (),
        rewrite: Iterable[str] = (),
        chunk: str | Iterable[str] = (),
        embedder: str | Iterable[str] = (),
    ) -> Grid:
        """A grid from ranges (`0:1:0.1`, both ends included), lists (`3,5,7`), numbers or sequences of them."""
        notes: list[str] = []
        grid = cls(
            alpha=_numbers("alpha", alpha, notes),
            k=_whole("k", k, notes),
            fusion=_names("fusion", fusion, notes),
            normalise=_names("normalise", normalise, notes),
            rrf_k=_numbers("rrf_k", rrf_k, notes),
            depth=_whole("depth", depth, notes),
            legs=_names("legs", legs, notes),
            engines=_names("engines", engines, notes, empty=True),
            rewrite=tuple(rewrite),
            chunk=_names("chunk", chunk, notes, empty=True),
            embedder=_names("embedder", embedder, notes, empty=True),
        )
        return replace(grid, notes=tuple(notes))

    def __post_init__(self) -> None:
        for name in ("alpha", "k", "normalise", "rrf_k", "depth"):
            if not getattr(self, name):
                raise UsageError(f"{name}: nothing to sweep. Give one value or more.")
        if not self.fusion and not self.engines:
            raise UsageError("neither a fusion nor an engine is named: there is nothing to sweep.")
        for alpha in self.alpha:
            if isinstance(alpha, bool) or not 0 <= alpha <= 1:
                raise UsageError(
                    f"alpha={alpha:g} is not between 0 (sparse only) and 1 (dense only). Sweep it as {ALPHA}."
                )
        for name, least in (("k", 1), ("depth", 1)):
            for value in getattr(self, name):
                if isinstance(value, bool) or not isinstance(value, int) or value < least:
                    what = "a cut-off" if name == "k" else "what each engine gives"
                    raise UsageError(f"{name}={value}: {what} is a whole number of 1 or more.")
        if self.count > LIMIT:
            raise UsageError(
                f"the grid has {self.count:,} configurations, more than the {LIMIT:,} that one sweep holds. Take "
                "larger steps, or sweep one setting after the other."
            )
        for system in {(s.engine, s.fusion, s.normalise, s.rrf_k): s for s, _ in self._systems(1)}.values():
            system.check()

    @property
    def count(self) -> int:
        """Configurations before equal ones are dropped, cut-offs apart."""
        inner, ends = len([a for a in self.alpha if 0 < a < 1]), len([a for a in self.alpha if a in (0, 1)])
        configurations = len(self.engines)
        for fusion in self.fusion:
            if fusion == "weighted":
                configurations += inner * len(self.normalise) * len(self.depth) + ends
            else:
                configurations += len(self.depth) * (len(self.rrf_k) if fusion == "rrf" else 1)
        return configurations * max(1, len(self.chunk)) * max(1, len(self.embedder))

    def points(self, length: int) -> tuple[tuple[Point, ...], tuple[str, ...]]:
        """Every configuration once, for lists of `length` hits, and what was dropped.

        A leg gives at least as many hits as the list is long, as in `System.search`.
        """
        notes = []
        short = [d for d in self.depth if d < length]
        if short:
            shown = ", ".join(map(str, short))
            notes.append(f"depth {shown}: lists are {length} long, so each engine gives {length} hits; all are fused.")
        alpha_of: dict[SystemSettings, float | None] = {}
        for system, alpha in self._systems(length):
            alpha_of.setdefault(system, alpha)
        depths = {s.depth for s in alpha_of if s.engine == HYBRID}
        return tuple(Point(self._name(s, depths), s, alpha) for s, alpha in alpha_of.items()), tuple(notes)

    def _systems(self, length: int) -> Iterator[tuple[SystemSettings, float | None]]:
        """Settings and alpha of each configuration, equal ones again and again."""
        depths = tuple(dict.fromkeys(max(depth, length) for depth in self.depth))
        base = SystemSettings(legs=self.legs, rewrite=self.rewrite)
        for fusion in self.fusion:
            if fusion == "weighted":
                for depth, normalise, alpha in product(depths, self.normalise, self.alpha):
                    if alpha in (0, 1) and len(self.legs) == 2:
                        yield self._single(self.legs[1 - int(alpha)], max(depths))
                    else:
                        chosen = replace(base, fusion=fusion, depth=depth, normalise=normalise, alpha=alpha)
                        yield chosen, alpha
            else:
                for depth, rrf_k in product(depths, self.rrf_k if fusion == "rrf" else (SystemSettings.rrf_k,)):
                    yield replace(base, fusion=fusion, depth=depth, rrf_k=rrf_k), None
        for engine in self.engines:
            yield self._single(engine, max(depths))

    def _single(self, engine: str, depth: int) -> tuple[SystemSettings, float | None]:
        """One engine alone; as a leg it is the end of the sweep over alpha."""
        alpha = {self.legs[0]: 1.0, self.legs[-1]: 0.0}.get(engine) if len(self.legs) == 2 else None
        return SystemSettings(engine, legs=self.legs, depth=depth, rewrite=self.rewrite), alpha

    def _name(self, system: SystemSettings, depths: set[int]) -> str:
        name = system.name
        if (
            system.engine == HYBRID
            and system.fusion == "rrf"
            and (len(self.rrf_k) > 1 or system.rrf_k != SystemSettings.rrf_k)
        ):
            name += f" rrf_k={system.rrf_k:g}"
        return name + (f" depth={system.depth}" if system.engine == HYBRID and len(depths) > 1 else "")


def _names(what: str, given: str | Iterable[str], notes: list[str], *, empty: bool = False) -> tuple[str, ...]:
    """Names of a list, each once."""
    texts = given.split(",") if isinstance(given, str) else list(given)
    names = [text.strip() for text in texts]
    if not all(names) or (not names and not empty):
        if isinstance(given, str) and not given.strip() and empty:
            return ()
        raise UsageError(f"{what}: an empty name in {given!r}. Write them with commas: a,b.")
    return _once(what, names, notes)


def _whole(what: str, given: Values, notes: list[str]) -> tuple[int, ...]:
    values = _numbers(what, given, notes)
    for value in values:
        if value != int(value):
            raise UsageError(f"{what}={value:g} is not a whole number.")
    return tuple(map(int, values))


def _numbers(what: str, given: Values, notes: list[str]) -> tuple[float, ...]:
    """Numbers of ranges and lists, each once, in the order given; sums of steps are exact."""
    parts: Sequence[Any] = given.split(",") if isinstance(given, str) else [given] if _is_number(given) else list(given)  # type: ignore[arg-type]
    numbers: list[Decimal] = []
    for part in parts:
        text = str(part).strip()
        if not text:
            raise UsageError(f"{what}: an empty value in {given!r}. Write numbers like 3,5,7 or a range like 0:1:0.1.")
        numbers.extend(_range(what, text, notes) if ":" in text else [_decimal(what, text)])
        if len(numbers) > LIMIT:
            raise UsageError(f"{what}: {given!r} are more than {LIMIT:,} values. Take larger steps.")
    rounded = [round(value, _DIGITS) for value in numbers]
    if rounded != numbers:
        notes.append(f"{what}: taken to {_DIGITS} decimals.")
    return _once(what, [float(value) for value in rounded], notes)


def _range(what: str, text: str, notes: list[str]) -> list[Decimal]:
    """`start:end:step`, or `start:end` in steps of 1; the end is included where a step reaches it."""
    pieces = text.split(":")
    if len(pieces) not in (2, 3) or not all(piece.strip() for piece in pieces):
        raise UsageError(f"{what}: {text!r} is no range. Write start:end:step, for example {ALPHA}.")
    start, end, step = (_decimal(what, piece) for piece in (*pieces, "1")[:3])
    if step <= 0:
        raise UsageError(f"{what}: the step of {text!r} must be above 0.")
    if end < start:
        raise UsageError(f"{what}: the range {text!r} runs backwards. Write the smaller end first.")
    steps = (end - start) / step
    if steps >= LIMIT:
        raise UsageError(f"{what}: {text!r} are more than {LIMIT:,} values. Take larger steps.")
    values = [start + i * step for i in range(int(steps) + 1)]
    if values[-1] != end:
        notes.append(f"{what}: {text} ends at {float(values[-1]):g}, as its steps do not reach {float(end):g}.")
    return values


def _decimal(what: str, text: str) -> Decimal:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or not math.isfinite(float(value)) or abs(value) > 10**9:
        raise UsageError(f"{what}: {text.strip()!r} is no number. Write numbers like 3,5,7 or a range like 0:1:0.1.")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _once(what: str, values: Sequence[_T], notes: list[str]) -> tuple[_T, ...]:
    """The values without repeats, which are noted."""
    distinct = tuple(dict.fromkeys(values))
    if len(distinct) < len(values):
        twice = [value for value, many in Counter(values).items() if many > 1]
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in twice)
        notes.append(f"{what}: {shown} was given more than once and is swept once.")
    return distinct
