"""Retrieval folders: questions, and judgements by split, each in files of their own, as BEIR and MTEB keep them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from karat.core.types import TestSet
from karat.files._judgements import joined_judgements
from karat.io.cells import Record
from karat.io.dataset_folder import Splits, choose, ignored, retrieval_parts
from karat.io.input import Input


def read_retrieval_folder(input: Input) -> tuple[TestSet, list[str]]:
    """The questions that one split of the judgements judges."""
    parts = None if input.folder is None else retrieval_parts(input.folder)
    if input.folder is None or parts is None:
        raise input.error("no queries and qrels in the folder", remedy="Give a BEIR or MTEB folder.")
    queries, qrels = parts
    chosen = choose(input.folder, qrels, input.split, "test")
    asked = choose(input.folder, queries, chosen.split if len(queries) > 1 else None, "test")
    table = Input.open(asked.files[0], input.columns)
    tables = [Input.open(path) for path in chosen.files]
    questions, judged = joined_judgements(input, table.with_rows(_numbered(asked.files, input)), tables)
    notes = [_note(input.folder, chosen.split, chosen.files, qrels)]
    if left := ignored(input.folder):
        notes.append(f"not read: {', '.join(left)}")
    if missing := len(questions) - len(judged):
        notes.append(f"{missing} of {len(questions)} queries are not judged there and are left out")
    return TestSet([questions[qid] for qid in judged], name=input.stem), notes


def _numbered(files: tuple[Path, ...], input: Input) -> Iterator[tuple[int, Record]]:
    """The records of the queries, numbered as in their file, or through several."""
    before = 0
    for path in files:
        row, table = 0, Input.open(path, input.columns)
        for row, record in table.records():
            yield before + row, record
        input.learn_names(table)
        before += row


def _note(folder: Path, split: str, files: tuple[Path, ...], qrels: Splits) -> str:
    """Which judgements are read, and which are not."""
    name = files[0].relative_to(folder).as_posix() + (f" and {len(files) - 1} more" if files[1:] else "")
    others = [paths[0].name if len(paths) == 1 else other for other, paths in qrels.items() if other != split]
    return f"judgements from {name}" + (f" (not {', '.join(others)})" if others else "")
