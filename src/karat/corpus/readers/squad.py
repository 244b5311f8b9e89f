"""squad: SQuAD JSON, each paragraph a document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from karat.core.docs import Doc
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.corpus._records import parsed_json
from karat.io.decoding import cleaned
from karat.io.squad import squad_paragraphs

_OPENING = re.compile(rb'^\s*\{.*"data"\s*:\s*\[\s*\{', re.DOTALL)


def _sniff(file: File) -> bool | None:
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    return b'"paragraphs"' in head and bool(_OPENING.match(head))


def _read(file: File) -> Iterator[Doc]:
    document = parsed_json(file.text())
    articles = document.get("data") if isinstance(document, dict) else None
    if not isinstance(articles, list):
        raise ReadError("broken", 'holds no list "data".', "Give a SQuAD file.")
    for row, (title, doc, paragraph) in enumerate(squad_paragraphs(articles), 1):
        text = paragraph.get("context") if isinstance(paragraph, dict) else None
        if isinstance(text, str) and text.strip():
            yield Doc(cleaned(doc), cleaned(text), cleaned(title).replace("_", " "))
        else:
            file.row_problem(row, "empty", "the paragraph has no context.", "Correct it.")


READER = Reader("squad", "SQuAD paragraphs", (".json",), _sniff, _read, in_place_below=math.inf)
