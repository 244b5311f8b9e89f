"""Labels: what people say of answers (id, system, measure, label, rater), from CSV, TSV, JSON, JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.core.text.words import plural
from karat.files._questions import has_float_ids, id_of
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import LABELS, Columns
from karat.io.input import Input
from karat.results.evaluation import InputInfo

if TYPE_CHECKING:
    from karat.results.calibration import HumanLabel, Labels

_WORDS = {
    "yes": 1.0, "true": 1.0, "correct": 1.0, "pass": 1.0, "right": 1.0,
    "no": 0.0, "false": 0.0, "incorrect": 0.0, "fail": 0.0, "wrong": 0.0,
}  # fmt: skip
_FORM = "Name the columns id, system, measure, label, rater; id and label must be there."


def as_labels(labels: Any, *, columns: Mapping[str, str] | None = None) -> Labels:
    """Labels from a path, a list of dicts or a frame."""
    from karat.results.calibration import Labels

    return labels if isinstance(labels, Labels) else _read(Input.from_any(labels, "labels", columns))


def _read(input: Input) -> Labels:
    from karat.results.calibration import Labels

    if input.folder is not None:
        raise input.error("is a folder where a file of labels is meant", remedy="Name a file in it.")
    if not input.has_records:
        raise input.error("is no table of labels", remedy=_FORM)
    columns = Columns(LABELS, input.fields)
    for need in ("id", "label"):
        if not columns.has(need):
            remedy = f"{columns.nearest((need,))} {_FORM}".strip()
            raise input.error(f"no column holds the {need} (there are {input.named(input.fields)})", remedy=remedy)
    if input.map_notes:
        raise UsageError(input.map_notes[0])
    float_ids = has_float_ids(input, columns.of["id"])
    read = [_label(input, columns, row, record, float_ids) for row, record in input.records()]
    rows = tuple(label for label in read if label is not None)
    empty = len(read) - len(rows)
    if not rows:
        raise input.error("no row holds a label", remedy='Fill in the column "label".')
    _refuse_mixtures(input, rows)
    _refuse_doubles(input, rows)
    what = f"{plural(len(rows), 'label')} by {plural(len({label.rater for label in rows}), 'rater')}"
    notes = [f"{plural(empty, 'row')} without a label"] if empty else []
    notes += input.column_notes([aliases[0] for aliases in columns.of.values() if aliases])
    return Labels(
        place=input.name,
        unit=input.unit,
        rows=rows,
        empty=empty,
        taken=InputInfo(input.name, "labels", what, tuple(notes)),
    )


def _label(input: Input, columns: Columns, row: int, record: Mapping[str, Any], float_ids: bool) -> HumanLabel | None:
    from karat.results.calibration import HumanLabel

    """The label of a row; None where it is left empty."""
    with input.reading(row, columns):
        values = {field: columns.value(record, field) for field in ("id", "system", "measure", "rater")}
        texts = {field: None if value is None else cells.id_text(value) for field, value in values.items()}
        value = columns.value(record, "label")
        if value is None or (isinstance(value, str) and value.strip().lower() in cells.NOTHING):
            return None
        for field in ("id", "system", "measure"):
            if texts[field] is None and columns.has(field):
                columns.at = columns.of[field][0]
                raise CellError(f"a label without its {field}", "Fill it in.")
        word = str(value).strip().lower()
        is_word = isinstance(value, bool | str) and word in _WORDS
        try:
            number = _WORDS[word] if is_word else cells.finite_number(value)
        except CellError:
            raise CellError(
                f"label {quoted(value)} is neither a number nor yes or no",
                "Give numbers of one scale, or yes and no; leave the cell empty where a person did not say.",
            ) from None
    return HumanLabel(
        question=id_of(texts["id"], float_ids),
        value=number,
        system=texts["system"],
        measure=texts["measure"],
        rater=texts["rater"],
        row=row,
        is_word=is_word,
    )


def _refuse_mixtures(input: Input, rows: Sequence[HumanLabel]) -> None:
    """Words and numbers for one measure: nobody can say which number a yes is."""
    first: dict[str | None, HumanLabel] = {}
    for label in rows:
        earlier = first.setdefault(label.measure, label)
        if earlier.is_word != label.is_word:
            raise input.error(
                f"a {'word' if label.is_word else 'number'} where {input.unit} {earlier.row} has a "
                f"{'word' if earlier.is_word else 'number'}",
                row=label.row,
                remedy="Write all labels of a measure in one way.",
            )


def _refuse_doubles(input: Input, rows: Sequence[HumanLabel]) -> None:
    seen: dict[tuple[str | None, ...], int] = {}
    for label in rows:
        who = "" if label.rater is None else f" by {quoted(label.rater)}"
        what = f"a label{who} for the same answer to question {quoted(label.question)}"
        remedy = 'Keep one, or name the raters in a column "rater", if they are two people.'
        key = (label.question, label.system, label.measure, label.rater)
        input.refuse_repeat(seen, key, label.row, what, remedy)
