"""Named measures: which scores of a run a name means, as people write it in a file or an option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.core.errors import UsageError, did_you_mean
from karat.core.language import parse
from karat.core.registry import key_of
from karat.core.text.words import names

if TYPE_CHECKING:
    from karat.core.measure import Measure

FEW = 5  # names shown in a sentence


def find_measure(name: str, measures: Sequence[Measure]) -> int | None:
    """The one measure that a name means: as it is written in the run, or the only one that goes by it."""
    numbers = find_measures(name, measures)
    exact = [number for number in numbers if _is_spelled(name, measures[number])]
    if len(numbers) > 1 and not exact:
        raise _ambiguous(name, numbers, measures)
    return (exact or numbers or (None,))[0]


def find_measures(name: str, measures: Sequence[Measure], chosen: Sequence[int] = ()) -> tuple[int, ...]:
    """Every measure that a name means: a plain name all that differ in how they are computed, not in their values.

    What people say of Faithfulness holds for a judge and for its heuristic alike. A cut-off or another range makes
    another thing of a measure: then the name as it is written counts, or what is `chosen`, or it is refused.
    """
    same = [number for number, measure in enumerate(measures) if _goes_by(name, measure)]
    same = [number for number in same if number in chosen] or same
    if len({_kind(measures[number]) for number in same}) < 2:
        return tuple(same)
    exact = [number for number in same if _is_spelled(name, measures[number])]
    if not exact:
        raise _ambiguous(name, same, measures)
    return tuple(number for number in same if _kind(measures[number]) == _kind(measures[exact[0]]))


def need_measure(name: str, measures: Sequence[Measure], option: str) -> int:
    """The measure that an option names; one that the run does not have is refused."""
    number = find_measure(name, measures)
    if number is None:
        raise UsageError(f"{option} {name}: the run has no scores by this measure. {others(name, measures)}")
    return number


def others(name: str, measures: Sequence[Measure]) -> str:
    """What a measure that the run does not have may be meant to be, and what it has."""
    return f"{did_you_mean(name, spellings(measures))} It has {names([m.name for m in measures], FEW)}.".strip()


def spellings(measures: Sequence[Measure]) -> list[str]:
    """The names that measures go by, in full and plain."""
    return list(dict.fromkeys(spelled for measure in measures for spelled in (measure.name, measure.spec.name)))


def _goes_by(name: str, measure: Measure) -> bool:
    if _is_spelled(name, measure):
        return True
    try:
        wanted = parse(name)
    except UsageError:
        return key_of(measure.spec.name) == key_of(name)
    if measure.name == wanted.name:
        return True
    is_plain = not wanted.given and wanted.k is None and wanted.tokens is None
    return is_plain and measure.spec.name == wanted.spec.name


def _is_spelled(name: str, measure: Measure) -> bool:
    return key_of(measure.name) == key_of(name)


def _kind(measure: Measure) -> tuple[object, ...]:
    """What tells measures of one name apart for people: the cut-off and the range."""
    return measure.k, measure.tokens, measure.bounds


def _ambiguous(name: str, numbers: Sequence[int], measures: Sequence[Measure]) -> UsageError:
    shown = names([measures[number].name for number in numbers], FEW)
    return UsageError(f"{name!r} may mean {len(numbers)} measures of this run: {shown}. Write the full name of one.")
