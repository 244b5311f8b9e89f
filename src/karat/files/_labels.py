"""Labels: what people say of answers (id, system, measure, label, rater), from CSV, TSV, JSON, JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, UsageError
from karat.core.text.words import plural
from karat.files._marks import are_marks, read_marks
from karat.files._questions import has_float_ids, id_of
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import LABELS, SHOWN, Columns, field_name
from karat.io.input import Input
from karat.results.evaluation import InputInfo
from karat.results.marks import VALUES

if TYPE_CHECKING:
    from karat.results.calibration import HumanLabel, Judgements, Labels
    from karat.results.marks import Marks

_WORDS = {
    "yes": 1.0, "true": 1.0, "correct": 1.0, "pass": 1.0, "right": 1.0,
    "no": 0.0, "false": 0.0, "incorrect": 0.0, "fail": 0.0, "wrong": 0.0,
}  # fmt: skip
_FORM = "Name the columns id, system, measure, label, rater; id and label must be there."


def as_labels(labels: Any, *, columns: Mapping[str, str] | None = None, measure: str | None = None) -> Labels:
    """Labels from a path, a list of dicts or a frame; those made in the browser are of `measure`."""
    from karat.results.calibration import Labels

    if are_marks(labels):
        return _of_answers(read_marks(labels), measure)
    return labels if isinstance(labels, Labels) else _read(_table(Input.from_any(labels, "labels", columns)))


def as_judgements(
    labels: Any, judges: Mapping[str, Any], *, people: Sequence[str] = (), columns: Mapping[str, str] | None = None
) -> Judgements:
    """What people and several judges say: each judge by a column of the labels, else a path, a list or a frame.

    `people` are columns too, one for each person; without them people's labels are where a table of labels has them.
    """
    from karat.results.calibration import Judgements, Labels

    input = _table(Input.from_any(labels, "labels", columns))
    own = {name: column for name, given in judges.items() if (column := _column(input, given)) is not None}
    rated: list[str | None] = [_person(input, name) for name in people]
    if not rated and Columns(LABELS, _without(input, own.values())).has("label"):
        rated = [None]
    ratings = [_read(input, column, aside=own.values(), is_rater=column is not None) for column in rated]
    grades = {name: _judge(input, own.get(name), name, given) for name, given in judges.items()}
    theirs = None
    if ratings:
        rows = tuple(label for one in ratings for label in one.rows)
        theirs = Labels(place=input.name, unit=input.unit, rows=rows, empty=ratings[0].empty, taken=ratings[0].taken)
    extra, lengths, positions = _shown(input)
    used = [*own.values(), *filter(None, rated), *extra]
    return Judgements(
        place=input.name,
        people=theirs,
        judges=grades,
        lengths=lengths,
        positions=positions,
        taken=_taken(input, theirs, grades, own, used),
    )


def _of_answers(marks: Marks, measure: str | None) -> Labels:
    """The labels of answers among marks: right 1, partly .5, wrong 0."""
    from karat.results.calibration import HumanLabel, Labels

    rows = tuple(
        HumanLabel(
            question=mark.question, value=VALUES["answer"][mark.value or ""], system=mark.system, measure=measure,
            rater=mark.by, row=mark.row,
        )
        for mark in marks.standing
        if mark.kind == "answer"
    )  # fmt: skip
    if not rows:
        raise InputError("no answer is labelled in it", place=marks.place, remedy="Label answers in `karat view`.")
    others = len(marks.standing) - len(rows)
    notes = ["right is 1, partly .5, wrong 0"]
    notes += [f"{plural(others, 'label')} of hits, claims or questions left aside"] if others else []
    notes += ["its last line is not whole and was left out"] if marks.torn else []
    taken = InputInfo(marks.place, "labels.jsonl", _counted(rows), tuple(notes))
    return Labels(place=marks.place, unit="line", rows=rows, empty=0, taken=taken)


def _judge(input: Input, column: str | None, name: str, given: Any) -> Labels:
    """The grades of one judge."""
    if column is not None:
        return _read(input, column, is_judge=True)
    if isinstance(given, str) and not Path(given).exists():
        there = input.named(input.fields)
        raise UsageError(f"--judge {name}={given}: neither a column of {input.name} nor a file. It has {there}.")
    return _read(_table(Input.from_any(given, f"grades of {name}")), is_judge=True)


def _taken(
    input: Input, people: Labels | None, judges: Mapping[str, Labels], own: Mapping[str, str], used: Sequence[str]
) -> tuple[InputInfo, ...]:
    """What each file was read as; the labels' own first."""
    parts = [_counted(people.rows)] if people is not None else []
    parts += [f"{plural(len(judges[name].rows), 'grade')} of {name}" for name in own]
    columns = Columns(LABELS, _without(input, used))
    of_labels = [aliases[0] for aliases in columns.of.values() if aliases]
    first = InputInfo(input.name, "labels", ", ".join(parts), tuple(input.column_notes([*of_labels, *used])))
    files = [
        replace(judges[name].taken, what=f"{plural(len(judges[name].rows), 'grade')} of {name}")
        for name in judges
        if name not in own
    ]
    return first, *files


