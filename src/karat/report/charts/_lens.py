"""Lens: what the charts show of a study, and the sentences that say so."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from karat.core.scores import Status
from karat.core.text.words import clean, digits_of, ends, figure
from karat.report.charts._style import tips
from karat.report.lookups import StudyView
from karat.results.decisions import ANSWER, UNCUT

if TYPE_CHECKING:
    import altair as alt

    from karat.core.measure import Measure
    from karat.results.study import Study

BARS = (12, 18)  # so many best systems, and so many with the named ones: where each has a row of its own
LINES = (5, 7)  # where they share a panel
ORDER = ("F1", "Precision", "Recall", "MRR", "Hit", "nDCG", "MAP")
LABEL = 40
INTERVALS = "the 95% interval of the mean"


class Lens(StudyView):
    """Lookups over a study: systems with labels that fit, best first, and the measures that matter."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self.scores = study.evaluation.scores
        self.questions = len(self.scores.questions)

    @cached_property
    def best(self) -> str | None:
        """The chosen system, else the first by the main measure that has a value of it."""
        choice = self.study.choice
        if choice is not None and choice.best.system in self.systems:
            return choice.best.system
        return next((s for s in self.by_mean if self.mean(s, self.main) is not None), None)

    def _named(self, system: str) -> bool:
        """Whether it is more than one point of a sweep: it is described, or no alpha was tried in it."""
        known = self.configuration_of.get(system)
        return known is not None and bool(known.description or known.use_case or known.alpha is None)

    def shown(self, limits: tuple[int, int]) -> list[str]:
        """The systems a chart has room for: all, or the best and then those with a name of their own; best first."""
        few, most = limits
        if len(self.by_mean) <= most:
            return list(self.by_mean)
        chosen = self.by_mean[:few]
        if self.best is not None and self.best not in chosen:
            chosen = [self.best, *chosen[:-1]]
        named = [s for s in self.by_mean if s not in chosen and self._named(s)]
        wanted = {*chosen, *named[: most - few]}
        return [s for s in self.by_mean if s in wanted]

    def left_out(self, systems: Sequence[str]) -> str:
        """A sentence on the systems that are not shown, where there are any."""
        total = len(self.by_mean)
        if len(systems) == total:
            return ""
        best = 0
        while best < len(systems) and systems[best] == self.by_mean[best]:
            best += 1
        by = self.main.name if self.main else "the main measure"
        more = len(systems) - best
        named = f" and {more} more with a name of {'its' if more == 1 else 'their'} own" if more else ""
        return f"Shown: the {best} best of {total} systems by {by}{named}; the tables hold all."

    @cached_property
    def labels(self) -> dict[str, str]:
        """A label per system that fits beside a chart; no two alike."""
        return distinct(self.systems, LABEL)

    def wrapped(self, system: str, width: int = 22) -> str:
        """The label on two lines where it is long."""
        return wrap(self.labels[system], width)

    def domain(self, systems: Iterable[str]) -> list[str]:
        return [self.wrapped(s) for s in systems]

    def main_measures(self, most: int, *, bounded: bool = False, retrieval: bool = False) -> list[Measure]:
        """The main measure, then one of each well-known kind, at the study's cut where there is one.

        `bounded` leaves out what does not lie between 0 and 1 or is not better when higher.
        """
        kinds: dict[str, list[Measure]] = {}
        for measure in self.scores.measures:
            kinds.setdefault(measure.spec.name, []).append(measure)
        known = [name for name in (*ORDER, *ANSWER) if name in kinds]
        rest = [name for name in kinds if name not in known]
        picked = [self._at_cut(kinds[name]) for name in (*known, *rest)]
        if self.main is not None:
            picked = [self.main, *(m for m in picked if m.spec.name != self.main.spec.name)]
        return [
            m
            for m in picked
            if m.spec.direction != "none"
            and (not bounded or (m.bounds == (0.0, 1.0) and m.spec.direction == "higher"))
            and (not retrieval or m.spec.stage == "retrieval")
            and any(self.mean(s, m) is not None for s in self.systems)
        ][:most]

    def _at_cut(self, family: Sequence[Measure]) -> Measure:
        """The plainest measure of a kind: without parameters, MRR and MAP uncut, the others at the study's cut."""

        def far(measure: Measure) -> tuple[int, float]:
            uncut = measure.k is None and measure.tokens is None
            if measure.spec.name in UNCUT or measure.spec.stage == "answer":
                return len(measure.given), 0 if uncut else 1
            return len(measure.given), abs(measure.k - self.study.k) if measure.k is not None else 1e6

        return min(family, key=far)

    def cell(
        self, system: str, measure: Measure, slice_name: str | None = None, value: str | None = None
    ) -> dict[str, Any]:
        """A row of data: the mean with its interval, in numbers to draw and in text to read. No value is None."""
        summary = self.summary(system, measure, slice_name, value)
        mean = None if summary is None else finite(summary.mean)
        low, high = (None, None) if summary is None or mean is None else (finite(summary.low), finite(summary.high))
        unit, digits = measure.spec.unit, digits_of(low, high)
        return {
            "system": self.wrapped(system),
            "name": clean(system, 120),
            "measure": clean(measure.name),
            "mean": mean,
            "low": low,
            "high": high,
            "said": figure(mean, unit, digits),
            "interval": ends(low, high, unit, digits) or "none",
            "n": 0 if summary is None else summary.n,
        }

    def top(self, measures: Iterable[Measure], systems: Sequence[str]) -> float:
        """The upper end of a common scale from 0: the next tenth above everything drawn."""
        rows = [self.cell(s, m) for m in measures for s in systems]
        most = max((end for row in rows for end in (row["mean"], row["high"]) if end is not None), default=1.0)
        return min(1.0, max(0.1, math.ceil(most * 10 - 1e-9) / 10))

    def counted(self, measures: Sequence[Measure], systems: Sequence[str]) -> str:
        """How many questions stand behind the means, and what is left out of them."""
        summaries = [s for m in measures for s in self.row(m) if s.system in systems]
        sizes = [s.n for s in summaries] or [0]
        few, many = min(sizes), max(sizes)
        n = f"n = {many:,} question{'s' if many != 1 else ''}" if few == many else f"n = {few:,} to {many:,} questions"
        out = []
        for what, most in (
            ("undefined", max((s.n_undefined for s in summaries), default=0)),
            ("failed", max((s.n_failed for s in summaries), default=0)),
        ):
            if most:
                out.append(f"{'up to ' if few != many else ''}{most:,} {what}")
        return n + (f" ({' and '.join(out)} left out, not counted as 0)" if out else "")

    def gaps(self, measures: Sequence[Measure], systems: Sequence[str]) -> str:
        """A sentence on means that do not exist, where there are any."""
        empty = [(s, m) for s in systems for m in measures if self.mean(s, m) is None]
        if not empty:
            return ""
        whole = [s for s in systems if all((s, m) in empty for m in measures)]
        if whole:
            names = ", ".join(self.labels[s] for s in whole[:3]) + (f" and {len(whole) - 3} more" if whole[3:] else "")
            return f"No value, shown as a gap: {names} (every question failed or is undefined)."
        first = f"{empty[0][1].name} of {self.labels[empty[0][0]]}"
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        return f"No value, shown as a gap: {first}{more}."

    def subtitle(self, words: str, measures: Sequence[Measure], systems: Sequence[str]) -> list[str]:
        """How many questions stand behind a chart and how to read it, what is left out, and what has no value."""
        return [
            f"{self.counted(measures, systems)}. {words}", self.left_out(systems), self.gaps(measures, systems),
        ]  # fmt: skip

    def per_question(self, system: str, measure: Measure) -> list[float | None]:
        """The value of each question; None where it has none."""
        s, m = self.scores.systems.index(system), self.scores.measures.index(measure)
        usable = self.status[s, :, m] == Status.ok
        return [float(v) if ok else None for v, ok in zip(self.scores.values[s, :, m], usable, strict=True)]


