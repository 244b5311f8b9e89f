"""Files: read and write test sets, results and labels, one format a file."""

from __future__ import annotations

from karat.files._format import formats
from karat.files._from_python import as_runs, as_testset
from karat.files._frozen import Frozen, frozen_beside, frozen_path, write_frozen
from karat.files._labels import as_judgements, as_labels
from karat.files._marks import append_mark, are_marks, mark_of, read_marks
from karat.files._raw_table import RawTable, read_raw_table, read_tables
from karat.files._read import read_any, read_results, read_testset
from karat.files._redact import Redactor
from karat.files._replies import ReplyReader
from karat.files._runs import described
from karat.files._score_table import as_score_table, is_score_table
from karat.files._write import convert, write
from karat.files.canonical import answer_row, gold_row, result_rows
from karat.files.claims import read_claims, write_claims

__all__ = [
    "Frozen",
    "RawTable",
    "Redactor",
    "ReplyReader",
    "answer_row",
    "append_mark",
    "are_marks",
    "as_judgements",
    "as_labels",
    "as_runs",
    "as_score_table",
    "as_testset",
    "convert",
    "described",
    "formats",
    "frozen_beside",
    "frozen_path",
    "gold_row",
    "is_score_table",
    "mark_of",
    "read_any",
    "read_claims",
    "read_marks",
    "read_raw_table",
    "read_results",
    "read_tables",
    "read_testset",
    "result_rows",
    "write",
    "write_claims",
    "write_frozen",
]
