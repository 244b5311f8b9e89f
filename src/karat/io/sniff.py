"""Sniff: what holds the records of a file, told by its first lines."""

from __future__ import annotations

from typing import Literal

from karat.io import records as _records
from karat.io.cells import Record, can_be
from karat.io.fields import looks_keyed
from karat.io.source import Source

Container = Literal[
    "jsonl", "json list", "json object", "csv", "tsv", "parquet", "arrow", "workbook", "columns", "text", "folder",
    "frame", "dataset", "records",
]  # fmt: skip


def is_document(document: Record) -> bool:
    """Whether an object on one line is a whole document rather than one record."""
    if _records.wrapped(document) is not None and not {"id", "qid", "question", "query", "retrieved"} & set(document):
        return True
    if _records.from_columns(document) is not None:
        return True
    return "id" not in document and all(isinstance(v, str) for v in document.values()) and looks_keyed(document)


def text_shape(source: Source) -> Container:
    """What holds the records of a file that is no JSON."""
    line = source.first_line
    cells, tabbed = line.split(), line.split("\t")
    if _is_trec(cells) and (len(tabbed) in (1, len(cells)) or cells[1].upper() in ("0", "Q0")):
        return "columns"
    for other in source.head.decode("utf-8", "replace").split("\n")[:10]:  # the first line may be the damaged one
        cells = other.split()
        if _is_trec(cells) and cells[1].upper() in ("0", "Q0"):
            return "columns"
    if "\t" in line:
        return "tsv"
    return "csv" if any(mark in line for mark in ",;|") else "text"


def _is_trec(cells: list[str]) -> bool:
    """Whether a line may be of qrels (four values, a number last) or of a run (six, a number fifth)."""
    if len(cells) == 4:
        return can_be(float, cells[3])
    if len(cells) > 6:  # text after the tag
        return cells[1].upper() == "Q0" and can_be(float, cells[3]) and can_be(float, cells[4])
    return len(cells) == 6 and can_be(float, cells[4]) and (cells[1].upper() == "Q0" or can_be(float, cells[3]))
