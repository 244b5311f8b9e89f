"""Aggregates: printed means, spreads and counts against the values of the rows they are said to summarise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.words import plural
from karat.diagnose.verify._causes import because, cause_of
from karat.diagnose.verify.names import SURE_COUNTS, keys, measure_of, spelled
from karat.diagnose.verify.rows import Chosen, Rows, unique_first
from karat.results.verification import Figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.diagnose.verify.figures import Labels, Printed

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

QUANTILES = {"25%": 25, "50%": 50, "75%": 75, "95%": 95}
_SAID = {
    "50%": "the median", "max": "the maximum", "std": "the standard deviation", "sem": "the standard error",
    "var": "the variance", "mean": "the mean",
}  # fmt: skip
INTERVAL = 1.96  # standard errors in half of a 95% interval
ROUNDED = 0.56  # of the last digit: 5/9 is how far rounding again and again moves a figure, as .5445, .545, .55, .6
NOT_RECOMPUTED = {"low": "an interval", "high": "an interval"}


@dataclass(frozen=True)
class Values:
    """The values of one measure over all rows, and those that mistakes would give from the same rows."""

    own: Floats
    suppose: Callable[[], Mapping[str, Floats]] = dict  # asked only where something is wrong
    half: float = 0.0  # how far rounding may have moved each value

    @cached_property
    def others(self) -> Mapping[str, Floats]:
        """Cause -> the values it would give; under "" what rankings give, where `own` is printed in the rows."""
        return self.suppose()


def check_aggregates(
    rows: Rows, figures: Sequence[Printed], computed: Mapping[str, Values], wrong: Sequence[Figure] = ()
) -> list[Figure]:
    """Each printed figure beside what its rows give. `computed` holds values that were worked out from rankings.

    A figure that follows from rows that are `wrong` themselves is worth a look.
    """
    counts = {one.labels: one for one in figures if one.statistic == "n" and not one.name}
    chosen = _told_apart({one.labels: rows.choose(one.labels) for one in figures})
    settings = _settings(figures, {labels: int(one.mask.sum()) for labels, one in chosen.items()})
    flagged = {(figure.where, figure.name): figure for figure in wrong}
    checked = []
    for one in figures:
        if one.heading in settings:
            why = f"read as a setting: {one.heading} is the number of no system's rows"
            checked.append(_unchecked(one, one.name or one.statistic, why))
            continue
        figure = _checked(rows, one, chosen[one.labels], figures, counts.get(one.labels), computed)
        if figure.verdict == "ok" and figure.recomputed is not None and one.name:
            systems = dict.fromkeys(s for s, kept in zip(rows.systems, chosen[one.labels].mask, strict=True) if kept)
            faults = [f for s in systems if (f := flagged.get((s, rows.column_of(one.name) or ""))) is not None]
            if faults:
                figure = replace(figure, verdict="suspect", cause=faults[0].cause, why=_over_wrong_rows(faults))
        checked.append(figure)
    return checked


def _over_wrong_rows(faults: Sequence[Figure]) -> str:
    wrong, rows = sum(f.apart for f in faults), sum(f.cells for f in faults)
    return f"it follows from its rows, but {wrong} of its {rows} rows {'is' if wrong == 1 else 'are'} wrong."


def _settings(figures: Sequence[Printed], sizes: Mapping[Labels, int]) -> set[str]:
    """Headings of counts, as n_queries, that no row count agrees with and that are the same in every line."""
    counts: dict[str, list[Printed]] = {}
    for one in figures:
        if one.heading and spelled(one.heading) not in SURE_COUNTS:
            counts.setdefault(one.heading, []).append(one)
    return {
        heading for heading, some in counts.items()
        if len({one.value for one in some}) == 1 and not any(one.value == sizes[one.labels] for one in some)
    }  # fmt: skip


def _told_apart(chosen: dict[Labels, Chosen]) -> dict[Labels, Chosen]:
    """The same, without those labels that choose the rows of others because the rows do not know them."""
    many = Counter(one.mask.tobytes() for one in chosen.values() if not one.problem)
    return {
        labels: replace(one, problem=f"the rows do not say which of them are {one.strange!r}")
        if one.strange and not one.problem and many[one.mask.tobytes()] > 1
        else one
        for labels, one in chosen.items()
    }


def _checked(
    rows: Rows,
    one: Printed,
    chosen: Chosen,
    figures: Sequence[Printed],
    count: Printed | None,
    computed: Mapping[str, Values],
) -> Figure:
    name = one.name or one.statistic
    if one.statistic in NOT_RECOMPUTED:
        return _unchecked(one, name, f"{NOT_RECOMPUTED[one.statistic]}: how it was drawn is not known")
    if one.statistic in ("F", "t", "p"):
        from karat.diagnose.verify.differences import check_test

        return check_test(rows, one)
    if chosen.problem:
        return _unchecked(one, name, chosen.problem)
    if one.statistic == "n":
        return _count(rows, one, chosen.mask)
    values = _values(rows, one.name, computed)
    if values is None:
        return _unchecked(one, name, "the rows have no such column, and nothing to compute it from")
    if not np.isfinite(values.own[chosen.mask]).any():
        return _unchecked(one, name, "none of its rows has a value")
    return _statistic(rows, one, chosen.mask, values, figures, count)


def _unchecked(one: Printed, name: str, why: str) -> Figure:
    return Figure(one.where, name, one.statistic, "unchecked", one.value, why=f"{why}.")


def _values(rows: Rows, name: str, computed: Mapping[str, Values]) -> Values | None:
    measure = measure_of(name, rows.k)
    column = rows.column_of(name)
    held = computed.get(column or "") or (computed.get(measure.name) if measure is not None else None)
    if column is not None:
        own = rows.values(column)
        half = rows.half(column)
        return Values(own, half=half) if held is None else Values(own, lambda: {**held.others, "": held.own}, half)
    if held is not None:
        return held
    if measure is not None and measure.name in ("AnyGold", "AllGold"):
        correct, gold = rows.column_of("correct_docs_count"), rows.column_of("gold_docs_count")
        if correct is not None and gold is not None:
            found, wanted = rows.values(correct), rows.values(gold)
            return Values((found > 0 if measure.name == "AnyGold" else found >= wanted).astype(float))
    return None


def statistic_of(values: Floats, statistic: str) -> float:
    """A statistic of the values that are there; NaN where there are too few."""
    known = values[np.isfinite(values)]
    if not len(known) or (len(known) < 2 and statistic in ("std", "var", "sem")):
        return float("nan")
    if statistic in QUANTILES:
        return float(np.percentile(known, QUANTILES[statistic]))
    if statistic == "sem":
        return float(known.std(ddof=1) / np.sqrt(len(known)))
    if statistic in ("std", "var"):
        return float(getattr(known, statistic)(ddof=1))
    return float(getattr(known, statistic)())


def _statistic(
    rows: Rows, one: Printed, mask: Bools, values: Values, figures: Sequence[Printed], count: Printed | None
) -> Figure:
    own = values.own[mask]
    recomputed = statistic_of(own, one.statistic)
    if not np.isfinite(recomputed):
        return _unchecked(one, one.name, "one value has no spread")

    def figure(verdict: str, cause: str = "", why: str = "") -> Figure:
        return Figure(
            one.where, one.name, one.statistic, verdict, one.value, recomputed,  # type: ignore[arg-type]
            cause, why, 1, int(verdict == "mismatch"),
        )  # fmt: skip

    if one.number.agrees(recomputed, values.half):
        blank = int((~np.isfinite(own)).sum())
        failed = count is None and rows.failed[mask & ~np.isfinite(values.own)].any()
        if one.statistic == "mean" and blank and (failed or (count is not None and count.value == len(own))):
            said = "does not say so" if count is None else f"says {len(own)}"
            more = f"n shrank from {len(own)} to {len(own) - blank}, and the table {said}"
            return figure("suspect", "n shrank", because("n shrank", more))
        return figure("ok", *(("percent", because("percent")) if one.percent else ()))
    for cause, more in _alike(one, own, recomputed, values.half):
        return figure("ok", cause, because(cause, more))
    for cause, more in _explanations(rows, one, mask, values, figures, count):
        return figure("mismatch", cause, because(cause, more))
    return figure("mismatch", "", "no cause was found: the figure is not of these rows, or was changed.")


def _alike(one: Printed, own: Floats, recomputed: float, half: float) -> Iterator[tuple[str, str]]:
    """Ways of printing the same that are no mistake."""
    known = own[np.isfinite(own)]
    if one.number.agrees(100 * recomputed, 100 * half) or one.number.scaled(100).agrees(recomputed, half):
        yield "percent", ""
    if one.statistic == "std" and len(known) > 1 and one.number.agrees(float(known.std()), half):
        yield "ddof", ""
    if one.signed and any(one.number.agrees(times * statistic_of(own, "sem"), half) for times in (1, INTERVAL)):
        yield "standard error", ""
    if one.number.truncates(recomputed):
        yield "cut off", ""


def _explanations(
    rows: Rows, one: Printed, mask: Bools, values: Values, figures: Sequence[Printed], count: Printed | None
) -> Iterator[tuple[str, str]]:
    """Mistakes that give the printed figure, the likeliest first."""
    own = values.own[mask]
    known = np.isfinite(own)

    def gives(some: Floats) -> bool:
        result = statistic_of(some, one.statistic)
        several = one.statistic == "std" and int(np.isfinite(some).sum()) > 1
        return one.number.agrees(result, values.half) or (
            several and one.number.agrees(float(np.nanstd(some)), values.half)
        )

    for cause, other in values.others.items():
        if cause not in ("", "once") and gives(other[mask]):
            yield cause_of(cause), ""
    if not known.all():
        if gives(np.where(known, own, 0.0)):
            yield "missing scored 0", f"{plural(int((~known).sum()), 'row')} of {len(own)}"
        if gives(np.where(known, own, 0.5)):
            yield "default of .5", f"{plural(int((~known).sum()), 'row')} of {len(own)} without a value"
    measure = measure_of(one.name, rows.k)
    if measure is not None and measure.spec.name == "Recall" and gives(np.where(known, own > 0, np.nan)):
        yield "hit rate", ""
    yield from _fewer(rows, mask, own, gives, count)
    if "" in values.others and gives(values.others[""][mask]):
        yield "other statistic", "it follows from the rankings of the rows, but not from the values printed beside them"
    yield from _elsewhere(rows, one, mask, own, gives, figures)
    if abs(one.value - statistic_of(own, one.statistic)) <= ROUNDED * 10.0**-one.number.decimals + values.half:
        yield "rounding", ""


def _fewer(rows: Rows, mask: Bools, own: Floats, gives: object, count: Printed | None) -> Iterator[tuple[str, str]]:
    """The mean over some of the rows, or over rows that count twice."""
    assert callable(gives)
    total = len(own)
    ids = np.array(rows.ids, object)[mask].tolist()
    once = unique_first(ids)
    if not once.all() and gives(own[once]):
        yield "repeated rows", f"the rows hold {plural(int((~once).sum()), 'row')} of a question that stood before"
    common = _common(rows)[mask]
    subsets: list[tuple[str, Bools]] = [
        ("failed", ~rows.failed[mask]),
        ("have no answer", ~rows.unanswered[mask]),
        ("are not answered by all systems", common),
        ("are 0", own != 0),
    ]
    if count is not None and 0 < count.value < total:
        first = np.arange(total) < count.value
        subsets += [("come last", first), ("come first", first[::-1])]
    for what, kept in subsets:
        left = int(kept.sum())
        if 0 < left < total and gives(own[kept]):
            yield "n shrank", f"n shrank from {total} to {left}, as {total - left} rows that {what} were left out"
    failed = rows.failed[mask] | rows.unanswered[mask]
    if failed.any() and gives(np.where(failed, 0.0, own)):
        yield "failures scored 0", plural(int(failed.sum()), "row")


def _common(rows: Rows) -> Bools:
    """Rows of questions for which every system has a row."""
    systems: dict[str, set[str]] = {}
    for qid, system in zip(rows.ids, rows.systems, strict=True):
        systems.setdefault(qid, set()).add(system)
    every = len(set(rows.systems))
    return np.array([len(systems[qid]) == every for qid in rows.ids])


def _elsewhere(
    rows: Rows, one: Printed, mask: Bools, own: Floats, gives: object, figures: Sequence[Printed]
) -> Iterator[tuple[str, str]]:
    """The figure of another column, system or statistic, or F1 of the means."""
    assert callable(gives)
    measure = measure_of(one.name, rows.k)
    if measure is not None and measure.spec.name == "F1" and one.statistic == "mean":
        parts = [rows.column_of(measure.name.replace("F1", part, 1)) for part in ("Precision", "Recall")]
        if parts[0] is not None and parts[1] is not None:
            p, r = (float(np.nanmean(rows.values(part)[mask])) for part in parts if part is not None)
            if p + r and one.number.agrees(2 * p * r / (p + r)):
                yield "F1 of means", ""
    for statistic, said in _SAID.items():
        if statistic != one.statistic and one.number.decimals >= 3 and one.number.agrees(statistic_of(own, statistic)):
            yield "other statistic", f"it is {said}"
    if one.number.decimals < 3:
        return
    for column in rows.measured:
        if column != rows.column_of(one.name) and gives(rows.values(column)[mask]):
            yield "other column", f"{column} gives it"
    own_column = rows.column_of(one.name)
    if own_column is not None:
        for system in dict.fromkeys(rows.systems):
            theirs = np.array([s == system for s in rows.systems])
            if not (theirs & mask).any() and gives(rows.values(own_column)[theirs]):
                yield "other system", f"{system or 'other rows'} gives it"


def _count(rows: Rows, one: Printed, mask: Bools) -> Figure:
    """A printed number of questions."""
    total = int(mask.sum())
    column = rows.column_of(one.name) if one.name else None
    measured = [column] if column is not None else list(rows.measured)
    filled = {int(np.isfinite(rows.values(c)[mask]).sum()) for c in measured}
    if one.name and column is None and any(keys(c, rows.k) & keys(one.name, rows.k) for c in rows.table.columns):
        filled = {0}  # a column without a single number
    name = one.name or "n"
    if one.value == total and (column is None or total in filled or not filled):
        return Figure(one.where, name, "n", "ok", one.value, total)
    if one.value in filled:
        left = total - int(one.value)
        more = f"n shrank from {total} to {int(one.value)}, as {plural(left, 'row')} have no value"
        return Figure(one.where, name, "n", "ok", one.value, one.value, "n shrank", because("n shrank", more))
    distinct = len({qid for qid, kept in zip(rows.ids, mask, strict=True) if kept})
    if one.value == distinct:
        more = f"{total} rows are of {distinct} questions"
        return Figure(one.where, name, "n", "ok", one.value, distinct, "repeated rows", more + ".")
    more = f"n shrank from {total} to {one.value:g}" if one.value < total else f"the rows are {total}"
    reasons = {
        "failed": ~rows.failed,
        "have no answer": ~rows.unanswered,
        "are not answered by all systems": _common(rows),
    }
    for what, kept in reasons.items():
        if int((mask & kept).sum()) == one.value:
            more += f", as {total - int(one.value)} rows that {what} were left out"
            break
    cause = "n shrank" if one.value < total else ""
    why = because(cause, more) if cause else f"{more}."
    return Figure(one.where, name, "n", "mismatch", one.value, total, cause, why, 1, 1)
