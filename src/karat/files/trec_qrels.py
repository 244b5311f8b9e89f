"""trec_qrels: `qid 0 docid grade`, one judgement a line, blanks between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._judgements import Judgements, judgement_lines, read_judgements
from karat.files._write import PlainIds, lost_of, written
from karat.io import cells
from karat.io.input import Input
from karat.io.source import Source

if TYPE_CHECKING:
    import polars as pl


def _sniff(input: Input, kind: Kind) -> Fit | None:
    sizes = [len(line.split()) for line in input.head_lines()] if input.shape == "columns" else []
    if 4 not in sizes or sizes.count(6) * 2 > len(sizes):
        return None
    return Fit(0.95, "four fields a line, the last a grade")


def _columns(source: Source) -> pl.DataFrame | None:
    """Question, doc and grade read at once, or None where a line needs a closer look."""
    import polars as pl

    separator = "\t" if "\t" in source.first_line else " "
    schema = {"question": pl.String, "iteration": pl.String, "doc": pl.String, "grade": pl.Int64}
    try:
        frame = pl.read_csv(source.data(), has_header=False, separator=separator, schema=schema, quote_char=None)
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    odd = [pl.all().is_null(), pl.col("grade").abs() >= cells.GRADE_LIMIT]
    if separator == "\t":
        odd.append(pl.col("question", "doc").str.contains(r"^\s|\s$"))
    return None if frame.select(pl.any_horizontal(odd).any()).item() else frame


def _grouped(frame: pl.DataFrame) -> Judgements | None:
    """The table, or None when a pair stands twice. Lines of a question that stand together are taken together."""
    stretches = frame["question"].rle().struct.unnest()
    docs, grades = frame["doc"].to_list(), frame["grade"].to_list()
    table: Judgements = {}
    begin = 0
    for qid, size in zip(stretches["value"].to_list(), stretches["len"].to_list(), strict=True):
        end = begin + size
        table.setdefault(qid, {}).update(zip(docs[begin:end], grades[begin:end], strict=True))
        begin = end
    return table if sum(map(len, table.values())) == len(docs) else None


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    source = input.need_source()
    frame = None if source.is_small else _columns(source)
    qrels = _grouped(frame) if frame is not None else None
    if qrels is None:
        qrels, _ = read_judgements(input.with_rows(judgement_lines(input)))
    return TestSet(qrels=qrels, name=input.stem), []


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    ids = PlainIds()
    with written(path) as file:
        for qid, docs in (testset.qrels or {}).items():
            for (question, doc), grade in zip(ids.of(qid, docs), docs.values(), strict=True):
                file.write(f"{question} 0 {doc} {grade}\n")
    bare = 0 if testset.is_plain else sum(not question.gold for question in testset)
    lost = [f"{plural(bare, 'question')} without gold"] if bare else []
    return [*lost_of(testset, keeps=("gold", "grades")), *lost, *ids.lost()]


FORMAT = Format(
    name="trec_qrels",
    about="TREC qrels: question 0 document grade",
    sniff=_sniff,
    read_testset=_read_testset,
    write_testset=_write_testset,
    endings=(".qrels", ".trec", ".txt"),
)
