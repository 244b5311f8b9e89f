"""Printed: the figures of a summary table, whatever its shape, each with the labels of the rows it is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from karat.diagnose._tables import UNKNOWN_K
from karat.diagnose.verify._digits import FEW, Number, as_column, cut_of, has_decimal_commas, pointed, read_cell
from karat.diagnose.verify.names import COUNTS, STATISTICS, TESTS, is_measured, measure_of, spelled, split
from karat.files import RawTable
from karat.results.verification import Figure

if TYPE_CHECKING:
    from karat.core.measure import Measure

CONTAINERS = frozenset({
    "metrics", "results", "summary", "summaries", "overall", "systems", "methods", "scores", "retrieval", "aggregate",
    "aggregated", "all", "statistics", "evaluation", "averages", "metadata", "config", "by_method",
    "by_system", "total",
})  # fmt: skip
CUTS = ("k", "top_k", "topk")
SETTINGS = frozenset({
    "alpha", *CUTS, "depth", "rrf_k", "seed", "chunk_size", "overlap", "temperature", "beta",
    "rank", "id", "index", "row", "version", "dim", "dimension", "df", "ddof", "levels", "year",
})  # fmt: skip
TOTALS = frozenset({
    "total", "totals", "overall", "all", "average", "avg", "mean", "all_systems", "macro_avg", "micro_avg",
    "weighted_avg", "macro_average", "micro_average", "weighted_average", "grand_total",
})  # fmt: skip
SLICES = frozenset({
    "kind", "query_type", "question_type", "type", "category", "slice", "difficulty", "topic", "domain", "language",
    "subset", "split", "intent", "hops",
})  # fmt: skip
SLICED = "tag."  # before the name of a label that parts questions, where the shape of the table says so
BLANK = ("", "-", "–", "—", "n/a", "N/A", "nan", "NaN", "None", "null")
PERCENT = ("(in %)", "(%)", "[%]", "%")  # at the end of a heading
NO_LABELS = frozenset({  # columns and keys beside figures that are none of them, and tell no rows apart
    "n_undefined", "n_failed", "n_missing", "worst", "best", "equal", "threshold", "met", "ceiling", "band", "meaning",
    "spread",
})  # fmt: skip
_CUT = re.compile(r"(?:@|k\s*=\s*|k_|top_?-?)?([1-9]\d{0,4})", re.IGNORECASE)
Labels = tuple[tuple[str, str], ...]  # (column, or empty where the shape names none; value)


@dataclass(frozen=True)
class Printed:
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
        return ", ".join(
            value if not name or is_name(name) else f"{name.removeprefix(SLICED)} {value}"
            for name, value in self.labels
        )

    @property
    def value(self) -> float:
        return self.number.value

    def measure(self, k: int | None = None) -> Measure | None:
        """The registered measure, if its name is one; a literal k is what its labels say, else `k`, else unknown."""
        cut = next((v for name, v in self.labels if spelled(name) in CUTS), None)
        return measure_of(self.name, cut_of(cut) or k or UNKNOWN_K)


def is_slice(column: str) -> bool:
    """Whether a label parts the questions, so that a row of it is not about all of them."""
    return column.startswith(SLICED) or spelled(column) in SLICES


def is_total(label: tuple[str, str]) -> bool:
    """Whether a label says that its row is over all others, as the last of a table may be."""
    return spelled(label[1].strip("*_` ")) in TOTALS and spelled(label[0]) not in SETTINGS


def is_name(column: str) -> bool:
    """Whether a column names systems, so that its values need no word before them."""
    return spelled(column) in (
        "system", "config_name", "config", "configuration", "method", "model", "name", "system_name", "retriever",
        "approach", "run", "pipeline",
    )  # fmt: skip


def split_heading(text: str) -> tuple[str, str]:
    """The measure and the statistic that a heading names, in whatever unit.

    >>> split_heading("Recall@5 (%)"), split_heading("Recall@5 25%")
    (('Recall@5', 'mean'), ('Recall@5', '25%'))
    """
    text = text.strip()
    mark = next((mark for mark in PERCENT if text.endswith(mark)), "")
    whole, bare = split(text), split(text.removesuffix(mark))
    return bare if mark and whole == (text, "mean") and measure_of(bare[0], 1) is not None else whole


def printed_figures(table: RawTable, known: frozenset[str] = frozenset()) -> list[Printed]:
    """Every figure of a table. `known` are columns of its rows that label them (spelled): here they are labels too."""
    if table.document is not None:
        found = list(_nested(table.document, ()))
    else:
        table = _with_points(table)
        columns = {spelled(c): c for c in table.columns}
        if (named := _naming_measures(table, columns)) is not None:
            found = _long(table, columns, named)
        elif (described := _describing(table)) is not None:
            found = _described(table, described)
        else:
            found = _wide(table, known)
    typed = table.document is not None or any(isinstance(cell, float) for row in table.rows for cell in row.values())
    return _scaled(_aligned(found, typed))


def is_share(column: str) -> bool:
    """Whether a heading names a measure between 0 and 1, or a statistic of one."""
    measure = measure_of(split_heading(column)[0], 1)
    return measure is not None and measure.bounds == (0.0, 1.0)


def _with_points(table: RawTable) -> RawTable:
    """The table with points in columns that have decimal commas."""
    commas = {
        c for c in table.columns if has_decimal_commas((_text(record.get(c)) for record in table.rows), is_share(c))
    }
    if not commas:
        return table
    rows = tuple({c: pointed(v) if c in commas and isinstance(v, str) else v for c, v in r.items()} for r in table.rows)
    return replace(table, rows=rows)


def _is_count(column: str) -> bool:
    """Whether a column holds numbers of questions, or statistics of tests."""
    return spelled(column) in COUNTS or spelled(column) in TESTS


def _has_digits(cells: Iterable[Any]) -> bool:
    return any(char.isdecimal() for cell in cells for char in _text(cell))


def unread_cells(table: RawTable, known: frozenset[str] = frozenset()) -> list[Figure]:
    """Cells under the name of a measure, a count or a test that are no numbers."""
    if table.document is not None:
        return list(_unread_nested(table.document, ()))
    table = _with_points(table)
    return [
        Figure(
            "", column, f"{table.unit} {number}", "unchecked", why=f"{_text(record.get(column))[:40]!r} is no number."
        )
        for column in table.columns
        if measure_of(split_heading(column)[0], 1) is not None
        or (_is_count(column) and spelled(column) not in known and _has_digits(r.get(column) for r in table.rows))
        for number, record in zip(table.numbers, table.rows, strict=True)
        if _text(record.get(column)) not in BLANK and read_cell(record.get(column)) is None
    ]


def _unread_nested(value: Mapping[str, Any], way: tuple[str, ...]) -> Iterator[Figure]:
    for key, item in value.items():
        name = str(key)
        if isinstance(item, Mapping):
            yield from _unread_nested(item, way if spelled(name) in CONTAINERS else (*way, name))
        elif isinstance(item, list) and item and all(isinstance(one, Mapping) for one in item):
            for one in item:
                yield from _unread_nested(one, way)
        elif measure_of(split_heading(name)[0], 1) is not None and _text(item) not in BLANK and read_cell(item) is None:
            yield Figure(", ".join(way), name, "mean", "unchecked", why=f"{_text(item)[:40]!r} is no number.")


def _aligned(found: list[Printed], typed: bool) -> list[Printed]:
    """Digits as the columns have them; `typed` numbers lost the zeros at their end, so that .3 beside .25 is .30."""
    columns: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, one in enumerate(found):
        columns[one.name, one.statistic].append(i)
    aligned = list(found)
    for places in columns.values():
        for i, number in zip(places, as_column(found[i].number for i in places), strict=True):
            aligned[i] = replace(found[i], number=number)
    if typed and any(one.number.decimals > FEW for one in aligned if _is_share(one)):
        return [
            replace(one, number=replace(one.number, decimals=FEW + 1))
            if one.number.decimals == FEW and one.value <= 1 and _is_share(one)
            else one
            for one in aligned
        ]
    return aligned


def _scaled(found: list[Printed]) -> list[Printed]:
    """Columns of shares in percent as shares: where most values are above 1 and some well above."""
    values: dict[str, list[float]] = defaultdict(list)
    for one in found:
        if one.statistic in ("mean", "min", "max", "25%", "50%", "75%") and _is_share(one):
            values[one.name].append(one.value)
    large = {name for name, some in values.items() if 2 < max(some) <= 100}
    clear = {name for name in large if sorted(values[name])[(len(values[name]) - 1) // 2] >= 1}
    percent = large if clear else set()  # beside a column in percent, .68 of another is too
    units = ("mean", "std", "min", "max", "25%", "50%", "75%", "low", "high", "sem")
    return [
        replace(one, number=one.number.scaled(0.01), percent=True)
        if one.name in percent and one.statistic in units
        else one
        for one in found
    ]


def _is_share(one: Printed) -> bool:
    measure = one.measure(1)
    return measure is not None and measure.bounds == (0.0, 1.0)


def _wide(table: RawTable, known: frozenset[str]) -> list[Printed]:
    """A row a system, a column a measure or a statistic of one."""
    figures = [c for c in table.columns if _is_figure(table, c, known)]
    found: list[Printed] = []
    for record in table.rows:
        labels = tuple(
            (c, _text(record[c])) for c in table.columns if c not in figures and _text(record.get(c)) not in BLANK
        )
        for column in figures:
            found.extend(_read(record.get(column), column, labels))
    return found


def _is_figure(table: RawTable, column: str, known: frozenset[str]) -> bool:
    plain = spelled(column)
    cells = [record.get(column) for record in table.rows if _text(record.get(column)) not in BLANK]
    if _is_count(column):
        return plain not in known and (all(read_cell(cell) for cell in cells) or _has_digits(cells))
    if measure_of(split_heading(column)[0], 1) is not None:
        return any(read_cell(cell) for cell in cells)
    if not cells or not all(read_cell(cell) for cell in cells):
        return False
    if is_measured(column):
        return True
    return plain not in known and plain not in SETTINGS and column.strip() != ""


def _naming_measures(table: RawTable, columns: Mapping[str, str]) -> str | None:
    """The column whose cells are names of measures: by its heading, or the first one by all of its cells."""
    named = columns.get("measure") or columns.get("metric")
    cells = [_text(record.get(column)) for column in table.columns[:1] for record in table.rows]
    if named is None and len(cells) > 1 and all(measure_of(split_heading(cell)[0], 1) for cell in cells):
        return table.columns[0]
    return named


def _long(table: RawTable, columns: Mapping[str, str], named: str) -> list[Printed]:
    """A row a system and measure with a column a statistic, or a row a measure with a column a system."""
    statistics = {c: s for c in table.columns if (s := STATISTICS.get(c.strip().lower()) or STATISTICS.get(spelled(c)))}
    counts = {c: "n" for c in table.columns if spelled(c) in COUNTS}
    sliced = {columns[c] for c in ("slice", "value") if {"slice", "value"} <= set(columns)}
    values = {c: "mean" for c in table.columns if spelled(c) in ("value", "score") and c not in sliced}
    figures = (statistics if set(statistics.values()) - {"n"} else {}) or values
    figures = {**figures, **counts} if figures else {}
    systems = [] if figures else [c for c in table.columns if c != named and _holds_figures(table, c)]
    other = {
        named,
        *statistics,
        *counts,
        *sliced,
        *values,
        *systems,
        *(c for c in table.columns if spelled(c) in NO_LABELS),
    }
    found: list[Printed] = []
    for record in table.rows:
        labels = [(c, _text(record[c])) for c in table.columns if c not in other and _text(record.get(c)) not in BLANK]
        if sliced and _text(record.get(columns["slice"])):
            labels.append((SLICED + _text(record[columns["slice"]]), _text(record.get(columns["value"]))))
        name, under = split_heading(_text(record[named]))
        for column, statistic in figures.items():
            cells = _of_cell(record.get(column), tuple(labels), name, under if statistic == "mean" else statistic)
            found.extend(replace(one, heading=column) if column in counts else one for one in cells)
        for column in systems:
            found.extend(_of_cell(record.get(column), (("", column), *labels), name, under))
    return found


def _holds_figures(table: RawTable, column: str) -> bool:
    return spelled(column) not in {*SETTINGS, *COUNTS, *NO_LABELS} and any(read_cell(r.get(column)) for r in table.rows)


def _describing(table: RawTable) -> str | None:
    """The column whose cells are names of statistics, as `describe` of a frame writes them."""
    for column in table.columns[:1]:
        told = [_text(record.get(column)).lower() for record in table.rows]
        if len(told) > 1 and all(t in STATISTICS for t in told):
            return column
    return None


def _described(table: RawTable, column: str) -> list[Printed]:
    found: list[Printed] = []
    for record in table.rows:
        statistic = STATISTICS[_text(record[column]).lower()]
        for name in table.columns:
            if name != column:
                found.extend(_of_cell(record.get(name), (), name, statistic))
    return found


def _nested(value: Mapping[str, Any], labels: Labels, measure: str | None = None, under: str = "") -> Iterator[Printed]:
    """Numbers of nested objects: keys on the way are labels, the last ones measures and statistics.

    `measure`: all of them are statistics of it. `under`: all of them are this statistic.
    """
    labels = labels + tuple(
        (str(k), _text(v)) for k, v in value.items()
        if (isinstance(v, str) and v and (is_name(k) or is_slice(k))) or (isinstance(v, int) and spelled(k) in CUTS)
    )  # fmt: skip
    for key, item in value.items():
        text, plain = str(key), spelled(str(key))
        if plain in NO_LABELS:
            continue
        if isinstance(item, Mapping):
            statistic = STATISTICS.get(text.lower(), "") if plain == "mean" or plain not in TOTALS else ""
            cuts = [_CUT.fullmatch(str(k)) for k in item]
            if measure_of(text, 1) is not None and any(str(k).lower() in STATISTICS for k in item):
                yield from _nested(item, labels, text, under)
            elif measure_of(text, 1) is not None and None not in cuts:
                base = re.sub(r"(@|_at_)k$", "", text, flags=re.IGNORECASE)
                at_cuts = {f"{base}@{cut[1]}": v for cut, v in zip(cuts, item.values(), strict=True) if cut is not None}
                yield from _nested(at_cuts, labels, None, under)
            elif statistic or (plain in CONTAINERS and plain not in TOTALS):
                yield from _nested(item, labels, measure, statistic or under)
            elif plain.startswith(("by_", "per_")) and all(isinstance(one, Mapping) for one in item.values()):
                for part, one in item.items():
                    yield from _nested(one, (*labels, (SLICED + plain.partition("_")[2], str(part))), measure, under)
            else:
                cut = _CUT.fullmatch(text)
                label = ("k", cut[1]) if cut is not None and not text.isdecimal() else ("", text)
                yield from _nested(item, (*labels, label), measure, under)
        elif isinstance(item, list) and item and all(isinstance(one, Mapping) for one in item):
            yield from _listed(item, labels if plain in CONTAINERS else (*labels, ("", text)))
        elif measure is not None and text.lower() in STATISTICS:
            yield from _of_cell(item, labels, measure, STATISTICS[text.lower()])
        elif plain in COUNTS or plain in TESTS or is_measured(text) or _counts_as_figure(text, item):
            for one in _read(item, text, labels):
                yield replace(one, statistic=under) if under and one.statistic == "mean" else one


def _listed(items: Sequence[Mapping[str, Any]], labels: Labels) -> Iterator[Printed]:
    """Records in a nested object: a row a system and measure, or each an object of its own."""
    columns = {spelled(str(c)): str(c) for one in items for c in one}
    named = columns.get("measure") or columns.get("metric")
    if named is not None:
        rows = tuple({str(k): v for k, v in one.items()} for one in items)
        table = RawTable("", tuple(columns.values()), rows, tuple(range(1, len(rows) + 1)), "record")
        yield from (replace(one, labels=labels + one.labels) for one in _long(table, columns, named))
    else:
        for one in items:
            yield from _nested(one, labels)


def _counts_as_figure(text: str, item: Any) -> bool:
    return isinstance(item, float) and spelled(text) not in SETTINGS


def _read(cell: Any, column: str, labels: Labels) -> Iterator[Printed]:
    plain = spelled(column)
    if plain in COUNTS:
        yield from (replace(one, heading=column) for one in _of_cell(cell, labels, "", "n"))
    elif plain in TESTS:
        yield from _of_cell(cell, labels, "", TESTS[plain])
    else:
        name, statistic = split_heading(column)
        yield from _of_cell(cell, labels, name, statistic)


def _of_cell(cell: Any, labels: Labels, name: str, statistic: str) -> Iterator[Printed]:
    read = read_cell(cell)
    if read is None:
        return
    yield Printed(labels, name, statistic, read[0])
    if read[1] is not None:
        yield Printed(labels, name, "std", read[1], signed=True)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
