"""trec_topics: `qid<TAB>text`, questions without gold."""

from __future__ import annotations

from karat.core.types import Question, TestSet
from karat.files._aliases import record_names
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._testset import refuse_double, testset_of
from karat.io.fields import field_name
from karat.results.evaluation import Taken


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if kind != "testset" or look.shape not in ("tsv", "columns") or look.source is None:
        return None
    lines = [line.split("\t") for line in look.head_lines()]
    if not lines or any(len(cells) != 2 or not cells[0].strip() or not cells[1].strip() for cells in lines):
        return None
    known = set(record_names())
    if any(field_name(cell) in known for cell in lines[0]):
        return None
    return Fit(0.6, "an id, a tab and a text on every line")


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    rows: dict[str, int] = {}
    questions: list[Question] = []
    for row, line in look.need_source().lines():
        if not line.strip():
            continue
        qid, _, text = (part.strip() for part in line.partition("\t"))
        if not qid or not text:
            raise look.error("not a question id, a tab and a text", row=row, remedy="Write id<TAB>text.")
        refuse_double(look, qid, row, rows, True)
        questions.append(Question(qid, text))
    return testset_of(look, questions, FORMAT.name, ["questions only: no gold and no answers"])


FORMAT = Format("trec_topics", "topics: question id, tab, text", _sniff, _read_testset)
