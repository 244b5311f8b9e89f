"""Contenders run in turn, so that what disturbs one disturbs all; medians and ratios of wall-clock seconds."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median


def race(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
    of_rounds: Callable[[list[float]], float] = median,
) -> dict[str, float]:
    """Seconds of each contender over interleaved rounds, after one that is not counted; the median, unless said."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, contender in contenders.items():
            gc.collect()
            start = clock()
            result = contender()
            took = clock() - start
            del result
            if number:
                seconds[name].append(took)
    return {name: of_rounds(times) for name, times in seconds.items()}


def verdict(label: str, ours: float, theirs: float, goal: float) -> str:
    """One line: the ratio against its goal."""
    ratio = theirs / ours
    mark = "ok  " if ratio >= goal else "MISS"
    return f"{mark} {label:<58} {ours:9.4f} s  {theirs:9.4f} s  {ratio:7.1f}x  (goal {goal:g}x)"
