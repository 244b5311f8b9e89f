"""Score tables: a row for each question (and system), a column for each measure; CSV, TSV, JSON, JSONL, Parquet.

karat's own rows.csv and rows.parquet are such tables, and so are the row files of most evaluation scripts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.text.words import plural
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import ASIDE, ID, QUESTION, RESULTS, TESTSET, Columns, field_name
from karat.io.input import Input
from karat.results.evaluation import InputInfo

if TYPE_CHECKING:
    from karat.results.comparison import ScoreTable

_COLUMNS: dict[str, tuple[str, ...]] = {
    "id": (*ID, *QUESTION),
    "system": (*RESULTS["system"], "run"),
    "question": QUESTION,
    "status": ("status",),
}
_TAG = "tag."
_BESIDE = frozenset(
    {alias for aliases in RESULTS.values() for alias in aliases}
    | {alias for aliases in TESTSET.values() for alias in aliases}
    | {"reason", "row", "index", "unnamed:_0", ""}
)
_COUNTS = frozenset({"retrieved", "gold"})  # lists in results, counts in a score table
_FORM = "A score table has a column with the question's id, one for the system, and one for each measure."
_EMPTY = "Leave a cell empty where there is no score."
_is_score = partial(cells.can_be, cells.finite_number)

Row = tuple[int, dict[str, Any]]


def is_score_table(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> bool:
    """Whether a file has ids and a column of numbers that is nothing else of karat's."""
    input = Input.open(path, columns)
    if not input.has_records:
        return False
    names = {field_name(input.original.get(name, name)) for name in input.fields}
    if not names & {*ID, *QUESTION}:
        return False
    return any(_is_measure(name) and any(_is_score(r.get(name)) for r in input.sample) for name in input.fields)


def as_score_table(scores: Any, columns: Mapping[str, str] | None = None) -> ScoreTable:
    """A score table from a path, a list of dicts or a frame."""
    from karat.results.comparison import ScoreTable

    return scores if isinstance(scores, ScoreTable) else _read(Input.from_any(scores, "scores", columns))


def _read(input: Input) -> ScoreTable:
    from karat.results.comparison import ScoreTable

    if not input.has_records:
        raise input.error("is no table of scores", remedy=_FORM)
    mapped = input.columns
    rows: list[Row] = [
        (row, {mapped.get(str(k), str(k)): v for k, v in raw.items() if mapped.get(str(k)) != ASIDE})
        for row, raw in input.raw_rows()
    ]
    names = list(dict.fromkeys(name for _, record in rows for name in record))
    spelled = {field_name(name): name for name in reversed(names)}
    columns = Columns(_COLUMNS, spelled)
    columns.of = {field: tuple(spelled[alias] for alias in aliases) for field, aliases in columns.of.items()}
    key, system, text, status = (next(iter(columns.of[field]), None) for field in _COLUMNS)
    measures, slices = _measures_and_slices(rows, names, {key, system})
    if key is None or not measures:
        what = "the id of the question" if key is None else "scores"
        raise input.error(f"no column holds {what} (there are {', '.join(names[:12])})", remedy=_FORM)
    keys: list[tuple[str, str]] = []
    for row, record in rows:
        with input.reading(row, columns):
            columns.at = key
            question = cells.id_text(record.get(key))
            columns.at = system
            keys.append((question, input.stem if system is None else cells.id_text(record.get(system))))
    questions = {question: place for place, question in enumerate(dict.fromkeys(question for question, _ in keys))}
    systems = {name: place for place, name in enumerate(dict.fromkeys(name for _, name in keys))}
    values = np.full((len(systems), len(questions), len(measures)), np.nan)
    held, failed = np.zeros(values.shape[:2], bool), np.zeros(values.shape[:2], bool)
    seen: dict[tuple[str, str], int] = {}
    labels: dict[str, dict[str, str]] = {_slice(name): {} for name in slices}
    texts: dict[str, str] = {}
    for (row, record), (question, name) in zip(rows, keys, strict=True):
        what = f"a row for question {quoted(question)} of {quoted(name)}"
        input.refuse_repeat(seen, (question, name), row, what, "Keep one; or name two systems in a column system.")
        place = systems[name], questions[question]
        held[place] = True
        failed[place] = status is not None and str(record.get(status)).strip().lower() in ("failed", "error")
        with input.reading(row, columns):
            for number, measure in enumerate(measures):
                columns.at = measure
                values[(*place, number)] = _score(record.get(measure))
        for label in slices:
            if not cells.is_missing(record.get(label)):
                labels[_slice(label)].setdefault(question, str(record[label]).strip())
        if text is not None and text != key and not cells.is_missing(record.get(text)):
            texts.setdefault(question, str(record[text]))
    sizes = ((systems, "system"), (measures, "measure"), (questions, "question"))
    what = ", ".join(plural(len(some), word) for some, word in sizes)
    empty = int((np.isnan(values) & held[:, :, None]).sum())
    notes = (f"{plural(empty, 'cell')} without a score",) if empty else ()
    return ScoreTable(
        place=input.name,
        systems=tuple(systems),
        questions=tuple(questions),
        measures=tuple(measures),
        values=values,
        held=held,
        failed=failed,
        slices=labels,
        texts=texts,
        taken=InputInfo(input.name, "score table", what, notes),
    )


def _slice(label: str) -> str:
    """What questions are sliced by is called."""
    return "kind" if field_name(label) in TESTSET["kind"] else label.removeprefix(_TAG)


def _measures_and_slices(
    rows: Sequence[Row], names: Sequence[str], taken: set[str | None]
) -> tuple[list[str], list[str]]:
    """Columns with a number in them that are measures, and columns of text that slice the questions."""
    measures, slices = [], []
    for name in names:
        if name in taken:
            continue
        filled = [record[name] for _, record in rows if not cells.is_missing(record.get(name))]
        if _is_measure(name) and any(map(_is_score, filled)):
            measures.append(name)
        elif (
            filled
            and all(isinstance(value, str) for value in filled)
            and (field_name(name) in TESTSET["kind"] or name.startswith(_TAG) or field_name(name) not in _BESIDE)
        ):
            slices.append(name)
    return measures, [name for name in slices if not name.endswith((".status", ".reason"))]


def _is_measure(name: str) -> bool:
    field = field_name(name)
    return field in _COUNTS or (field not in _BESIDE and not name.startswith(_TAG))


def _score(value: Any) -> float:
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    if not _is_score(value):
        raise CellError(f"{quoted(value)} is no score: it is not a finite number", _EMPTY)
    return cells.finite_number(value)
