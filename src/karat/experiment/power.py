"""Power: what a test set can tell about systems like those of a run, and how many questions a difference takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import NoOverlapError, UsageError
from karat.core.text.words import conversations_note, plural
from karat.experiment._compared_inputs import ScoredSystem, compared_inputs, named, score_arrays
from karat.experiment._paired import judge_noise, range_notes
from karat.experiment.settings import texts_of
from karat.results.comparison import ComparedMeasure, JudgeNoise, PairSpread, Power
from karat.results.evaluation import InputInfo, Note
from karat.stats.arrays import TIE, Bools, Floats, grouped
from karat.stats.power import detectable, effective_spread, needed, worst_spread

if TYPE_CHECKING:
    from karat.core.types import TestSet


SHOWN = 6


def power(
    testset: Any,
    *inputs: Any,
    difference: float | None = None,
    measures: str | Iterable[str] | None = None,
    level: float = 0.05,
    power: float = 0.8,
    comparisons: int = 1,
    lower: str | Iterable[str] | None = None,
    columns: Mapping[str, str] | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
) -> Power:
    """The smallest difference that the questions of a test set can tell, and how many a given difference takes.

    The spread of differences is that seen between the systems of the `inputs` (runs or score tables), pair by pair; of
    one system it is bounded by that of its scores, as if another had nothing in common with it; without any, by the
    largest that scores from 0 to 1 can have. `comparisons` divides the level, as a correction over so many tests would.
    """
    from karat.experiment.compare import chosen_measures
    from karat.files import as_testset

    _check(difference, level, power, comparisons)
    questions, taken = as_testset(testset, columns=columns or {})
    if len(questions) < 2:
        raise UsageError(f"{questions.name} has {len(questions)} question: nothing can be told from fewer than two.")
    settings = {"level": level / comparisons, "power": power}
    turns = _turn_notes(questions)
    if not inputs:
        worst = worst_spread(questions.conversations)
        basis = "no run: the largest spread that scores from 0 to 1 can have"
        basis += "" if questions.conversations is None else ", all turns of a conversation alike"
        worst_case = _spread(
            ComparedMeasure("any measure"), basis, 0, 0, [worst], len(questions), difference, settings, None
        )
        note = Note("info", "Name a run, and what is seen between its systems takes the place of the worst case.")
        return Power(
            testset=questions.name,
            questions=len(questions),
            run=None,
            measures=(worst_case,),
            level=level,
            power=power,
            comparisons=comparisons,
            difference=difference,
            taken=(taken,),
            noise=(),
            notes=(note, *turns),
        )
    sources = compared_inputs(inputs, runs_dir=runs_dir, lower=texts_of(lower), columns=columns)
    systems = named(sources)
    chosen, notes = chosen_measures(sources, texts_of(measures), most=SHOWN)
    _refuse_strangers(questions.ids, questions.name, systems, sources[0].place)
    every_value, _ = score_arrays(systems, questions.ids, chosen)
    chosen, past = range_notes(every_value, [system.name for system in systems], questions.ids, chosen)
    notes += [*past, *turns]
    noise = judge_noise(systems, chosen)
    spreads = []
    for measure, values in zip(chosen, every_value, strict=True):
        spread, spread_notes = _measured(measure, values, systems, questions, noise, difference, settings)
        notes += spread_notes
        spreads += [spread] if spread is not None else []
    notes += _undefined(spreads, len(questions)) + _unseen(systems, questions.ids)
    places = ", ".join(source.place for source in sources)
    every: tuple[InputInfo, ...] = (taken, *(one for source in sources for one in source.taken))
    return Power(
        testset=questions.name,
        questions=len(questions),
        run=places,
        measures=tuple(spreads),
        level=level,
        power=power,
        comparisons=comparisons,
        difference=difference,
        taken=every,
        noise=tuple(noise.values()),
        notes=tuple(notes),
    )


def _check(difference: float | None, level: float, power: float, comparisons: int) -> None:
    if difference is not None and not 0 < difference < np.inf:
        raise UsageError(f"--difference {difference:g}: name a difference above 0, such as 0.03.")
    for option, value in (("--level", level), ("--at-power", power)):
        if not 0 < value < 1:
            raise UsageError(f"{option} {value:g}: name a share between 0 and 1.")
    if comparisons < 1:
        raise UsageError(f"--comparisons {comparisons}: there is 1 or more.")


def _refuse_strangers(ids: Sequence[str], name: str, systems: Sequence[ScoredSystem], place: str) -> None:
    asked = set(ids)
    if not any(question in asked for system in systems for question in system.questions):
        raise NoOverlapError(f"no question of {name} is in {place}. Name a run of this test set, or leave the run out.")


def _measured(
    measure: ComparedMeasure,
    values: Floats,
    systems: Sequence[ScoredSystem],
    testset: TestSet,
    noise: Mapping[tuple[str, str], JudgeNoise],
    difference: float | None,
    settings: Mapping[str, float],
) -> tuple[PairSpread | None, list[Note]]:
    """The spreads between all pairs by a measure, and what they mean for as many questions as can have a value."""
    known, ids, groups = np.isfinite(values), testset.ids, grouped(testset.conversations)
    asked = known.any(axis=0)
    never = int((~asked & _seen(systems, ids)).sum())
    questions = len(ids) - never
    pairs = list(combinations(range(len(systems)), 2))
    if pairs:
        every = [(effective_spread(values[b] - values[a], groups), a, b) for a, b in pairs]
        seen = [(spread, a, b) for spread, a, b in every if spread is not None]
        basis = f"{len(pairs)} pair{'s' if len(pairs) > 1 else ''} of systems"
    else:
        own = effective_spread(values[0], groups)
        seen = [] if own is None else [(own * 2**0.5, 0, 0)]
        basis = "one system: twice the variance of its scores, as if another had nothing in common with it"
    if not seen or questions < 2:
        return None, [Note("warning", f"{measure.name} has fewer than two values, so nothing can be said of it.")]
    notes = []
    ordered = sorted(one for one in seen if one[0] > TIE) or seen
    if len(ordered) < len(seen):
        same = plural(len(seen) - len(ordered), "pair")
        notes.append(Note("info", f"Left out: {same} of systems with the same {measure.name} on every question."))
    spreads = [spread for spread, _, _ in ordered]
    middle, a, b = ordered[(len(ordered) - 1) // 2]
    if middle == 0:
        notes.append(Note("warning", f"{measure.name} does not differ between the systems on any question."))
    of_judge = [noise.get((systems[i].name, measure.name)) for i in ((a, b) if pairs else (a, a))]
    variance = sum(one.variance for one in of_judge if one is not None) if any(of_judge) else None
    n = int(known.all(axis=0).sum())
    return _spread(measure, basis, len(pairs), n, spreads, questions, difference, settings, variance), notes


def _turn_notes(testset: TestSet) -> list[Note]:
    text = conversations_note(testset.conversations)
    how = "Spreads are those of as many independent questions with the same standard error."
    return [Note("info", f"{text} {how}")] if text else []


def _undefined(spreads: Sequence[PairSpread], questions: int) -> list[Note]:
    """Which measures count fewer questions than there are."""
    fewer = [one for one in spreads if one.questions < questions]
    if not fewer:
        return []
    counts = ", ".join(f"{one.measure} on {questions - one.questions:,}" for one in fewer)
    alike = len(fewer) == len(spreads) and len({one.questions for one in fewer}) == 1
    text = f"All are undefined on {questions - fewer[0].questions:,}" if alike else f"Undefined are {counts}"
    return [Note("info", f"{text} of the questions, which do not count.")]


def _unseen(systems: Sequence[ScoredSystem], ids: Sequence[str]) -> list[Note]:
    left = int((~_seen(systems, ids)).sum())
    text = f"{left:,} of {len(ids):,} questions are not in the run, and are taken to be like those that are."
    return [Note("info", text)] if left else []


def _spread(
    measure: ComparedMeasure,
    source: str,
    pairs: int,
    n: int,
    spreads: Sequence[float],
    questions: int,
    difference: float | None,
    settings: Mapping[str, float],
    judge: float | None,
) -> PairSpread:
    most = None if measure.low is None or measure.high is None else measure.high - measure.low
    middle = spreads[(len(spreads) - 1) // 2]
    several = len(spreads) > 1

    def least(spread: float) -> float:
        return detectable(spread, questions, most=most, **settings)

    def takes(spread: float) -> int | None:
        return None if difference is None else needed(spread, difference, **settings)

    share = None if judge is None or not middle else min(1.0, judge / middle**2)
    return PairSpread(
        measure=measure.name,
        source=source,
        pairs=pairs,
        n=n,
        questions=questions,
        least=spreads[0] if several else None,
        middle=middle,
        most=spreads[-1] if several else None,
        detectable=least(middle),
        detectable_least=least(spreads[0]) if several else None,
        detectable_most=least(spreads[-1]) if several else None,
        needed=takes(middle),
        needed_least=takes(spreads[0]) if several else None,
        needed_most=takes(spreads[-1]) if several else None,
        judge=share,
        without_judge=None if share is None else least(middle * (1 - share) ** 0.5),
    )


def _seen(systems: Sequence[ScoredSystem], ids: Sequence[str]) -> Bools:
    held = {question for system in systems for question in system.questions}
    return np.array([question in held for question in ids])
