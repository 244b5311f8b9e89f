"""Verify: whether printed figures can be true, by the rows behind them or by arithmetic. One kind of rule a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from karat.core.errors import InputError
from karat.core.judged import Repeats
from karat.diagnose.contradictions import UNKNOWN_K
from karat.diagnose.verify.causes import CAUSES
from karat.diagnose.verify.lines import summary_table
from karat.diagnose.verify.names import measure_of, spelled
from karat.diagnose.verify.numbers import read_cell
from karat.diagnose.verify.printed import PrintedFigure, read_figures
from karat.diagnose.verify.recompute import from_lists
from karat.diagnose.verify.rows import MeasureValues, QuestionRows, rows_of
from karat.diagnose.verify.rules import ROW_RULES, TABLE_RULES
from karat.diagnose.verify.rules.aggregates import check_aggregates
from karat.files import RawTable
from karat.results.verification import Figure

BY_N = ("not 0/1 over n", "not a share of k over n", "spread")  # causes that hang on n, which rows know better

__all__ = ["CAUSES", "rows_of", "verify_rows", "verify_table"]


def verify_rows(
    rows: QuestionRows,
    table: RawTable | None = None,
    *,
    repeats: Repeats = "once",
    computed: Mapping[str, MeasureValues] | None = None,
    n: int | None = None,
    one_gold: bool = False,
    beside: bool = False,
) -> list[Figure]:
    """What rows say of themselves, and of the table that is said to summarise them.

    `computed` are values that were worked out from a test set; else the lists of the rows are used, if they have any.
    `beside`: the table is what stands beside the rows in their own file, and may hold no figures.
    """
    checked: list[Figure] = []
    if computed is None:
        computed = from_lists(rows, repeats)
        checked += [figure for rule in ROW_RULES for figure in rule(rows, computed)]
        checked += _not_checked(rows, {figure.name for figure in checked})
    if table is None:
        return checked
    figures, unread = read_figures(table, frozenset(map(spelled, rows.labels)))
    if not figures and not beside:
        raise _no_figures(table)
    checked += check_aggregates(rows, figures, computed, [figure for figure in checked if figure.broken])
    wrong = {(f.where, f.name, f.what) for f in checked if f.broken}
    follows = {(f.where, f.name, f.what) for f in checked if not f.broken and f.recomputed is not None}
    for figure in check_alone(figures, n=n, k=rows.k, one_gold=one_gold):
        place = (figure.where, figure.name, figure.what)
        by_rows = place in wrong or (figure.cause in BY_N and place in follows)
        if figure.verdict == "impossible" and not by_rows:
            checked.append(figure)
    return checked + unread


def _not_checked(rows: QuestionRows, checked: set[str]) -> Iterator[Figure]:
    """Columns of figures that are not all numbers, or that nothing in the rows says anything about."""
    lists = (rows.retrieved_column, rows.gold_column)
    for column in rows.table.columns:
        if column in rows.measured and column not in checked:
            cells = sum(number is not None for number in rows.numbers[column])
            yield rows.figure(column, "unchecked", "the rows hold nothing to compute it from.", cells=cells)
        elif column not in rows.numbers and column not in lists and measure_of(column, rows.k or 1) is not None:
            cells_of = zip(rows.ids, rows.texts(column), strict=True)
            unread = ((qid, text) for qid, text in cells_of if text and read_cell(text) is None)
            for qid, text in list(unread)[:1]:
                why = f"{text!r} of question {qid} is no number."
                yield rows.figure(column, "unchecked", why, cells=len(rows))


def verify_table(
    tables: Sequence[RawTable], *, n: int | None = None, k: int | None = None, one_gold: bool = False
) -> list[Figure]:
    """What tables can be by themselves, each apart from the others."""
    checked: list[Figure] = []
    for table in tables:
        figures, unread = read_figures(table)
        if figures:
            checked += [*check_alone(figures, n=n, k=k, one_gold=one_gold), *unread]
    if not checked:
        raise _no_figures(tables[0])
    return checked


def check_alone(
    figures: Sequence[PrintedFigure], *, n: int | None = None, k: int | None = None, one_gold: bool = False
) -> list[Figure]:
    """Every printed figure of a registered measure, checked by arithmetic; the others are listed as unchecked."""
    table = summary_table(figures, n=n, k=k, one_gold=one_gold)
    unique: dict[tuple[str, str, str, str], Figure] = {}
    for rule in TABLE_RULES:
        for f in rule(table):
            unique.setdefault((f.where, f.name, f.what, f.cause), f)
    places = {(f.where, f.name, f.what) for f in unique.values()}
    checked = list(unique.values())
    for one in figures:
        if (one.where, one.name or one.statistic, one.statistic) in places:
            continue
        problem = _uncheckable(one, k, table.settings)
        checked.append(one.figure("unchecked", problem) if problem else one.figure("ok", "no contradiction found."))
    return checked


def _uncheckable(one: PrintedFigure, k: int | None, settings: set[str]) -> str:
    """Why arithmetic says nothing of a figure."""
    measure = one.measure(k)
    if one.name and measure is None:
        return "not a measure that karat knows, and there are no rows."
    if measure is not None and measure.k == UNKNOWN_K:
        return "k is unknown: add -k 5."
    if one.statistic in ("F", "t", "p"):
        return "there are no rows to compute it from."
    if one.statistic == "n" and one.heading in settings:
        return f"read as a setting: the means are not over so many questions ({one.heading}); -n gives their number."
    return ""


def _no_figures(table: RawTable) -> InputError:
    return InputError("no figures were found in it", place=table.name, remedy="Name measures in its columns.")
