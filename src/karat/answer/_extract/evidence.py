"""How far each unit of the contexts answers a question: numbers from 0 to 1, one column a feature."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.answer._extract.question import Wanted
    from karat.answer._extract.reading import Unit

    Floats = NDArray[np.float64]
    Similar = Callable[[str, Sequence[str]], Floats]  # cosines of a question with texts


@dataclass(frozen=True)
class Evidence:
    """The units of all contexts, in order, and what speaks for each.

    `words` is the share of the question's weight that stands in the unit, `headed` the share that stands only in the
    headings above it, `similar` the cosine of question and unit with its heading (0 without an embedder), `rank` 1 for
    units of the first context, 1/2 for those of the second.
    """

    units: list[Unit]
    contexts: list[int]  # the number of the context of each unit
    words: Floats
    headed: Floats
    similar: Floats
    rank: Floats
    weights: dict[str, float]  # of the question's stems
    held: float  # share of the question's weight that stands anywhere in the contexts


def searched(unit: Unit) -> str:
    """The text of a unit as it is embedded."""
    return f"{unit.heading} {unit.text}"


def evidence_of(wanted: Wanted, contexts: Sequence[Sequence[Unit]], similar: Similar | None) -> Evidence:
    """What speaks for every unit."""
    units = [unit for context in contexts for unit in context]
    numbers = [number for number, context in enumerate(contexts) for _ in context]
    weights = _weights(wanted, units)
    weight = np.array(list(weights.values()))
    total = float(weight.sum()) or 1.0
    shape = (len(units), len(weights))
    held = np.array([[stem in unit.stems for stem in weights] for unit in units], bool).reshape(shape)
    above = np.array([[stem in unit.heading_stems for stem in weights] for unit in units], bool).reshape(shape)
    return Evidence(
        units,
        numbers,
        held @ weight / total,
        (above & ~held) @ weight / total,
        similar(wanted.text, [searched(unit) for unit in units]) if similar and units else np.zeros(len(units)),
        1.0 / (1.0 + np.array(numbers, np.float64)),
        weights,
        float((held | above).any(axis=0) @ weight) / total,
    )


def _weights(wanted: Wanted, units: Sequence[Unit]) -> dict[str, float]:
    """What each stem of the question weighs: the rarer among the units, the more."""
    seen = {stem: sum(stem in unit.stems for unit in units) for stem in wanted.stems}
    return {stem: math.log(1 + (len(units) + 1) / (number + 1)) for stem, number in seen.items()}
