"""squad: SQuAD JSON, each paragraph a document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from karat.core.docs import Doc
from karat.corpus._decode import plain
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.corpus._records import parsed

_OPENING = re.compile(rb'^\s*\{.*"data"\s*:\s*\[\s*\{', re.DOTALL)


def _sniff(file: File) -> bool | None:
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    return b'"paragraphs"' in head and bool(_OPENING.match(head))


def _read(file: File) -> Iterator[Doc]:
    found = parsed(file, file.text(), 1, "file")
    articles = found.get("data") if isinstance(found, dict) else None
    if not isinstance(articles, list):
        raise ReadError("broken", 'holds no list "data".', "Give a SQuAD file.")
    for row, (title, count, paragraph) in enumerate(_paragraphs(articles), 1):
        text = paragraph.get("context") if isinstance(paragraph, dict) else None
        if not isinstance(text, str) or not text.strip():
            file.row_problem(row, "empty", "the paragraph has no context.", "Correct it.")
            continue
        name = plain(title)
        yield Doc(f"{name}/{count}", plain(text), name.replace("_", " "))


def _paragraphs(articles: list[Any]) -> Iterator[tuple[str, int, Any]]:
    """Each paragraph with the id that the test set of the same file calls it by: Title/1."""
    per_title: dict[str, int] = {}
    for article in articles:
        title = str(article.get("title") or "document") if isinstance(article, dict) else "document"
        inner = article.get("paragraphs") if isinstance(article, dict) else None
        for paragraph in inner if isinstance(inner, list) else [None]:
            per_title[title] = per_title.get(title, 0) + 1
            yield title, per_title[title], paragraph


READER = Reader("squad", "SQuAD paragraphs", (".json",), _sniff, _read, plain=math.inf)
