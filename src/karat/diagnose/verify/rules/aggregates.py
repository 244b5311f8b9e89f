"""Aggregates: printed means, spreads and counts against the values of the rows they are said to summarise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from karat.core.text.words import plural
from karat.diagnose.contradictions import harmonic
from karat.diagnose.verify.names import SURE_COUNTS, Labels, keys, measure_of, spelled
from karat.diagnose.verify.printed import PrintedFigure
from karat.diagnose.verify.rows import Bools, Chosen, Floats, MeasureValues, QuestionRows
from karat.diagnose.verify.rules.significance import check_test
from karat.results.verification import Figure

IN_WORDS = {
    "50%": "the median", "max": "the maximum", "std": "the standard deviation", "sem": "the standard error",
    "var": "the variance", "mean": "the mean",
}  # fmt: skip
INTERVAL = 1.96  # standard errors in half of a 95% interval
ROUNDED = 0.56  # of the last digit: 5/9 is how far rounding again and again moves a figure, as .5445, .545, .55, .6
TELLING = 3  # decimals from which a figure that another column or statistic gives is not so by chance
NO_CAUSE = "no cause was found: the figure is not of these rows, or was changed."

Explanation = tuple[str, str]  # cause and detail


def check_aggregates(
    rows: QuestionRows,
    figures: Sequence[PrintedFigure],
    computed: Mapping[str, MeasureValues],
    wrong: Sequence[Figure] = (),
) -> Iterator[Figure]:
    """Each printed figure beside what its rows give. `computed` holds values that were worked out from rankings.

    A figure that follows from rows that are `wrong` themselves is worth a look.
    """
    counts = {(one.labels, one.name): one for one in figures if one.statistic == "n"}
    chosen = _unambiguous({one.labels: rows.choose(one.labels) for one in figures})
    settings = _settings(figures, {labels: int(one.mask.sum()) for labels, one in chosen.items()})
    values = {name: _values(rows, name, computed) for name in dict.fromkeys(one.name for one in figures if one.name)}
    wrong_in: dict[str, list[Figure]] = defaultdict(list)
    for figure in wrong:
        wrong_in[figure.name].append(figure)
    for one in figures:
        if one.heading in settings:
            yield one.figure("unchecked", f"read as a setting: {one.heading} is the number of no system's rows.")
            continue
        count = counts.get((one.labels, one.name), counts.get((one.labels, "")))
        figure = _checked(rows, one, chosen[one.labels], values.get(one.name), count)
        if figure.verdict == "ok" and figure.recomputed is not None and one.name:
            systems = {rows.systems[i] for i in np.flatnonzero(chosen[one.labels].mask)}
            faults = [fault for fault in wrong_in[rows.column_of(one.name) or ""] if fault.where in systems]
            if faults:
                apart, size = sum(fault.apart for fault in faults), sum(fault.cells for fault in faults)
                verb = "is" if apart == 1 else "are"
                why = f"it follows from its rows, but {apart} of its {size} rows {verb} wrong."
                figure = replace(figure, verdict="suspect", cause=faults[0].cause, why=why)
        yield figure


def _settings(figures: Sequence[PrintedFigure], sizes: Mapping[Labels, int]) -> set[str]:
    """Headings of counts, as n_queries, that no row count agrees with and that are the same in every line."""
    counts: dict[str, list[PrintedFigure]] = {}
    for one in figures:
        if one.heading and spelled(one.heading) not in SURE_COUNTS:
            counts.setdefault(one.heading, []).append(one)
    return {
        heading for heading, some in counts.items()
        if len({one.value for one in some}) == 1 and not any(one.value == sizes[one.labels] for one in some)
    }  # fmt: skip


def _unambiguous(chosen: dict[Labels, Chosen]) -> dict[Labels, Chosen]:
    """The same, without those labels that choose the rows of others because the rows do not know them."""
    many = Counter(one.mask.tobytes() for one in chosen.values() if not one.problem)
    return {
        labels: replace(one, problem=f"the rows do not say which of them are {one.strange!r}")
        if one.strange and not one.problem and many[one.mask.tobytes()] > 1
        else one
        for labels, one in chosen.items()
    }


def _checked(
    rows: QuestionRows, one: PrintedFigure, chosen: Chosen, values: MeasureValues | None, count: PrintedFigure | None
) -> Figure:
    if one.statistic in ("F", "t", "p"):
        return check_test(rows, one)
    if one.statistic in ("low", "high"):
        return one.figure("unchecked", "an interval: how it was drawn is not known.")
    if chosen.problem:
        return one.figure("unchecked", f"{chosen.problem}.")
    if one.statistic == "n":
        return _count(rows, one, chosen.mask)
    if values is None:
        return one.figure("unchecked", "the rows have no such column, and nothing to compute it from.")
    if not np.isfinite(values.own[chosen.mask]).any():
        return one.figure("unchecked", "none of its rows has a value.")
    return Summarised(rows=rows, printed=one, mask=chosen.mask, values=values, count=count).checked()


def _values(rows: QuestionRows, name: str, computed: Mapping[str, MeasureValues]) -> MeasureValues | None:
    """What the rows hold under a name: a column, what rankings give, or what counts of gold and hits do."""
    measure = measure_of(name, rows.k)
    column = rows.column_of(name)
    held = computed.get(column or "") or (computed.get(measure.name) if measure is not None else None)
    if column is not None:
        own = MeasureValues(rows.values(column), half=rows.half(column))
        return own if held is None else replace(own, suppose=lambda: held.mistakes, ranked=held.own)
    if held is None and measure is not None and measure.name in ("AnyGold", "AllGold"):
        correct, gold = rows.column_of("correct_docs_count"), rows.column_of("gold_docs_count")
        if correct is not None and gold is not None:
            hits, wanted = rows.values(correct), rows.values(gold)
            return MeasureValues((hits > 0 if measure.name == "AnyGold" else hits >= wanted).astype(float))
    return held


def statistic_of(values: Floats, statistic: str) -> float:
    """A statistic of the values that are there; NaN where there are too few."""
    known = values[np.isfinite(values)]
    is_spread = statistic in ("std", "var", "sem")
    if len(known) < 1 + is_spread:
        return float("nan")
    if statistic.endswith("%"):
        return float(np.percentile(known, int(statistic[:-1])))
    if is_spread:
        variance = known.var(ddof=1) / (len(known) if statistic == "sem" else 1)
        return float(variance if statistic == "var" else np.sqrt(variance))
    return float(getattr(known, statistic)())


@dataclass(frozen=True, kw_only=True)
class Summarised:
    """A printed statistic beside the rows that it summarises, and the number of questions printed with it."""

    rows: QuestionRows
    printed: PrintedFigure
    mask: Bools
    values: MeasureValues
    count: PrintedFigure | None

    @cached_property
    def own(self) -> Floats:
        """The values of its rows."""
        return self.values.own[self.mask]

    @cached_property
    def recomputed(self) -> float:
        return statistic_of(self.own, self.printed.statistic)

    def agrees(self, value: float) -> bool:
        """Whether a value, which rounded rows may have moved, is what is printed."""
        return self.printed.number.agrees(value, self.values.half)

    def gives(self, values: Floats) -> bool:
        """Whether the statistic of other values is what is printed; a deviation may divide by n."""
        several = self.printed.statistic == "std" and int(np.isfinite(values).sum()) > 1
        value = statistic_of(values, self.printed.statistic)
        return self.agrees(value) or (several and self.agrees(float(np.nanstd(values))))

    def checked(self) -> Figure:
        """Ok, or a mismatch with the first mistake that gives what is printed."""
        one, value = self.printed, self.recomputed
        if not np.isfinite(value):
            return one.figure("unchecked", "one value has no spread.")
        if self.agrees(value):
            shrank = self._shrank()
            if shrank:
                return one.figure("suspect", shrank, cause="n shrank", recomputed=value)
            return one.figure("ok", cause="percent" if one.percent else "", recomputed=value)
        cause = next(self._other_ways(), "")
        if cause:
            return one.figure("ok", cause=cause, recomputed=value)
        cause, detail = next(self._explanations(), ("", NO_CAUSE))
        return one.figure("mismatch", detail, cause=cause, recomputed=value)

    def _shrank(self) -> str:
        """How a mean left out rows without saying so."""
        size, known = len(self.own), np.isfinite(self.values.own)
        left = int(known[self.mask].sum())
        if self.printed.statistic != "mean" or left == size:
            return ""
        if self.count is None and self.rows.failed[self.mask & ~known].any():
            return f"n shrank from {size} to {left}, and the table does not say so"
        if self.count is not None and self.count.value == size:
            return f"n shrank from {size} to {left}, and the table says {size}"
        return ""

    def _other_ways(self) -> Iterator[str]:
        """Ways of printing the same that are no mistake."""
        number, value, half = self.printed.number, self.recomputed, self.values.half
        known = self.own[np.isfinite(self.own)]
        if number.agrees(100 * value, 100 * half) or number.scaled(100).agrees(value, half):
            yield "percent"
        if self.printed.statistic == "std" and len(known) > 1 and self.agrees(float(known.std())):
            yield "ddof"
        if self.printed.signed and any(self.agrees(times * statistic_of(known, "sem")) for times in (1, INTERVAL)):
            yield "standard error"
        if number.truncates(value):
            yield "cut off"

    def _explanations(self) -> Iterator[Explanation]:
        """Mistakes that give the printed figure, the likeliest first."""
        printed, measure = self.printed, measure_of(self.printed.name, self.rows.k)
        name = "" if measure is None else measure.spec.name
        for cause, detail, values in self._mistaken(name):
            if self.gives(values):
                yield cause, detail
        if measure is not None and name == "F1" and printed.statistic == "mean":
            columns = [self.rows.column_of(measure.name.replace("F1", part, 1)) for part in ("Precision", "Recall")]
            means = [float(np.nanmean(self.rows.values(c)[self.mask])) for c in columns if c is not None]
            if len(means) == 2 and printed.number.agrees(harmonic(*means)):
                yield "F1 of means", ""
        if printed.number.decimals >= TELLING:
            yield from self._elsewhere()
        if abs(printed.value - self.recomputed) <= ROUNDED * 10.0**-printed.number.decimals + self.values.half:
            yield "rounding", ""

    def _mistaken(self, measure: str) -> Iterator[tuple[str, str, Floats]]:
        """Values that mistakes put in place of its own; those that leave them as they are give nothing new."""
        rows, own, size = self.rows, self.own, len(self.own)
        known = np.isfinite(own)
        yield from ((cause, "", values[self.mask]) for cause, values in self.values.mistakes)
        missing = f"{plural(int((~known).sum()), 'row')} of {size}"
        yield "missing scored 0", missing, np.where(known, own, 0.0)
        yield "default of .5", f"{missing} without a value", np.where(known, own, 0.5)
        if measure == "Recall":
            yield "hit rate", "", np.where(known, own > 0, np.nan)
        first = {rows.ids[row]: place for place, row in reversed(list(enumerate(np.flatnonzero(self.mask))))}
        again = f"the rows hold {plural(size - len(first), 'row')} of a question that stood before"
        yield "repeated rows", again, own[sorted(first.values())]
        subsets = {reason: mask[self.mask] for reason, mask in rows.left_out.items()} | {"are 0": own != 0}
        if self.count is not None:
            head = np.arange(size) < self.count.value
            subsets |= {"come last": head, "come first": head[::-1]}
        for reason, mask in subsets.items():
            left = int(mask.sum())
            detail = f"n shrank from {size} to {left}, as {size - left} rows that {reason} were left out"
            yield "n shrank", detail, own[mask]
        failed = (rows.failed | rows.unanswered)[self.mask]
        yield "failures scored 0", plural(int(failed.sum()), "row"), np.where(failed, 0.0, own)
        if self.values.ranked is not None:
            detail = "it follows from the rankings of the rows, but not from the values printed beside them"
            yield "other statistic", detail, self.values.ranked[self.mask]

    def _elsewhere(self) -> Iterator[Explanation]:
        """The figure of another statistic, column or system."""
        rows, column = self.rows, self.rows.column_of(self.printed.name)
        for statistic, words in IN_WORDS.items():
            if statistic != self.printed.statistic and self.printed.number.agrees(statistic_of(self.own, statistic)):
                yield "other statistic", f"it is {words}"
        for other in rows.measured:
            if other != column and self.gives(rows.values(other)[self.mask]):
                yield "other column", f"{other} gives it"
        for system, places in rows.by_system.items() if column is not None else ():
            if not self.mask[places].any() and self.gives(rows.values(column or "")[places]):
                yield "other system", f"{system or 'other rows'} gives it"


def _count(rows: QuestionRows, one: PrintedFigure, mask: Bools) -> Figure:
    """A printed number of questions."""
    total, n = int(mask.sum()), one.value
    column = rows.column_of(one.name) if one.name else None
    filled = {int(np.isfinite(rows.values(c)[mask]).sum()) for c in ([column] if column else rows.measured)}
    if one.name and column is None and any(keys(c, rows.k) & keys(one.name, rows.k) for c in rows.table.columns):
        filled = {0}  # a column without a single number
    if n == total and (column is None or total in filled or not filled):
        return one.figure("ok", recomputed=total)
    if n in filled:
        detail = f"n shrank from {total} to {int(n)}, as {plural(total - int(n), 'row')} have no value"
        return one.figure("ok", detail, cause="n shrank", recomputed=n)
    distinct = len({rows.ids[i] for i in np.flatnonzero(mask)})
    if n == distinct:
        why = f"{total} rows are of {distinct} questions."
        return replace(one.figure("ok", why, recomputed=distinct), cause="repeated rows")
    if n > total:
        return one.figure("mismatch", f"the rows are {total}.", recomputed=total)
    reasons = (reason for reason, remaining in rows.left_out.items() if int((mask & remaining).sum()) == n)
    reason = next(reasons, "")
    more = f", as {total - int(n)} rows that {reason} were left out" if reason else ""
    return one.figure("mismatch", f"n shrank from {total} to {n:g}{more}", cause="n shrank", recomputed=total)
