"""trec_topics: `qid<TAB>text`, questions without gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._questions import read_questions
from karat.io.cells import Record
from karat.io.fields import looks_keyed
from karat.io.input import Input


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.shape not in ("tsv", "columns"):
        return None
    lines = [line.split("\t") for line in input.head_lines()]
    if not lines or any(len(cells) != 2 or not cells[0].strip() or not cells[1].strip() for cells in lines):
        return None
    return Fit(0.6, "an id, a tab and a text on every line") if looks_keyed(dict.fromkeys(lines[0])) else None


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    return read_questions(input.with_rows(_records(input)))


def _records(input: Input) -> Iterator[tuple[int, Record]]:
    for row, line in input.need_source().lines():
        qid, _, text = (part.strip() for part in line.partition("\t"))
        if qid and text:
            yield row, {"id": qid, "question": text}
        elif line.strip():
            raise input.error("not a question id, a tab and a text", row=row, remedy="Write id<TAB>text.")


FORMAT = Format(name="trec_topics", about="topics: question id, tab, text", sniff=_sniff, read_testset=_read_testset)
