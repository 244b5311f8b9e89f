"""trec_topics: `qid<TAB>text`, questions without gold."""

from __future__ import annotations

from karat.core.types import Question, TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._questions import gold_notes
from karat.io.cells import shown
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
    questions: list[Question] = []
    rows: dict[str, int] = {}
    for row, line in input.need_source().lines():
        if not line.strip():
            continue
        qid, _, text = (part.strip() for part in line.partition("\t"))
        if not qid or not text:
            raise input.error("not a question id, a tab and a text", row=row, remedy="Write id<TAB>text.")
        input.once(rows, qid, row, f"question id {shown(qid)}", "Give every question its own id.")
        questions.append(Question(qid, text))
    testset = TestSet(questions, name=input.stem)
    return testset, gold_notes(testset)


FORMAT = Format(name="trec_topics", about="topics: question id, tab, text", sniff=_sniff, read_testset=_read_testset)
