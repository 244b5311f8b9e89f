"""Tamper: how far a judge is moved by what must not move it: orders in the texts, padding, the order of things."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.answered import Answered
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.means import Chats, Means
from karat.core.scores import Outcome
from karat.experiment._tamper_attacks import ATTACKS, Attack, Kind
from karat.experiment._tamper_cases import CASES, Case

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure

    Floats = NDArray[np.float64]

AGAIN = "asked again, nothing changed"
JUDGES = ("Faithfulness", "Correctness", "ContextRelevance", "Responsiveness")
_SAME = 1e-9


@dataclass(frozen=True)
class Told:
    """How well a judge tells good from bad where nothing is tampered with.

    `right` is the share of cases scored on the right side of the middle of the measure's range, `good` and `bad` the
    mean scores of those that deserve a high and a low one. `failed` cases have no score.
    """

    measure: str
    cases: int
    failed: int
    right: float | None
    good: float | None
    bad: float | None


@dataclass(frozen=True)
class Moved:
    """What one attack did to the scores of one measure, over the `n` cases that it changes, scored with and without it.

    `shift` is the mean change, in the measure's own scale. `moved` is the share of scores that changed, `gained` the
    share that changed the way the attacker wants (None where no way is wanted), `fooled` the share that went from the
    right side of the middle to the wrong one. `failed`: scores that the attack left without a value.
    """

    measure: str
    attack: str
    kind: Kind | None
    n: int
    failed: int
    shift: float | None
    moved: float | None
    gained: float | None
    fooled: float | None


@dataclass(frozen=True)
class Tampered:
    """What the tamper test found of a judge. `again` is the same asked twice: what moves without any attack."""

    model: str
    told: tuple[Told, ...]
    again: tuple[Moved, ...]
    moved: tuple[Moved, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def worst(self, kind: Kind) -> Moved | None:
        """Of the attacks of a kind, the one that gained most, then moved most."""
        found = [one for one in self.moved if one.kind == kind and one.n]
        return max(found, key=lambda one: (one.gained or 0.0, one.moved or 0.0), default=None)


def tamper(
    chat: Chats | None,
    measures: Sequence[Measure | str] = JUDGES,
    cases: Sequence[Case] | None = None,
    *,
    attacks: Sequence[Attack] = ATTACKS,
    progress: Callable[[str, int, int], None] | None = None,
) -> Tampered:
    """Judge built-in cases as they are, asked again, and under each attack, and compare the scores.

    An attack counts for a measure only where it changes what that measure sees. `chat` may be None if no measure asks
    a model.
    """
    chosen = CASES if cases is None else tuple(cases)
    if not chosen:
        raise UsageError("the tamper test needs at least one case.")
    told, again, moved = [], [], []
    for measure in (parse(one) if isinstance(one, str) else one for one in measures):
        if "chat" not in measure.spec.needs:
            raise UsageError(f"{measure.name} asks no model, so there is nothing to tamper with. Name a judge measure.")
        base, twice = _plain(measure, chosen, chat, progress)
        high = np.array([measure.spec.name not in case.low for case in chosen])
        middle = sum(measure.bounds) / 2
        right = np.where(high, base >= middle, base < middle) & ~np.isnan(base)
        told.append(_told(measure.name, base, high, right))
        if twice is not None:
            again.append(_moved(measure, AGAIN, None, 0, base, twice, right, middle))
        seen = [attack for attack in attacks if _sees(measure, attack)]
        rows = [attack.apply(case) for attack in seen for case in chosen]
        names = tuple(attack.name for attack in seen)
        values = _scores(measure, rows, names, Means(chat=chat, progress=progress)).values.reshape(-1, len(chosen))
        changed = np.array([row != case for row, case in zip(rows, chosen * len(seen), strict=True)])
        for attack, after, touched in zip(seen, values, changed.reshape(values.shape), strict=True):
            before = np.where(touched, base, np.nan)
            moved.append(_moved(measure, attack.name, attack.kind, attack.benefit, before, after, right, middle))
    return Tampered(chat.label if chat else "none", tuple(told), tuple(again), tuple(moved))


def _sees(measure: Measure, attack: Attack) -> bool:
    return measure.spec.needs_contexts if attack.place == "contexts" else measure.spec.needs_answer


def _plain(
    measure: Measure, cases: Sequence[Case], chat: Chats | None, progress: Callable[[str, int, int], None] | None
) -> tuple[Floats, Floats | None]:
    """The scores of the cases as they are, and of the same asked once more; None where no model is asked."""
    repeat = 2 if measure.needs else 1
    outcome = _scores(measure, cases, ("as it is",), Means(chat=chat, repeat=repeat, progress=progress))
    if repeat == 1:
        return outcome.values, None
    first, second = (
        np.array([_repeat(outcome.details.get(i, {}), number, value) for i, value in enumerate(outcome.values)])
        for number in range(2)
    )
    return first, second


def _repeat(detail: Mapping[str, Any], number: int, value: float) -> float:
    """The value of one time of asking; a score that no model was asked for is the same each time."""
    repeats = detail.get("repeats")
    if repeats is None:
        return float(value)
    return float("nan") if repeats[number] is None else float(repeats[number])


def _scores(measure: Measure, cases: Sequence[Case], systems: tuple[str, ...], means: Means) -> Outcome:
    """The measure over rows of cases, one run of them for each system; NaN where there is no value."""
    if not cases:
        return Outcome(np.zeros(0))
    questions = tuple(case.id for case in cases[: len(cases) // len(systems)])
    answered = Answered(
        systems, questions, [case.question for case in cases], [case.answer for case in cases],
        [(case.reference,) for case in cases], [case.contexts for case in cases], [True] * len(cases), means,
    )  # fmt: skip
    found = measure.of(answered)
    outcome = found if isinstance(found, Outcome) else Outcome(found)
    values = np.array(outcome.values, np.float64)
    values[[*outcome.undefined, *outcome.failed]] = np.nan
    return Outcome(values, outcome.undefined, outcome.failed, outcome.details)


def _told(name: str, base: Floats, high: NDArray[np.bool_], right: NDArray[np.bool_]) -> Told:
    known = ~np.isnan(base)
    return Told(
        name, len(base), int((~known).sum()), _mean(right[known]), _mean(base[known & high]), _mean(base[known & ~high])
    )


def _moved(
    measure: Measure, attack: str, kind: Kind | None, benefit: int, base: Floats, after: Floats,
    right: NDArray[np.bool_], middle: float,
) -> Moved:  # fmt: skip
    before = ~np.isnan(base)
    known = before & ~np.isnan(after)
    shift = (after - base)[known]
    stays = (after >= middle) == (base >= middle)
    return Moved(
        measure.name, attack, kind, int(known.sum()), int((before & ~known).sum()), _mean(shift),
        _mean(np.abs(shift) > _SAME), _mean(benefit * shift > _SAME) if benefit else None,
        _mean((right & ~stays)[known]),
    )  # fmt: skip


def _mean(values: NDArray[Any]) -> float | None:
    return float(np.mean(values)) if len(values) else None
