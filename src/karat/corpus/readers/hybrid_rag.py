"""hybrid-rag: a JSON object with a list of chunks, each a text already cut."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from karat.core.docs import Doc
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.corpus._records import docs_of, parsed

_OPENING = re.compile(rb'^\s*\{.*"chunks"\s*:\s*\[\s*\{[^\[\]]*"chunk_id"\s*:', re.DOTALL)


def _sniff(file: File) -> bool | None:
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    return b'"chunks"' in head and b'"chunk_id"' in head and bool(_OPENING.match(head))


def _read(file: File) -> Iterator[Doc]:
    found = parsed(file.text())
    chunks = found.get("chunks") if isinstance(found, dict) else None
    if not isinstance(chunks, list):
        raise ReadError("broken", 'holds no list "chunks".', 'Write {"chunks": [{...}, ...]}.')
    yield from docs_of(file, enumerate(chunks, 1), "chunk")


READER = Reader("hybrid_rag", "chunks of hybrid-rag", (".json",), _sniff, _read, plain=math.inf)