def _table(input: Input) -> Input:
    """An input that holds a table; any other is refused."""
    if input.folder is not None:
        raise input.error("is a folder where a file of labels is meant", remedy="Name a file in it.")
    if not input.has_records:
        raise input.error("is no table of labels", remedy=_FORM)
    return input


def _column(input: Input, given: Any) -> str | None:
    """The column of the labels that a user names; None where it is none of them."""
    name = field_name(given) if isinstance(given, str) else None
    return name if name in input.fields else None


def _person(input: Input, given: str) -> str:
    column = _column(input, given)
    if column is None:
        raise input.error(f"has no column {given!r} for --people", remedy=f"There are {input.named(input.fields)}.")
    return column


def _without(input: Input, aside: Iterable[str]) -> list[str]:
    left = set(aside)
    return [name for name in input.fields if name not in left]


def _shown(input: Input) -> tuple[list[str], dict[tuple[str | None, str], float], dict[tuple[str | None, str], str]]:
    """How long each answer is and where it stood, where the file says, and by which columns."""
    columns, about = Columns(LABELS, input.fields), Columns(SHOWN, input.fields)
    lengths: dict[tuple[str | None, str], float] = {}
    positions: dict[tuple[str | None, str], str] = {}
    if not about.has("length", "answer", "position"):
        return [], lengths, positions
    float_ids = has_float_ids(input, columns.of["id"])
    for row, record in input.records():
        with input.reading(row, about):
            system = columns.value(record, "system")
            key = (
                None if system is None else cells.id_text(system),
                id_of(cells.id_text(columns.value(record, "id")), float_ids),
            )
            length, answer = about.value(record, "length"), about.value(record, "answer")
            position = about.value(record, "position")
            if length is not None:
                lengths[key] = cells.finite_number(length, "length")
            elif answer is not None:
                lengths[key] = len(str(answer))
            if position is not None:
                positions[key] = cells.id_text(position)
    return list(about.used), lengths, positions


def _read(
    input: Input, grade: str | None = None, *, aside: Iterable[str] = (), is_rater: bool = False, is_judge: bool = False
) -> Labels:
    """Labels of a table; those of the column `grade`, which `is_rater` names the person of, if it is given.

    Rows of a judge may repeat what several people rated; it says one thing of an answer.
    """
    from karat.results.calibration import Labels

    columns = Columns(LABELS, _without(input, aside))
    if grade is not None:
        columns.of["label"] = (grade,)
    if is_rater or is_judge:
        columns.of["rater"] = ()
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
        shown = input.original.get(columns.of["label"][0], columns.of["label"][0])
        raise input.error("no row holds a label", remedy=f'Fill in the column "{shown}".')
    if is_rater:
        rows = tuple(replace(label, rater=input.original.get(grade or "", grade)) for label in rows)
    _refuse_mixtures(input, rows)
    if is_judge:
        rows = _once(input, rows)
    _refuse_doubles(input, rows)
    notes = [f"{plural(empty, 'row')} without a label"] if empty else []
    notes += input.column_notes([aliases[0] for aliases in columns.of.values() if aliases])
    return Labels(
        place=input.name,
        unit=input.unit,
        rows=rows,
        empty=empty,
        taken=InputInfo(input.name, "labels", _counted(rows), tuple(notes)),
    )


def _counted(rows: Sequence[HumanLabel]) -> str:
    return f"{plural(len(rows), 'label')} by {plural(len({label.rater for label in rows}), 'rater')}"


def _once(input: Input, rows: Sequence[HumanLabel]) -> tuple[HumanLabel, ...]:
    """Each grade of a judge once, where a table has a row for every person who rated the same answer."""
    first: dict[tuple[str | None, ...], HumanLabel] = {}
    for label in rows:
        earlier = first.setdefault((label.question, label.system, label.measure), label)
        if earlier.value != label.value:
            raise input.error(
                f"a judge gives {label.value:g} to the answer to question {quoted(label.question)} that it gives "
                f"{earlier.value:g} in {input.unit} {earlier.row}",
                row=label.row,
                remedy="Keep one grade of an answer, or give each showing of it an id of its own.",
            )
    return tuple(first.values())


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
