"""trec_qrels: `qid 0 docid grade`, one judgement a line, blanks between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.text.words import plural
from karat.core.types import TestSet
from karat.files import _cells
from karat.files._cells import CellError, shown
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._write import lost_of, plain, written
from karat.results.evaluation import Taken

if TYPE_CHECKING:
    import polars as pl

    from karat.files._source import Source

Table = dict[str, dict[str, int]]


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if kind != "testset" or look.shape != "columns":
        return None
    sizes = [len(line.split()) for line in look.head_lines()]
    if 4 not in sizes or sizes.count(6) * 2 > len(sizes):
        return None
    return Fit(0.95, "four fields a line, the last a grade")


def read(source: Source) -> Table:
    """Judgements as {question: {doc: grade}}, in the order of the file."""
    fast = _columns(source)
    table = _grouped(fast) if fast is not None else None
    return table if table is not None else _by_line(source)


def _columns(source: Source) -> pl.DataFrame | None:
    """Question, doc and grade read at once, or None where a line needs a closer look."""
    import polars as pl

    first = source.first_line
    separator = "\t" if "\t" in first else " "
    schema = {"question": pl.String, "iteration": pl.String, "doc": pl.String, "grade": pl.Int64}
    data = source.whole_lines()
    try:
        frame = pl.read_csv(data, has_header=False, separator=separator, schema=schema, quote_char=None)
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    odd = any(column.null_count() for column in frame) or (
        separator == "\t"
        and frame.select(pl.any_horizontal(pl.col("question", "doc").str.contains(r"^\s|\s$")).any()).item()
    )
    return None if odd else frame


def _grouped(frame: pl.DataFrame) -> Table | None:
    """The table, or None when a pair stands twice or a grade is out of range."""
    runs = frame["question"].rle().struct.unnest()
    docs, grades = frame["doc"].to_list(), frame["grade"].to_list()
    if min(grades) <= -_cells.GRADE_LIMIT or max(grades) >= _cells.GRADE_LIMIT:
        return None
    table: Table = {}
    begin = 0
    for qid, size in zip(runs["value"].to_list(), runs["len"].to_list(), strict=True):
        row = table.setdefault(qid, {})
        expected = len(row) + size
        row.update(zip(docs[begin : begin + size], grades[begin : begin + size], strict=True))
        if len(row) != expected:
            return None
        begin += size
    return table


def _by_line(source: Source) -> Table:
    """The same line by line: runs of blanks, 3.0 as a grade, and errors that name their line."""
    table: Table = {}
    for number, line in source.lines():
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 4:
            raise source.error(
                f"has {plural(len(cells), 'field')} where a judgement has four (question 0 document grade)",
                row=number,
                remedy="Complete the row; ids may not hold blanks.",
            )
        qid, _, doc, grade = cells
        try:
            value = _cells.whole(grade)
        except CellError as error:
            raise source.error(error.problem, row=number, remedy=error.remedy) from None
        row = table.setdefault(qid, {})
        if doc in row:
            raise source.error(
                f"document {shown(doc)} is judged twice for question {shown(qid)}",
                row=number,
                remedy="Keep one row for each question and document.",
            )
        row[doc] = value
    return table


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    table = read(look.need_source())
    if not table:
        raise look.error("no judgements", remedy="Give at least one.")
    judgements = sum(len(docs) for docs in table.values())
    what = f"{plural(len(table), 'question')}, {plural(judgements, 'judgement')}"
    return TestSet(qrels=table, name=look.stem), Taken(look.name, FORMAT.name, what)


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    renamed = 0
    with written(path) as file:
        for qid, docs in (testset.qrels or {}).items():
            names: dict[str, str] = {}
            for doc, grade in docs.items():
                name = plain(doc)
                if name in names:
                    raise UsageError(
                        f"question {qid!r}: {names[name]!r} and {doc!r} are the same id once blanks are replaced. "
                        "Rename one of them, or write another format."
                    )
                names[name] = doc
                renamed += name != doc or plain(qid) != qid
                file.write(f"{plain(qid)} 0 {name} {grade}\n")
    lost = lost_of(testset, keeps=("gold", "grades"))
    bare = sum(not q.gold for q in testset.questions) if not testset.is_plain else 0
    if bare:
        lost.append(f"{plural(bare, 'question')} without gold")
    if renamed:
        lost.append(f"blanks in ids (written as _ in {plural(renamed, 'row')})")
    return lost


FORMAT = Format(
    "trec_qrels",
    "TREC qrels: question 0 document grade",
    _sniff,
    _read_testset,
    write_testset=_write_testset,
    endings=(".qrels", ".trec", ".txt"),
)
