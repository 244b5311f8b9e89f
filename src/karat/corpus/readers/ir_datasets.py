"""ir_datasets: `irds:ID`, the documents of a dataset, from the cache of ir_datasets alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

from karat.core.docs import Doc
from karat.core.errors import InputError
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.corpus._records import docs_of
from karat.io.irds import docs_of_id


def _sniff(file: File) -> bool | None:
    return file.is_dataset_id


def _read(file: File) -> Iterator[Doc]:
    try:
        yield from docs_of(file, enumerate(docs_of_id(str(file.path)), 1), "document")
    except InputError as error:
        raise ReadError("unreadable", f"{error}.") from None


READER = Reader("ir_datasets", "a dataset of ir_datasets", (), _sniff, _read, in_place_below=math.inf)
