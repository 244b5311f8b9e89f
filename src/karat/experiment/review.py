"""Reviewing a test set in a file: its questions go out with a column for verdicts, and come back decided."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat.core.conversation import transcript
from karat.core.errors import UsageError
from karat.core.types import Gold, Nugget, Question, TestSet
from karat.experiment.inputs import refuse_repeated
from karat.experiment.relabel import RelabelledTestSet, relabelled
from karat.files import RawTable, gold_row, read_marks, read_raw_table, read_testset, write
from karat.io.writing import write_whole
from karat.systems.index import Index
from karat.testset.freeze import refuse_existing, refuse_frozen

PathLike = str | os.PathLike[str]
ENDING, ORIGINAL = ".review.csv", ".original"
COLUMNS = ("id", "verdict", "question", "answer")  # what is read back; `digest` says of which question
LABELLED_GOLD = "labelled_gold"  # the same: the gold as labels change it
GOLD_FIELDS = ("id", "doc", "page", "url", "chunk", "quote", "span", "grade")
NUGGETS = "nuggets"  # read back too, where the review has it
VERDICTS = ("keep", "drop")


def export_review(
    testset: PathLike,
    index: PathLike | Index | None = None,
    *,
    output: PathLike | None = None,
    labels: PathLike | None = None,
    columns: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda step: None,
    notify: Callable[[str], None] = lambda note: None,
) -> tuple[Path, TestSet]:
    """Write the questions to a CSV file with an empty verdict each, and what the check has against them.

    With an index the chunks that hold the gold stand beside each question, and the check knows more. With `labels`, a
    labels.jsonl, questions that people call bad have the verdict drop, and gold that they changed stands to be kept.
    """
    import polars as pl

    from karat.experiment.check import check
    from karat.match import resolve
    from karat.report.outputs.csv import written

    target = Path(output) if output is not None else Path(f"{os.fspath(testset)}{ENDING}")
    refuse_existing(target)
    say("reading the test set")
    questions, _ = read_testset(Path(testset), columns=columns)
    opened = index if index is None or isinstance(index, Index) else Index.open(index)
    resolution = None if opened is None else resolve(questions, opened.chunks, opened.docs)
    remarks: dict[str, list[str]] = {}
    for finding in check(questions, opened, progress=say).findings:
        for qid in finding.questions if finding.severity != "info" else ():
            remarks.setdefault(qid, []).append(finding.check)
    marked = None if labels is None else relabelled(questions, read_marks(labels))
    for note in marked.notes("given the verdict drop") if marked is not None else ():
        notify(note.text)
    rows = []
    has_history = any(question.history for question in questions)
    for number, question in enumerate(questions):
        holders = [] if resolution is None else resolution.gold_rows(number).tolist()
        rows.append(
            {
                "id": question.id,
                "verdict": "drop" if marked is not None and question.id in marked.bad else "",
                "question": question.text,
                "answer": _answer(question),
                "kind": question.kind or "",
                "gold": "\n".join(gold.label for gold in question.gold),
                **({"history": transcript(question.history)} if has_history else {}),
                "nuggets": nugget_lines(question.nuggets),
                "quotes": "\n".join(gold.quote for gold in question.gold if gold.quote),
                "chunks": "\n\n".join(resolution.chunks[row].text for row in holders) if resolution is not None else "",
                "findings": ", ".join(remarks.get(question.id, ())),
                **({} if marked is None else _labelled(marked, question)),
                "digest": digest_of(question),
            }
        )
    write_whole(target, written(pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))))
    return target, questions


def _labelled(marked: RelabelledTestSet, question: Question) -> dict[str, str]:
    """What people said of a question, and its gold as they changed it, an entry a line."""
    marks = [mark for mark in marked.standing if mark.question == question.id and mark.kind in ("hit", "question")]
    words = [
        ": ".join(filter(None, (f"{mark.by}: {mark.hit.id if mark.hit else 'question'} {mark.verdict}",
                                ", ".join([*mark.reasons, *filter(None, [mark.note])]))))
        for mark in marks
    ]  # fmt: skip
    gold = marked.testset[question.id].gold if question.id in marked.changed else ()
    lines = [json.dumps(gold_row(entry), ensure_ascii=False) for entry in gold]
    return {"labels": "\n".join(words), LABELLED_GOLD: "\n".join(lines)}


def _gold_in(table: RawTable, row: int, text: str) -> tuple[Gold, ...]:
    """The gold that a reviewer left of what labels made."""
    golds = []
    for line in filter(str.strip, text.splitlines()):
        try:
            fields = json.loads(line)
            known = {name: fields[name] for name in GOLD_FIELDS if name in fields}
            sound = len(known) == len(fields) and all(
                type(value) is int if name == "grade" else isinstance(value, str) for name, value in known.items()
                if name != "span"
            )  # fmt: skip
            if not sound or ("span" in known and not _is_span(known["span"])):
                raise ValueError
        except (ValueError, TypeError, RecursionError):
            remedy = "Delete the line, or leave it as it was."
            raise table.error(f"{line[:60]!r} is no gold", row=row, field=LABELLED_GOLD, remedy=remedy) from None
        golds.append(Gold(**{**known, **({"span": tuple(known["span"])} if "span" in known else {})}))
    return tuple(golds)


def _is_span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(place) is int for place in value)


@dataclass(frozen=True)
class Applied:
    """A review that was applied: the file, what is in it, and where the original is kept (None: where it was).

    `edited` questions are among the kept; `undecided` ones stay as they were.
    """

    path: Path
    testset: TestSet
    original: Path | None
    kept: int
    edited: int
    dropped: int
    undecided: int


def apply_review(
    testset: PathLike, review: PathLike, *, output: PathLike | None = None, columns: Mapping[str, str] | None = None
) -> Applied:
    """Write the test set with the verdicts of a review, to `output`, or in place with a copy of the original beside it.

    A question, an answer or nuggets that read otherwise in the review are an edit, and keep the question unless it is
    dropped.
    """
    source = Path(testset)
    questions, taken = read_testset(source, columns=columns)
    decided = _decided(read_raw_table(review), questions)
    if not decided:
        raise UsageError(f"{review} decides nothing: write keep or drop into the column verdict, or edit questions.")
    reviewed = [new for question in questions if (new := decided.get(question.id, question)) is not None]
    if not reviewed:
        raise UsageError("every question is dropped: nothing would be left of the test set.")
    original = None
    if output is not None:
        refuse_existing(Path(output))
    else:
        refuse_frozen(source, " and is not changed in place. Name another file: -o.")
        if taken.format != "canonical" or not source.is_file():
            raise UsageError(f"{source} is {taken.format}, not karat's own JSONL. Name a file to write with -o.")
        original = keep_original(source)
    target, decided_set = Path(output or source), TestSet(reviewed, name=questions.name)
    write(decided_set, target, format=None if output is not None else "canonical", inputs=(source,) if output else ())
    dropped = len(questions) - len(decided_set)
    edited = sum(decided.get(question.id) not in (None, question) for question in questions)
    return Applied(
        target, decided_set, original, len(decided) - dropped, edited, dropped, undecided=len(questions) - len(decided)
    )


def _decided(table: RawTable, questions: TestSet) -> dict[str, Question | None]:
    """Each question that a review decides about, as it is to be; None: dropped."""
    missing = [name for name in (*COLUMNS, "digest") if name not in table.columns]
    if missing:
        raise table.error(
            f"has no column {', '.join(missing)}", remedy="Give the file that `karat testset review` wrote."
        )
    known = {question.id: question for question in questions}
    refuse_repeated(questions)
    seen: set[str] = set()
    decided: dict[str, Question | None] = {}
    for row, record in enumerate(table.rows):
        qid, verdict, text, answer = (_line(str(record.get(name) or "")) for name in COLUMNS)
        if qid not in known or qid in seen:
            problem = "is listed twice" if qid in seen else "is not in the test set"
            raise table.error(f"question {qid!r} {problem}", row=row, remedy="Delete the row, or export again.")
        seen.add(qid)
        question, verdict = known[qid], verdict.lower()
        if verdict and verdict not in VERDICTS:
            raise table.error(f"{verdict!r} is no verdict", row=row, field="verdict", remedy="Write keep or drop.")
        edits: dict[str, Any] = {}
        if text != _line(question.text):
            edits["text"] = text
        if answer != _line(_answer(question)):
            edits["answers"] = (answer, *question.answers[1:])
        lines = [line for text in str(record.get(NUGGETS) or "").splitlines() if (line := _line(text))]
        if NUGGETS in table.columns and lines != nugget_lines(question.nuggets).splitlines():
            edits["nuggets"] = tuple(_nugget_in(table, row, line) for line in lines)
        if LABELLED_GOLD in table.columns and str(record.get(LABELLED_GOLD) or "").strip():
            gold = _gold_in(table, row, str(record[LABELLED_GOLD]))
            if gold != question.gold:
                edits["gold"] = gold
        if not verdict and not edits:
            continue
        if record.get("digest") != digest_of(question):
            raise table.error(
                f"question {qid!r} was changed after the export", row=row, remedy="Delete the row, or export again."
            )
        if not text or (not answer and edits.get("answers")):
            raise table.error("an edited text is empty", row=row, remedy="Write a text, or drop the question.")
        if edits.get("answers") and not question.answerable:
            raise table.error("an unanswerable question has no answer", row=row, field="answer", remedy="Leave it out.")
        decided[qid] = None if verdict == "drop" else replace(question, **edits)
    return decided


def nugget_lines(nuggets: Sequence[Nugget]) -> str:
    """Nuggets as a reviewer reads and edits them: a line each, `vital: ...` or `okay: ...`."""
    return "\n".join(f"{'vital' if nugget.vital else 'okay'}: {_line(nugget.text)}" for nugget in nuggets)


def _nugget_in(table: RawTable, row: int, line: str) -> Nugget:
    """A nugget that a reviewer left or wrote."""
    importance, _, text = line.partition(":")
    if importance.strip().lower() not in ("vital", "okay") or not text.strip():
        remedy = 'Begin each line with "vital:" or "okay:".'
        raise table.error(f"{line[:60]!r} is no nugget", row=row, field=NUGGETS, remedy=remedy)
    return Nugget(text.strip(), importance.strip().lower() == "vital")


def _answer(question: Question) -> str:
    return question.answers[0] if question.answers else ""


def _line(text: str) -> str:
    """A text as it is compared: a spreadsheet may change the spaces in it."""
    return " ".join(text.split())


def digest_of(question: Question) -> str:
    """A short digest of all that a question is: a verdict about another text is not taken for one about this."""
    return TestSet([question]).digest[:16]


def keep_original(source: Path) -> Path:
    """A copy of a file beside it, under a name that nothing has yet: qa.jsonl.original, qa.jsonl.original-2 ..."""
    path, number = source.with_name(source.name + ORIGINAL), 1
    while path.exists():
        number += 1
        path = source.with_name(f"{source.name}{ORIGINAL}-{number}")
    write_whole(path, source.read_bytes())
    return path
