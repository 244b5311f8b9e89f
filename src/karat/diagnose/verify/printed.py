"""Printed: the figures of a summary table, whatever its shape, each with the labels of the rows it is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from karat.core.measure import Measure
from karat.diagnose.contradictions import UNKNOWN_K
from karat.diagnose.verify import names
from karat.diagnose.verify.causes import because
from karat.diagnose.verify.names import COUNTS, CUTS, STATISTICS, TESTS, Labels, is_measured, measure_of, spelled
from karat.diagnose.verify.numbers import FEW, Number, as_column, cut_of, has_decimal_commas, pointed, read_cell
from karat.files import RawTable
from karat.results.verification import Figure, FigureStatus

NO_LABELS = frozenset({  # columns and keys beside figures that are none of them, and tell no rows apart
    "n_undefined", "n_failed", "n_missing", "worst", "best", "equal", "threshold", "met", "ceiling", "band", "meaning",
    "spread", "better_has", "worse_has",
})  # fmt: skip
QUANTILES = ("25%", "50%", "75%")
_CUT = re.compile(r"(?:@|k\s*=\s*|k_|top_?-?)?([1-9]\d{0,4})", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class PrintedFigure:
    """One figure as a file prints it."""

    labels: Labels
    name: str  # of what was measured, as spelled
    statistic: str  # mean, std, n, F, ...
    number: Number
    percent: bool = False  # the column is in percent, and `number` is already a share
    heading: str = ""  # of a number of questions: the column it stands in
    signed: bool = False  # it follows ±, which may also be a standard error, half of an interval, or of several runs

    @property
    def where(self) -> str:
        """The labels in words."""
        return names.in_words(self.labels)

    @property
    def value(self) -> float:
        return self.number.value

    def measure(self, k: int | None = None) -> Measure | None:
        """The registered measure, if its name is one; a literal k is what its labels say, else `k`, else unknown."""
        cut = next((v for name, v in self.labels if spelled(name) in CUTS), None)
        return measure_of(self.name, cut_of(cut) or k or UNKNOWN_K) if self.name else None

    def figure(
        self, verdict: FigureStatus, detail: str = "", *, cause: str = "", recomputed: float | None = None
    ) -> Figure:
        """What became of checking it: the cause in words, with the detail, which alone is a sentence."""
        return Figure(
            where=self.where, name=self.name or self.statistic, what=self.statistic, verdict=verdict,
            printed=self.value, recomputed=recomputed, cause=cause,
            why=because(cause, detail) if cause else detail, apart=int(verdict in ("mismatch", "impossible")),
        )  # fmt: skip


class _PrintedCell(NamedTuple):
    """A cell that should hold a figure."""

    labels: Labels
    name: str
    statistic: str
    content: Any
    heading: str = ""


def read_figures(table: RawTable, known: frozenset[str] = frozenset()) -> tuple[list[PrintedFigure], list[Figure]]:
    """Every figure of a table, and the cells under the name of a measure, a count or a test that are no numbers.

    `known` are columns of its rows that label them (spelled): here they are labels too.
    """
    if table.document is None:
        table = _with_points(table)
    figures: list[PrintedFigure] = []
    unread: list[Figure] = []
    for labels, name, statistic, content, heading in _cells(table, known):
        read = read_cell(content)
        if read is not None:
            one = PrintedFigure(labels=labels, name=name, statistic=statistic, number=read[0], heading=heading)
            figures.append(one)
            if read[1] is not None:
                figures.append(replace(one, statistic="std", number=read[1], signed=True))
        elif _text(content) not in names.BLANK and (not name or measure_of(name, 1) is not None):
            why = f"{_text(content)[:40]!r} is no number."
            where, name = names.in_words(labels), name or heading or statistic
            unread.append(Figure(where=where, name=name, what=statistic, verdict="unchecked", why=why))
    typed = table.document is not None or any(isinstance(cell, float) for row in table.rows for cell in row.values())
    return _scaled(_aligned(figures, typed)), unread


def _cells(table: RawTable, known: frozenset[str]) -> Iterator[_PrintedCell]:
    if table.document is not None:
        return _nested(table.document, ())
    columns = {spelled(c): c for c in table.columns}
    first = [_text(record.get(column)) for column in table.columns[:1] for record in table.rows]
    measures = columns.get("measure") or columns.get("metric")
    if measures is None and len(first) > 1 and all(measure_of(names.split_heading(cell)[0], 1) for cell in first):
        measures = table.columns[0]
    if measures is not None:
        return _long(table, columns, measures)
    if len(first) > 1 and all(cell.lower() in STATISTICS for cell in first):
        return _described(table)
    return _wide(table, known)


def _with_points(table: RawTable) -> RawTable:
    """The table with points in columns that have decimal commas."""
    commas = {
        c for c in table.columns if has_decimal_commas((_text(r.get(c)) for r in table.rows), names.is_share(c))
    }  # fmt: skip
    if not commas:
        return table
    rows = tuple({c: pointed(v) if c in commas and isinstance(v, str) else v for c, v in r.items()} for r in table.rows)
    return replace(table, rows=rows)


def _aligned(figures: list[PrintedFigure], typed: bool) -> list[PrintedFigure]:
    """Digits as the columns have them; `typed` numbers lost the zeros at their end, so that .3 beside .25 is .30."""
    columns: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, one in enumerate(figures):
        columns[one.name, one.statistic].append(i)
    aligned = list(figures)
    for places in columns.values():
        for i, number in zip(places, as_column(figures[i].number for i in places), strict=True):
            aligned[i] = replace(figures[i], number=number)
    shares = [i for i, one in enumerate(aligned) if names.is_share(one.name)] if typed else []
    if any(aligned[i].number.decimals > FEW for i in shares):
        for i in shares:
            number = aligned[i].number
            if number.decimals == FEW and number.value <= 1:
                aligned[i] = replace(aligned[i], number=replace(number, decimals=FEW + 1))
    return aligned


def _scaled(figures: list[PrintedFigure]) -> list[PrintedFigure]:
    """Columns of shares in percent as shares: where most values are above 1 and some well above."""
    values: dict[str, list[float]] = defaultdict(list)
    for one in figures:
        if one.statistic in ("mean", "min", "max", *QUANTILES) and names.is_share(one.name):
            values[one.name].append(one.value)
    large = {name for name, some in values.items() if 2 < max(some) <= 100}
    clear = {name for name in large if sorted(values[name])[(len(values[name]) - 1) // 2] >= 1}
    percent = large if clear else set()  # beside a column in percent, .68 of another is too
    units = ("mean", "std", "min", "max", *QUANTILES, "low", "high", "sem")
    return [
        replace(one, number=one.number.scaled(0.01), percent=True)
        if one.name in percent and one.statistic in units
        else one
        for one in figures
    ]


def _wide(table: RawTable, known: frozenset[str]) -> Iterator[_PrintedCell]:
    """A row a system, a column a measure or a statistic of one."""
    figures = [c for c in table.columns if _is_figure(table, c, known)]
    for record in table.rows:
        labels = _labels(table, record, figures)
        yield from (_under(column, record.get(column), labels) for column in figures)


def _labels(table: RawTable, record: Mapping[str, Any], others: Iterable[str]) -> Labels:
    texts = ((c, _text(record.get(c))) for c in table.columns if c not in others)
    return tuple(label for label in texts if label[1] not in names.BLANK)


def _is_figure(table: RawTable, column: str, known: frozenset[str]) -> bool:
    plain = spelled(column)
    texts = [text for record in table.rows if (text := _text(record.get(column))) not in names.BLANK]
    numbers = [text for text in texts if read_cell(text)]
    if plain in COUNTS or plain in TESTS:
        has_digits = any(char.isdecimal() for text in texts for char in text)
        return plain not in known and (numbers == texts or has_digits)
    if measure_of(names.split_heading(column)[0], 1) is not None:
        return bool(texts)
    if not texts or numbers != texts:
        return False
    return is_measured(column) or (plain not in known and plain not in names.SETTINGS and column.strip() != "")


def _long(table: RawTable, columns: Mapping[str, str], measures: str) -> Iterator[_PrintedCell]:
    """A row a system and measure with a column a statistic, or a row a measure with a column a system."""
    statistics = {c: s for c in table.columns if (s := STATISTICS.get(c.strip().lower()) or STATISTICS.get(spelled(c)))}
    counts = {c: "n" for c in table.columns if spelled(c) in COUNTS}
    sliced = {columns[c] for c in ("slice", "value") if {"slice", "value"} <= set(columns)}
    values = {c: "mean" for c in table.columns if spelled(c) in ("value", "score") and c not in sliced}
    figures = (statistics if set(statistics.values()) - {"n"} else {}) or values
    is_of_pairs = {"a", "b", "b_a"} <= set(map(spelled, table.columns))  # its columns are tests, and no systems
    systems = [] if figures or is_of_pairs else [c for c in table.columns if c != measures and _holds_figures(table, c)]
    figures = {**figures, **counts} if figures else {}
    beside = {c for c in table.columns if spelled(c) in NO_LABELS}
    for record in table.rows:
        labels = _labels(table, record, {measures, *statistics, *counts, *sliced, *values, *systems, *beside})
        if sliced and _text(record.get(columns["slice"])):
            labels += ((names.SLICED + _text(record[columns["slice"]]), _text(record.get(columns["value"]))),)
        name, under = names.split_heading(_text(record[measures]))
        for column, statistic in figures.items():
            heading = column if column in counts else ""
            yield _PrintedCell(labels, name, under if statistic == "mean" else statistic, record.get(column), heading)
        for column in systems:
            yield _PrintedCell((("", column), *labels), name, under, record.get(column))


def _holds_figures(table: RawTable, column: str) -> bool:
    no_figures = names.SETTINGS | COUNTS | NO_LABELS
    return spelled(column) not in no_figures and any(read_cell(record.get(column)) for record in table.rows)


def _described(table: RawTable) -> Iterator[_PrintedCell]:
    """A row a statistic, a column a measure, as `describe` of a frame writes them."""
    for record in table.rows:
        statistic = STATISTICS[_text(record[table.columns[0]]).lower()]
        yield from (_PrintedCell((), name, statistic, record.get(name)) for name in table.columns[1:])


def _nested(
    value: Mapping[str, Any], labels: Labels, measure: str | None = None, under: str = ""
) -> Iterator[_PrintedCell]:
    """Numbers of nested objects: keys on the way are labels, the last ones measures and statistics.

    `measure`: all of them are statistics of it. `under`: all of them are this statistic.
    """
    labels = labels + tuple(
        (str(k), _text(v)) for k, v in value.items()
        if (isinstance(v, str) and v and (names.is_name(k) or names.is_slice(k)))
        or (isinstance(v, int) and spelled(k) in CUTS)
    )  # fmt: skip
    for key, item in value.items():
        text, plain = str(key), spelled(str(key))
        if plain in NO_LABELS:
            continue
        if isinstance(item, Mapping):
            yield from _inside(text, item, labels, measure, under)
        elif isinstance(item, list) and item and all(isinstance(one, Mapping) for one in item):
            yield from _listed(item, labels if plain in names.CONTAINERS else (*labels, ("", text)))
        elif measure is not None and text.lower() in STATISTICS:
            yield _PrintedCell(labels, measure, STATISTICS[text.lower()], item)
        elif plain in COUNTS or plain in TESTS:
            if read_cell(item) is not None:
                yield _under(text, item, labels)
        elif is_measured(text) or (isinstance(item, float) and plain not in names.SETTINGS):
            cell = _under(text, item, labels)
            yield cell._replace(statistic=under) if under and cell.statistic == "mean" else cell


def _inside(
    key: str, value: Mapping[str, Any], labels: Labels, measure: str | None, under: str
) -> Iterator[_PrintedCell]:  # fmt: skip
    """What stands in an object under a key: a measure, a statistic, a container, a slice, a cut-off or a label."""
    plain, is_measure = spelled(key), measure_of(key, 1) is not None
    statistic = STATISTICS.get(key.lower(), "") if plain == "mean" or plain not in names.TOTALS else ""
    cuts = [_CUT.fullmatch(str(k)) for k in value]
    if is_measure and any(str(k).lower() in STATISTICS for k in value):
        yield from _nested(value, labels, key, under)
    elif is_measure and None not in cuts:
        base = re.sub(r"(@|_at_)k$", "", key, flags=re.IGNORECASE)
        at_cuts = {f"{base}@{cut[1]}": v for cut, v in zip(cuts, value.values(), strict=True) if cut is not None}
        yield from _nested(at_cuts, labels, None, under)
    elif statistic or (plain in names.CONTAINERS and plain not in names.TOTALS):
        yield from _nested(value, labels, measure, statistic or under)
    elif plain.startswith(("by_", "per_")) and all(isinstance(one, Mapping) for one in value.values()):
        for part, one in value.items():
            sliced = (names.SLICED + plain.partition("_")[2], str(part))
            yield from _nested(one, (*labels, sliced), measure, under)
    else:
        cut = None if key.isdecimal() else _CUT.fullmatch(key)
        yield from _nested(value, (*labels, ("", key) if cut is None else ("k", cut[1])), measure, under)


def _listed(items: Sequence[Mapping[str, Any]], labels: Labels) -> Iterator[_PrintedCell]:
    """Records in a nested object: a row a system and measure, or each an object of its own."""
    columns = {spelled(str(c)): str(c) for one in items for c in one}
    measures = columns.get("measure") or columns.get("metric")
    if measures is None:
        for one in items:
            yield from _nested(one, labels)
        return
    rows = tuple({str(k): v for k, v in one.items()} for one in items)
    table = RawTable("", tuple(columns.values()), rows, tuple(range(1, len(rows) + 1)), "record")
    yield from (cell._replace(labels=labels + cell.labels) for cell in _long(table, columns, measures))


def _under(heading: str, content: Any, labels: Labels) -> _PrintedCell:
    """A cell under a heading that names a count, a test, or a measure and its statistic."""
    plain = spelled(heading)
    if plain in COUNTS:
        return _PrintedCell(labels, "", "n", content, heading)
    name, statistic = ("", TESTS[plain]) if plain in TESTS else names.split_heading(heading)
    return _PrintedCell(labels, name, statistic, content)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
