"""beir: the corpus.jsonl of a BEIR folder, beside its queries and judgements."""

from __future__ import annotations

import math
from collections.abc import Iterator

from karat.core.docs import Doc
from karat.corpus._file import File
from karat.corpus._reader import Reader
from karat.corpus._records import docs_of
from karat.corpus.readers.jsonl import lines_of


def _sniff(file: File) -> bool | None:
    name = file.path.name.lower().removesuffix(".gz")
    return name == "corpus.jsonl" and file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _read(file: File) -> Iterator[Doc]:
    yield from docs_of(file, lines_of(file))


READER = Reader("beir", "a BEIR corpus", (".jsonl",), _sniff, _read, plain=math.inf)
