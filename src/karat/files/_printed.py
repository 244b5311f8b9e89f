"""Printed measures: what a rows file says its own scores are, to be checked against karat's."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from karat.files import _cells
from karat.files._cells import CellError
from karat.files._look import Look
from karat.files._results import Key, Reader
from karat.files._runs import named_by

PRINTED = re.compile(
    r"^(precision|recall|f1|mrr|map|ndcg|hit|answer_f1|exact_match|em|rouge|bleu|p@|r@)", re.IGNORECASE
)


def printed_measures(
    path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None
) -> dict[str, dict[str, dict[str, float]]]:
    """{system: {question: {column: value}}} of a rows file (healthcare, hybrid_rag); empty where it prints none.

    Columns are named as in the file; systems and questions as `read_results` names them.
    """
    look = Look(path, columns)
    reader = Reader(look)
    known = [name for name in reader.names.unknown if PRINTED.match(name)]
    found: dict[Key, dict[str, dict[str, float]]] = {}
    for row, record in look.records():
        try:
            values = {
                look.original[name]: _cells.finite(record[name], name)
                for name in known
                if record.get(name) not in (None, "")
            }
            found.setdefault(reader.key(record), {})[reader.qid(record)[0]] = values
        except CellError as error:
            raise look.error(error.problem, row=row, remedy=error.remedy) from None
    names = named_by(found)
    return {names[key]: rows for key, rows in found.items()}
