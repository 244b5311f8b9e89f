"""Printed measures: what a rows file says its own scores are, to be checked against karat's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from karat.files import _cells
from karat.files._aliases import PRINTED
from karat.files._cells import CellError
from karat.files._look import Look
from karat.files._results import Key, Reader
from karat.files._runs import named_by


@dataclass(frozen=True)
class Printed:
    """What a rows file says of one system: question -> {column: value}, and what k stands for in a column's name."""

    rows: dict[str, dict[str, float]]
    k: int | None


def printed_measures(path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> dict[str, Printed]:
    """The measures that a rows file (healthcare, hybrid_rag) prints of each system; empty where it prints none.

    Columns are named as in the file; systems and questions as `read_results` names them.
    """
    look = Look(path, columns)
    reader = Reader(look)
    known = [name for name in reader.names.unknown if PRINTED.match(name)]
    found: dict[Key, dict[str, dict[str, float]]] = {}
    ks: dict[Key, set[str]] = {}
    for row, record in look.records():
        try:
            values = {
                look.original[name]: _cells.finite(record[name], name)
                for name in known
                if record.get(name) not in (None, "")
            }
            key = reader.key(record)
            found.setdefault(key, {})[reader.qid(record)[0]] = values
            ks.setdefault(key, set()).add(reader.text_of(record, "k") or "")
        except CellError as error:
            raise look.error(error.problem, row=row, remedy=error.remedy) from None
    names = named_by(found)
    return {names[key]: Printed(rows, _only(ks[key])) for key, rows in found.items()}


def _only(texts: set[str]) -> int | None:
    """The one cut-off that all rows name, if they do."""
    (text, *more) = texts
    return int(float(text)) if not more and _cells.is_number(text) and float(text) >= 1 else None