def finite(value: float | None) -> float | None:
    """The number in six digits, or None where there is none."""
    return None if value is None or not math.isfinite(value) else round(float(value), 6)


def shortened(text: str, limit: int) -> str:
    """One line of at most so many characters; what tells long names apart often stands at their end, so that stays.

    >>> shortened("hybrid-minilm-l6-weighted-alpha-0.7", 20)
    'hybrid-minil…pha-0.7'
    """
    line = clean(text) or "(no name)"
    if len(line) <= limit:
        return line
    tail = (limit - 1) * 2 // 5
    return f"{line[: limit - 1 - tail]}…{line[-tail:]}"


def distinct(names: Iterable[str], limit: int) -> dict[str, str]:
    """Each name shortened, no two alike: long ones by where they part, and numbered if that is cut off too.

    >>> sorted(distinct(["hybrid-of-many-legs-0.3-depth-100-chunk-512", "hybrid-of-many-legs-0.7-depth-100-chunk-512"], 24).values())
    ['hybrid-…0.3-depth-100-c…', 'hybrid-…0.7-depth-100-c…']
    """  # noqa: E501
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(shortened(name, limit), []).append(name)
    labels: dict[str, str] = {}
    for label, group in alike.items():
        if len(group) == 1:
            labels[group[0]] = label
            continue
        lines = [clean(name) for name in group]
        shared = next((i for i, column in enumerate(zip(*lines, strict=False)) if len(set(column)) > 1), 0)
        start = max((m.end() for m in re.finditer(r"[\s_\-/,;:+]", lines[0][:shared])), default=shared)
        head = min(start, limit // 3 - 1)
        for name, line in zip(group, lines, strict=True):
            room = limit - head - 1
            rest = line[start:]
            labels[name] = f"{line[:head]}…{rest if len(rest) <= room else rest[: room - 1] + '…'}"
    taken: set[str] = set()
    for name, label in labels.items():
        number = 1
        while labels[name] in taken:
            number += 1
            labels[name] = f"{label[: limit - 5]} ({number})"
        taken.add(labels[name])
    return labels


def wrap(label: str, width: int) -> str:
    """A label on up to two lines, broken after a separator near its middle.

    >>> wrap("dense_heavy_hybrid_with_rrf", 16)
    'dense_heavy_\\nhybrid_with_rrf'
    """
    if len(label) <= width:
        return label
    breaks = [m.end() for m in re.finditer(r"[\s_\-/,;:+]+", label) if 0 < m.end() < len(label)]
    middle = len(label) / 2
    at = min(breaks, key=lambda i: abs(i - middle), default=0)
    if not width * 0.3 <= at <= len(label) - 2:
        at = math.ceil(middle)
    return f"{label[:at]}\n{label[at:]}"


def mean_tips(**more: str) -> list[alt.Tooltip]:
    """What the pointer is told over a row of `Lens.cell`."""
    return tips(name="system", measure="measure", said="mean", interval="95% interval", n="questions", **more)
