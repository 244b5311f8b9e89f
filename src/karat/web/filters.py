"""Filters: which questions are shown, as the parameters of a page's address and of the API say it alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite

from karat.core.errors import UsageError, did_you_mean

"""What stands for questions without a kind, or without a tag, as in slices."""
MOST_PARAMETERS, LONGEST = 200, 2_000
_SIDES = ("any", "a", "b")
_STATUSES = ("ok", "undefined", "failed")
_ORDERS = ("up", "down")
_LISTS = {"kind": "kinds", "system": "systems", "measure": "measures", "failure": "failures"}
_ONE = ("text", "min", "max", "a", "b", "differ", "side", "labelled", "disagree", "status", "sort", "order", "open")
FILTERS = (*_LISTS, *_ONE, "tag.NAME")


@dataclass(frozen=True, kw_only=True)
class Filters:
    """The questions of a run that are shown, and how.

    The first of `systems` and `measures` are those that failures, `low`, `high` and `status` speak of. `differ` is how
    far b - a is from 0 at least, to the side of b (above it), of a (below it), or any.
    """

    text: str = ""
    kinds: tuple[str, ...] = ()
    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    systems: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    a: str | None = None
    b: str | None = None
    differ: float | None = None
    side: str = "any"
    labelled: bool | None = None
    disagree: bool | None = None
    status: str | None = None
    sort: str = "number"
    order: str = "up"
    open: str = field(default="", compare=False)

    def known_to(self, systems: Collection[str], measures: Collection[str]) -> Filters:
        """The same with systems and measures chosen where none is; refuses those that the run does not have."""
        pairs = [name for name in (self.a, self.b) if name is not None]
        for noun, asked, known in (
            ("system", [*self.systems, *pairs], systems),
            ("measure", self.measures, measures),
        ):
            for name in asked:
                if name not in known:
                    some = ", ".join(list(known)[:12])
                    near = did_you_mean(name, known)
                    raise UsageError(f"this run has no {noun} {name!r:.100}.{near} It has {some}.")
        if (self.a is None) != (self.b is None):
            raise UsageError("a difference is between two systems: give both a and b.")
        if (self.differ is not None or self.sort == "difference") and self.a is None:
            raise UsageError("a difference is between two systems: give both a and b.")
        return self

    @property
    def is_half_a_pair(self) -> bool:
        """Whether a difference is asked for, and a system of it is not chosen yet."""
        asked = self.differ is not None or self.sort == "difference" or self.a is not None or self.b is not None
        return asked and (self.a is None or self.b is None)

    def without_pair(self) -> Filters:
        """The same without what says something of a difference."""
        bare = replace(self, a=None, b=None, differ=None, side="any")
        return replace(bare, sort="number", order="up") if self.sort == "difference" else bare


def filters_of(pairs: Sequence[tuple[str, str]], beside: Collection[str] = ()) -> tuple[Filters, list[str]]:
    """What the parameters of an address say, and those that say nothing here; `beside` are read by others."""
    if len(pairs) > MOST_PARAMETERS:
        raise UsageError(f"the address has {len(pairs):,} parameters, and {MOST_PARAMETERS} is the most.")
    lists: dict[str, list[str]] = {name: [] for name in _LISTS.values()}
    tags: dict[str, list[str]] = {}
    one: dict[str, str] = {}
    unknown: list[str] = []
    for name, value in pairs:
        if len(value) > LONGEST and name != "open":  # an id is as long as it is
            raise UsageError(f"{name:.40}: {len(value):,} characters, and {LONGEST:,} is the most.")
        if name in _LISTS:
            lists[_LISTS[name]].append(value)
        elif name.startswith("tag.") and len(name) > len("tag."):
            tags.setdefault(name.removeprefix("tag."), []).append(value)
        elif name in _ONE:
            if name in one:
                raise UsageError(f"{name} stands twice. Give it once.")
            one[name] = value
        elif name not in beside:
            unknown.append(name)
    differ = _number("differ", one.get("differ"))
    filters = Filters(
        text=one.get("text", "").strip(),
        kinds=_once(lists["kinds"]),
        systems=_once(lists["systems"]),
        measures=_once(lists["measures"]),
        failures=_once(lists["failures"]),
        tags=tuple((name, _once(values)) for name, values in sorted(tags.items())),
        low=_number("min", one.get("min")),
        high=_number("max", one.get("max")),
        a=one.get("a") or None,
        b=one.get("b") or None,
        differ=abs(differ) if differ is not None else None,
        side=_choice("side", one.get("side"), _SIDES) or "any",
        labelled=_answer("labelled", one.get("labelled")),
        disagree=_answer("disagree", one.get("disagree")),
        status=_choice("status", one.get("status"), _STATUSES),
        sort=one.get("sort") or "number",
        order=_choice("order", one.get("order"), _ORDERS) or "up",
        open=one.get("open", ""),
    )
    return filters, unknown


def _once(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _answer(name: str, text: str | None) -> bool | None:
    word = _choice(name, text, ("yes", "no"))
    return None if word is None else word == "yes"


def refuse_unknown(names: Iterable[str], known: Collection[str] = FILTERS) -> None:
    """Refuse parameters that would do nothing."""
    for name in names:
        if name not in known:
            raise UsageError(f"there is no parameter {name!r:.60}.{did_you_mean(name, known)}")


def whole_number(name: str, text: str | None, default: int, most: int) -> int:
    """A count that a parameter gives."""
    if text is None or text == "":
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 12 or int(text) > most:
        raise UsageError(f"{name}={text!r:.30}: write a whole number from 0 to {most:,}.")
    return int(text)


def _number(name: str, text: str | None) -> float | None:
    if text is None or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise UsageError(f"{name}={text!r:.30}: write a number.")
    return value


def _choice(name: str, text: str | None, choices: Sequence[str]) -> str | None:
    if text is None or text == "":
        return None
    if text not in choices:
        raise UsageError(f"{name}={text!r:.30}: write {', '.join(choices)}.")
    return text
