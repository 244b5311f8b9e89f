"""Rows: values of single questions, found by the labels of a printed figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.core.text.words import plural
from karat.diagnose.verify.causes import because
from karat.diagnose.verify.names import (
    BLANK,
    CONTAINERS,
    CUTS,
    IDS,
    SLICED,
    Labels,
    is_measured,
    is_name,
    is_share,
    is_total,
    keys,
    letters,
    spelled,
)  # fmt: skip
from karat.diagnose.verify.numbers import Number, as_column, cut_of, has_decimal_commas, pointed, read_cell
from karat.files import RawTable
from karat.io.fields import RESULTS
from karat.results.verification import Figure, FigureStatus

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
UNITS = ("page", "doc", "id", "chunk", "url")
FIRST_HITS = ("retrieved_top1_url", "top1_url", "retrieved_top1", "top1", "first_hit")
LEVELS = 60  # most values of a column that tells rows apart
STATUS = (*RESULTS["status"], "state")
ERRORS = (*RESULTS["error"], "errors", "exception")
ANSWERS = (*RESULTS["answer"], "reply", "raw_reply", "judge_reply")
FAILED = re.compile(r"fail|error|timeout|exception|invalid", re.IGNORECASE)
NO_ERROR = ("", "none", "null", "false", "0", "nan")


@dataclass(frozen=True)
class MeasureValues:
    """The values of one measure over all rows, and those that mistakes would give from the same rows."""

    own: Floats
    suppose: Callable[[], Iterable[tuple[str, Floats]]] = list  # called only where something is wrong
    half: float = 0.0  # how far rounding may have moved each value
    once: Callable[[], Floats] | None = None  # with each unit credited once, where `own` credits repeats
    ranked: Floats | None = None  # what rankings give, where `own` is printed in the rows

    @cached_property
    def mistakes(self) -> list[tuple[str, Floats]]:
        """The values that each mistake would give, by its cause."""
        return list(self.suppose())


@dataclass(frozen=True)
class Chosen:
    """The rows that labels choose; `problem` says why none are."""

    mask: Bools
    problem: str = ""
    strange: str = ""
    """A label that no row knows."""


class QuestionRows:
    """A table with a row a system and question."""

    def __init__(self, table: RawTable, k: int | None = None) -> None:
        self.table, self.k = table, k
        self.names = {spelled(c): c for c in table.columns}
        self._labelled: dict[tuple[str, str], Bools | None] = {}
        self._values: dict[str, Floats] = {}

    def __len__(self) -> int:
        return len(self.table.rows)

    @property
    def size(self) -> str:
        """How many rows, questions and systems it holds, in words."""
        systems = plural(len(set(self.systems)), "system")
        return f"{plural(len(self), 'row')} of {plural(len(set(self.ids)), 'question')} and {systems}"

    def named(self, *names: str) -> list[str]:
        """The columns that are called so (spelled), in the order of the names."""
        return [self.names[name] for name in names if name in self.names]

    def cells(self, column: str) -> list[Any]:
        """The cells of a column, as spelled."""
        return [row.get(column) for row in self.table.rows]

    def texts(self, column: str) -> list[str]:
        """The cells of a column as texts without blanks around them."""
        return ["" if cell is None else str(cell).strip() for cell in self.cells(column)]

    def figure(
        self, column: str, verdict: FigureStatus, detail: str = "", *, cause: str = "", what: str = "rows", **more: Any
    ) -> Figure:
        """What became of checking a column: the cause in words, with the detail, which alone is a sentence."""
        why = because(cause, detail) if cause else detail
        return Figure(name=column, what=what, verdict=verdict, cause=cause, why=why, **{"where": "", **more})

    @cached_property
    def by_system(self) -> dict[str, list[int]]:
        """The rows of each system."""
        groups: dict[str, list[int]] = {}
        for i, system in enumerate(self.systems):
            groups.setdefault(system, []).append(i)
        return groups

    @cached_property
    def id_column(self) -> str | None:
        """The column that names questions."""
        return next(iter(self.named(*IDS)), None)

    @cached_property
    def retrieved_column(self) -> str | None:
        """The column with the ranking of each row; of several, one whose units the gold names too."""
        for unit in (*self._shared_units, *UNITS, ""):
            column = self.table.column(f"retrieved_{unit}" if unit else "retrieved")
            if column is not None and spelled(column) not in FIRST_HITS and self._holds_ids(column):
                return column
        return None

    @cached_property
    def gold_column(self) -> str | None:
        """The column with the gold of each row."""
        fields = (f"gold_{unit}" if unit else "gold" for unit in (*self._shared_units, *UNITS, ""))
        return next((c for field in fields if (c := self.table.column(field)) and self._holds_ids(c)), None)

    @cached_property
    def _shared_units(self) -> list[str]:
        return [u for u in UNITS if self.table.column(f"retrieved_{u}") and self.table.column(f"gold_{u}")]

    def _holds_ids(self, column: str) -> bool:
        """Whether its cells are lists of ids, not of objects."""
        return not any(isinstance(c, list) and c and isinstance(c[0], dict) for c in self.cells(column)[:20])

    @property
    def is_trace(self) -> bool:
        """Whether it is of single questions by its lists, or answers, though it may have one row and no id."""
        ranked = self.retrieved_column is not None and self.gold_column is not None
        return len(self) > 0 and (ranked or (self.id_column is not None and None not in self.answer_columns))

    @cached_property
    def answer_columns(self) -> tuple[str | None, str | None]:
        """The columns with answers and with what they should be."""
        answer = self.table.column("answer")
        others = replace(self.table, columns=tuple(c for c in self.table.columns if c != answer))
        return answer, others.column("answers")

    @cached_property
    def ids(self) -> list[str]:
        """The question of each row; its number where no column names one."""
        column = self.id_column
        return [str(i + 1) for i in range(len(self))] if column is None else self.texts(column)

    @cached_property
    def numbers(self) -> dict[str, list[Number | None]]:
        """Columns of numbers and blanks, with the digits they are printed with."""
        columns: dict[str, list[Number | None]] = {}
        for column in self.table.columns:
            texts = self.texts(column)
            if has_decimal_commas(texts, is_share(column)):
                texts = [pointed(text) for text in texts]
            read = [None if text in BLANK else read_cell(text) for text in texts]
            filled = [one for text, one in zip(texts, read, strict=True) if text not in BLANK]
            if filled and all(one is not None for one in filled):
                aligned = iter(as_column((one[0] for one in read if one is not None), exact=True))
                columns[column] = [None if one is None else next(aligned) for one in read]
        return columns

    def values(self, column: str) -> Floats:
        """A column of numbers; NaN where a row has none."""
        if column not in self._values:
            self._values[column] = np.array([np.nan if one is None else one.value for one in self.numbers[column]])
        return self._values[column]

    def half(self, column: str) -> float:
        """How far rounding may have moved the numbers of a column."""
        return max((one.half for one in self.numbers[column] if one is not None), default=0.0)

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """Columns of numbers that name a measure, or at least are no label and no id."""
        return tuple(
            c for c in self.numbers if c != self.id_column and (is_measured(c, self.k) or c not in self.labels)
        )

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Columns that tell groups of rows apart, with their values."""
        columns = {}
        for column in self.table.columns:
            if column == self.id_column or is_measured(column, self.k):
                continue
            values = [plain_value(text) for text in self.texts(column)]
            distinct = set(values)
            if len(distinct) <= LEVELS and (len(distinct) < len(values) or is_name(column)):
                columns[column] = values
        return columns

    @cached_property
    def systems(self) -> list[str]:
        """The system of each row in words, by the columns that name one and the settings beside them."""
        parts = [c for c in self.labels if is_name(c)]
        parts += [c for c in self.named("alpha", "k") if len(set(self.labels.get(c, ()))) > 1]
        if not parts:
            return [""] * len(self)
        columns = [self.labels[c] if is_name(c) else [f"{c} {v}" for v in self.labels[c]] for c in parts]
        return [", ".join(values) for values in zip(*columns, strict=True)]

    def column_of(self, name: str) -> str | None:
        """The column that holds what a printed figure is of."""
        wanted = keys(name, self.k)
        return next((c for c in self.numbers if c != self.id_column and keys(c, self.k) & wanted), None)

    def choose(self, labels: Labels) -> Chosen:
        """The rows that a figure is about: those that agree with each of its labels that the rows know."""
        for label in labels:
            if label not in self._labelled:
                self._labelled[label] = self._of_label(*label)
        known = [own for label in labels if (own := self._labelled[label]) is not None]
        strange = next((value for name, value in labels if self._labelled[name, value] is None), "")
        mask = np.logical_and.reduce(known) if known else np.ones(len(self), bool)
        if strange and not known and len(self.by_system) > 1:
            return Chosen(np.zeros(len(self), bool), f"no row says {strange!r}")
        return Chosen(mask, "" if mask.any() else "no row has these labels", strange)

    def _of_label(self, name: str, value: str) -> Bools | None:
        bare = name.removeprefix(SLICED)
        column = self.names.get(spelled(bare)) or self.names.get(spelled(SLICED + bare)) if name else None
        wanted = plain_value(value)
        if column is not None and column in self.labels:
            mask = np.array([own == wanted for own in self.labels[column]])
            return mask if mask.any() or not is_name(name) else self._anywhere(value)
        if spelled(value) in CONTAINERS or is_total((name, value)):
            return np.ones(len(self), bool)
        return self._anywhere(value)

    def _anywhere(self, value: str) -> Bools | None:
        key = letters(value)
        for values in [*self.labels.values(), self.systems]:
            mask = np.array([letters(own) == key for own in values])
            if key and mask.any():
                return mask
        return None

    @cached_property
    def failed(self) -> Bools:
        """Rows that say they failed, by a status or an error."""
        mask = np.zeros(len(self), bool)
        for column in self.named(*STATUS):
            mask |= np.array([bool(FAILED.search(text)) for text in self.texts(column)])
        for column in self.named(*ERRORS):
            mask |= np.array([text.lower() not in NO_ERROR for text in self.texts(column)])
        return mask

    @cached_property
    def unanswered(self) -> Bools:
        """Rows without an answer, or whose answer is an error."""
        for column in self.named(*ANSWERS):
            texts = self.texts(column)
            return np.array([not text or text.lower().startswith(("error", "failed")) for text in texts])
        return np.zeros(len(self), bool)

    @cached_property
    def common(self) -> Bools:
        """Rows of questions for which every system has a row."""
        systems: dict[str, set[str]] = {}
        for qid, system in zip(self.ids, self.systems, strict=True):
            systems.setdefault(qid, set()).add(system)
        return np.array([len(systems[qid]) == len(self.by_system) for qid in self.ids])

    @cached_property
    def left_out(self) -> dict[str, Bools]:
        """Rows that tables leave out of means: why, and which stay."""
        return {
            "failed": ~self.failed, "have no answer": ~self.unanswered, "are not answered by all systems": self.common,
        }  # fmt: skip


def plain_value(text: str) -> str:
    """A label's value: numbers as numbers are, so that 0.50 is 0.5.

    >>> plain_value("0.50"), plain_value(" bm25 ")
    ('0.5', 'bm25')
    """
    text = text.strip()
    try:
        return f"{float(pointed(text)):g}"
    except ValueError:
        return text


def rows_of(table: RawTable, k: int | None = None, *, sure: bool = False) -> QuestionRows | None:
    """The rows of a table that holds single questions, several a system; None where it holds summaries.

    `k` is the cut-off where the table does not say one. `sure`: it is said to hold rows, so that one question is
    enough.
    """
    rows = QuestionRows(table)
    several = len(rows) > 1 and len(set(rows.ids)) > 1 and len(rows.by_system) < len(rows)
    if not rows.is_trace and not (rows.id_column is not None and (several or (sure and len(rows)))):
        return None
    cuts = {text for column in rows.named(*CUTS) for text in rows.texts(column)}
    own = cut_of(next(iter(cuts))) if len(cuts) == 1 else None
    return QuestionRows(table, own or k)
