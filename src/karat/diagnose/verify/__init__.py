"""Verify: whether printed figures can be true, by the rows behind them or by arithmetic. One kind of check a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from karat.core.errors import InputError
from karat.diagnose.verify._causes import CAUSES, because
from karat.results.verification import Figure

if TYPE_CHECKING:
    from karat.core.judged import Repeats
    from karat.diagnose.verify.aggregates import Values
    from karat.diagnose.verify.rows import Rows
    from karat.files import RawTable

BY_N = ("not 0/1 over n", "not a share of k over n", "spread")  # causes that hang on n, which rows know better

__all__ = ["CAUSES", "rows_of", "verify_rows", "verify_table"]


def rows_of(table: RawTable, *, sure: bool = False) -> Rows | None:
    """The rows of a table that holds single questions; None where it holds summaries.

    `sure`: it is said to hold rows, so that one question is enough.
    """
    from karat.diagnose.verify._digits import cut_of
    from karat.diagnose.verify.rows import Rows, looks_like_rows

    if not looks_like_rows(table) and not (sure and table.rows and Rows(table).id_column is not None):
        return None
    rows = Rows(table)
    cuts = {text for name in ("k", "top_k") if name in rows.names for text in rows.texts(rows.names[name])}
    only = cut_of(next(iter(cuts))) if len(cuts) == 1 else None
    return rows if only is None else Rows(table, only)


def verify_rows(
    rows: Rows,
    table: RawTable | None = None,
    *,
    repeats: Repeats = "once",
    computed: Mapping[str, Values] | None = None,
    n: int | None = None,
    one_gold: bool = False,
    beside: bool = False,
) -> list[Figure]:
    """What rows say of themselves, and of the table that is said to summarise them.

    `computed` are values that were worked out from a test set; else the lists of the rows are used, if they have any.
    `beside`: the table is what stands beside the rows in their own file, and may hold no figures.
    """
    from karat.diagnose.verify.aggregates import check_aggregates
    from karat.diagnose.verify.alone import check_alone
    from karat.diagnose.verify.columns import check_columns
    from karat.diagnose.verify.defaults import check_defaults
    from karat.diagnose.verify.figures import printed_figures, unread_cells
    from karat.diagnose.verify.implied import check_implied
    from karat.diagnose.verify.names import spelled
    from karat.diagnose.verify.order import check_order
    from karat.diagnose.verify.recompute import from_lists

    given = computed is not None
    known: Mapping[str, Values] = computed if computed is not None else from_lists(rows, repeats)
    found: list[Figure] = []
    if not given:
        found += check_columns(rows, known)
        found += check_implied(rows, list(known))
        found += check_order(rows)
        found += check_defaults(rows)
        found += _repeated(rows)
        found += _not_checked(rows, {figure.name for figure in found})
    if table is not None:
        labels = frozenset(spelled(name) for name in rows.labels)
        figures = printed_figures(table, labels)
        if not figures and not beside:
            raise _no_figures(table)
        found += check_aggregates(rows, figures, known, [figure for figure in found if figure.broken])
        found += unread_cells(table, labels)
        wrong = {(f.where, f.name, f.what) for f in found if f.broken}
        follows = {(f.where, f.name, f.what) for f in found if not f.broken and f.recomputed is not None}
        alone = check_alone(figures, n=n, k=rows.k, one_gold=one_gold)
        found += [
            f for f in alone
            if f.verdict == "impossible" and (f.where, f.name, f.what) not in wrong
            and not (f.cause in BY_N and (f.where, f.name, f.what) in follows)
        ]  # fmt: skip
    return found


def _repeated(rows: Rows) -> list[Figure]:
    """Questions that stand twice for one configuration."""
    from collections import Counter

    many = Counter(zip(rows.ids, *rows.labels.values(), strict=True))
    twice = [key for key, count in many.items() if count > 1]
    if rows.id_column is None or not twice:
        return []
    why = because("repeated rows", f"{len(twice)} of them, such as {twice[0][0]!r}")
    return [Figure("", rows.id_column, "rows", "suspect", cause="repeated rows", why=why, apart=len(twice))]


def _not_checked(rows: Rows, checked: set[str]) -> list[Figure]:
    """Columns of figures that nothing in the rows says anything about, or that are not all numbers."""
    from karat.diagnose.verify._digits import read_cell
    from karat.diagnose.verify.names import measure_of

    why = "the rows hold nothing to compute it from."
    unread = [
        Figure("", column, "rows", "unchecked", why=f"{text!r} of question {qid} is no number.", cells=len(rows))
        for column in rows.table.columns
        if column not in {*rows.numbers, rows.retrieved_column, rows.gold_column}
        and measure_of(column, rows.k or 1) is not None
        for qid, text in list(zip(rows.ids, rows.texts(column), strict=True))
        if text and read_cell(text) is None
    ]
    firsts = {figure.name: figure for figure in reversed(unread)}
    return [*reversed(firsts.values())] + [
        Figure("", column, "rows", "unchecked", why=why, cells=sum(one is not None for one in rows.numbers[column]))
        for column in rows.measured
        if column not in checked
    ]


def verify_table(
    tables: Sequence[RawTable], *, n: int | None = None, k: int | None = None, one_gold: bool = False
) -> list[Figure]:
    """What tables can be by themselves, each apart from the others."""
    from karat.diagnose.verify.alone import check_alone
    from karat.diagnose.verify.figures import printed_figures, unread_cells

    found: list[Figure] = []
    for table in tables:
        figures = printed_figures(table)
        found += [*check_alone(figures, n=n, k=k, one_gold=one_gold), *unread_cells(table)] if figures else []
    if not found:
        raise _no_figures(tables[0])
    return found


def _no_figures(table: RawTable) -> InputError:
    return InputError("no figures were found in it", place=table.name, remedy="Name measures in its columns.")
