"""Settings: how hits are matched, what is computed, which test decides; each built from what one call says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from karat.core.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from karat.core.judged import Repeats
    from karat.core.ranked import Ties
    from karat.match import Pages
    from karat.measures.dialects import Missing
    from karat.results.evaluation import Matching
    from karat.stats.compare import Test
    from karat.stats.corrections import Correction

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """How hits are matched with the gold.

    `match` names a matcher (None: as the dialect has it), `repeats` how hits that hold the same unit count, `rel` the
    grade from which a unit is relevant, `ties` how scores are compared, `collection` how many documents were searched
    (for AQWV). `page_offset` is added to the page numbers of hits, `pages` says which numbers the gold means. A system
    that found no gold at all is refused unless `allow_zero_overlap`. `try_all` tells what every other matcher would
    find.
    """

    match: str | None = None
    repeats: Repeats | None = None
    rel: int = 1
    ties: Ties = "float32"
    page_offset: int = 0
    pages: Pages = "physical"
    collection: int | None = None
    allow_zero_overlap: bool = False
    try_all: bool = False

    def __post_init__(self) -> None:
        _check_among("repeats", self.repeats, (None, "once", "collapse", "count"))
        _check_among("ties", self.ties, ("float32", "double"))
        _check_among("pages", self.pages, ("physical", "printed"))
        for name, least in (("rel", None), ("page_offset", None), ("collection", 1)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or (least is not None and value < least)):
                raise UsageError(
                    f"{name}={value!r}: give a whole number{f' of {least} or more' if least is not None else ''}."
                )
        if self.rel < 1:
            raise UsageError(f"rel={self.rel} would call judged-irrelevant documents relevant. Use 1 or more.")
        if self.match not in (None, "auto"):
            from karat.match import MATCHERS

            MATCHERS.get(self.match.partition(":")[0])


@dataclass(frozen=True, kw_only=True)
class SignificanceTest:
    """What decides whether two systems differ: the test, the correction over all pairs, and the draws by a seed.

    `draws` None: as many as the number of tests asks for.
    """

    test: Test = "permutation"
    correction: Correction = "holm"
    draws: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        from karat.stats.compare import TESTS
        from karat.stats.corrections import CORRECTIONS

        for option, value, known in (("test", self.test, TESTS), ("correction", self.correction, CORRECTIONS)):
            if value not in known:
                raise UsageError(f"--{option} {value}: there are {', '.join(known)}.{did_you_mean(str(value), known)}")
        if self.draws is not None and self.draws < 1:
            raise UsageError(f"--draws {self.draws}: a test needs 1 or more.")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed}: name 0 or more.")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How to score, beside what."""

    measures: tuple[str, ...] = ()
    dialect: str = "karat"
    matching: MatchSettings = field(default_factory=MatchSettings)
    missing: Missing | None = None
    by: tuple[str, ...] = ()
    k: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    bands: bool = False  # whether bands, targets and error classes of all dialects are shown
    seed: int = 0

    def __post_init__(self) -> None:
        from karat.measures.dialects import dialect_named

        dialect_named(self.dialect)
        _check_among("missing", self.missing, (None, "zero", "skip"))
        if self.k is not None and self.k < 1:
            raise UsageError(f"k={self.k}: a cut-off is 1 or more.")


def _check_among(name: str, value: str | None, known: tuple[str | None, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name}={value!r} is not one of {', '.join(one for one in known if one)}.")


def settings_of(kind: type[_T], given: Any) -> _T:
    """Settings of a kind as a call gives them: as they are, a dict of them, the first of them alone, or none."""
    if isinstance(given, kind):
        return given
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    if not (given is None or isinstance(given, str | Mapping)):
        raise UsageError(f"{given!r} is no {kind.__name__}. Give text, or a dict with {', '.join(names)}.")
    values = {} if given is None else dict(given) if isinstance(given, Mapping) else {names[0]: given}
    for name in values:
        if name not in names:
            offered = f"There are {', '.join(names)}."
            raise UsageError(f"{kind.__name__} has no {name!r}.{did_you_mean(str(name), names)} {offered}")
    return kind(**values)


def texts_of(value: str | Iterable[str] | None) -> tuple[str, ...]:
    """One text or several."""
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def takes_settings(**homes: type) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A keyword that the function does not take is refused: with what to write instead, or what there is.

    `homes` are the parameters that hold settings of a kind: one of those given as a keyword of the function belongs
    there.
    """
    home_of = {one.name: home for home, kind in homes.items() for one in fields(kind)}

    def decorated(function: Callable[_P, _T]) -> Callable[_P, _T]:
        known = inspect.signature(function).parameters

        @wraps(function)
        def called(*given: _P.args, **named: _P.kwargs) -> _T:
            for name, value in named.items():
                if name in known:
                    continue
                remedy = f"{did_you_mean(name, known)} Leave it out; there are {', '.join(known)}."
                if name in home_of:
                    remedy = f" Write {home_of[name]}={{{name!r}: {value!r}}}."
                raise UsageError(f"{function.__name__}() takes no {name}=.{remedy}")
            return function(*given, **named)

        return called

    return decorated


_SCORED_BY = ("rel", "pages", "page_offset")  # with dialect, repeats and matcher: what a measure's meaning depends on


def settings_apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """What differs in two results of `scored_by`; nothing where they are alike."""
    names = dict.fromkeys((*one, *other))
    return ", ".join(f"{n} {one.get(n)} and {other.get(n)}" for n in names if one.get(n) != other.get(n))


def scored_by(manifest: Mapping[str, Any], matching: Matching | None) -> dict[str, Any]:
    """What the meaning of a run's measures depends on."""
    from karat.measures.dialects import dialect_named

    spec = manifest.get("spec", {})
    dialect = spec.get("dialect") or "karat"
    repeats = spec.get("repeats") or dialect_named(dialect).repeats
    matcher = matching.matcher if matching is not None else spec.get("match")
    return {"dialect": dialect, "repeats": repeats, "matcher": matcher, **{name: spec.get(name) for name in _SCORED_BY}}
