"""Labels: what people say of answers (id, system, measure, label, rater), from CSV, TSV, JSON, JSONL or Parquet."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from karat.core.errors import UsageError
from karat.core.text.words import plural
from karat.files import _cells
from karat.files._aliases import LABELS, Names
from karat.files._cells import CellError, shown
from karat.files._look import Look
from karat.files._objects import is_frame, polars_frame
from karat.files._signs import has_records
from karat.results.calibration import Label, Labels
from karat.results.evaluation import Taken

_NO_LABEL = frozenset({"n/a", "na", "none", "null", "nan", "-", "?"})
_WORDS = {
    "yes": 1.0, "true": 1.0, "correct": 1.0, "pass": 1.0, "right": 1.0,
    "no": 0.0, "false": 0.0, "incorrect": 0.0, "fail": 0.0, "wrong": 0.0,
}  # fmt: skip
_FORM = "Name the columns id, system, measure, label, rater; id and label must be there."


def as_labels(given: Any, *, columns: Mapping[str, str] | None = None) -> Labels:
    """Labels from a path, a list of dicts or a frame."""
    if isinstance(given, Labels):
        return given
    if isinstance(given, str | os.PathLike):
        return _read(Look(given, columns))
    if is_frame(given):
        return _read(Look.of_frame("labels (frame)", polars_frame(given), columns))
    if isinstance(given, Sequence):
        return _read(Look.of_records("labels (list)", given, columns))
    raise UsageError(f"labels cannot be made of {type(given).__name__}. Give a path, a list of dicts or a frame.")


def _read(look: Look) -> Labels:
    if look.shape == "folder":
        raise look.error("is a folder where a file of labels is meant", remedy="Name a file in it.")
    if not has_records(look):
        raise look.error("is no table of labels", remedy=_FORM)
    rows: list[Label] = []
    empty = 0
    names = Names(LABELS, look.fields)
    for need in ("id", "label"):
        if not names.has(need):
            there = ", ".join(look.original.get(name, name) for name in look.fields[:12])
            near = names.nearest((need,))
            raise look.error(f"no column holds the {need} (there are {there})", remedy=f"{near} {_FORM}".strip())
    if look.map_notes:
        raise UsageError(look.map_notes[0])
    for row, record in look.records():
        label = _label(look, names, row, record)
        if label is None:
            empty += 1
        else:
            rows.append(label)
    if not rows:
        raise look.error("no row holds a label", remedy='Fill in the column "label".')
    _refuse_mixtures(look, rows)
    _refuse_doubles(look, rows)
    people = len({label.rater for label in rows})
    what = f"{plural(len(rows), 'label')} by {plural(people, 'rater')}"
    notes = [f"{plural(empty, 'row')} without a label"] if empty else []
    notes += look.column_notes([aliases[0] for aliases in names.of.values() if aliases])
    return Labels(look.name, look.unit, tuple(rows), empty, Taken(look.name, "labels", what, tuple(notes)))


def _label(look: Look, names: Names, row: int, record: Mapping[str, Any]) -> Label | None:
    """The label of a row; None where it is left empty."""
    found = {}
    for field in ("id", "system", "measure", "rater"):
        alias, value = names.first(record, field)
        try:
            found[field] = _cells.id_text(value) if alias else None
        except CellError as error:
            raise look.error(error.problem, row=row, field=alias, remedy=error.remedy) from None
    alias, value = names.first(record, "label")
    if not alias or (isinstance(value, str) and value.strip().lower() in _NO_LABEL):
        return None
    if found["id"] is None:
        raise look.error("a label without the id of its question", row=row, remedy="Fill in the id.")
    for field in ("system", "measure"):
        if found[field] is None and names.has(field):
            raise look.error(f"a label without its {field}", row=row, field=names.of[field][0], remedy="Fill it in.")
    is_word = isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in _WORDS)
    try:
        number = _WORDS[str(value).strip().lower()] if is_word else _cells.finite(value, "label")
    except CellError:
        raise look.error(
            f"label {shown(value)} is neither a number nor yes or no",
            row=row,
            field=alias,
            remedy="Give numbers of one scale, or yes and no; leave the cell empty where a person did not say.",
        ) from None
    return Label(found["id"], number, found["system"], found["measure"], found["rater"], row, is_word)


def _refuse_mixtures(look: Look, rows: Sequence[Label]) -> None:
    """Words and numbers for one measure: nobody can say which number a yes is."""
    first: dict[str | None, Label] = {}
    for label in rows:
        earlier = first.setdefault(label.measure, label)
        if earlier.is_word != label.is_word:
            raise look.error(
                f"a {'word' if label.is_word else 'number'} where {look.unit} {earlier.row} has a "
                f"{'word' if earlier.is_word else 'number'}",
                row=label.row,
                remedy="Write all labels of a measure in one way.",
            )


def _refuse_doubles(look: Look, rows: Sequence[Label]) -> None:
    seen: dict[tuple[str | None, ...], int] = {}
    for label in rows:
        key = (label.question, label.system, label.measure, label.rater)
        earlier = seen.setdefault(key, label.row)
        if earlier != label.row:
            who = "" if label.rater is None else f" by {shown(label.rater)}"
            raise look.error(
                f"a second label{who} for the same answer to question {shown(label.question)} "
                f"(the first is in {look.unit} {earlier})",
                row=label.row,
                remedy='Keep one, or name the raters in a column "rater", if they are two people.',
            )
