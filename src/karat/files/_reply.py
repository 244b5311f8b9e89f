"""Replies: what a system returns for one question at a time, read as a record of a results file is."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from karat.core.errors import InputError
from karat.files._aliases import RESULTS
from karat.files._cells import CellError
from karat.files._look import Look
from karat.files._results import Reader, ResultRow, read_row
from karat.io.fields import field_name


class ReplyReader:
    """Reads the replies of one system, from several threads at once."""

    def __init__(self) -> None:
        every = dict.fromkeys(alias for aliases in RESULTS.values() for alias in aliases)
        self._reader, self._lock = Reader(Look.of_records("reply", [every])), threading.Lock()

    def read(self, record: Mapping[str, Any], question: str) -> ResultRow:
        """What a record says of a question, whatever it calls its fields; InputError for what cannot be read."""
        fields = {field_name(str(name)): value for name, value in record.items()}
        with self._lock:
            try:
                return read_row(self._reader, fields, question)
            except CellError as error:
                raise InputError(error.problem, remedy=error.remedy) from None

    def notes(self) -> list[str]:
        """What to say of all replies so far, a sentence each."""
        with self._lock:
            return self._reader.notes()
