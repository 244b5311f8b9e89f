"""SQuAD's documents: each paragraph of a file is one, and a test set and a corpus of the same file call it the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any


def squad_paragraphs(articles: list[Any]) -> Iterator[tuple[str, str, Any]]:
    """Title of the article, id of the document (Title/1) and paragraph; None for a paragraph where none can be."""
    counts: Counter[str] = Counter()
    for article in articles:
        fields = article if isinstance(article, dict) else {}
        title, inner = str(fields.get("title") or "document"), fields.get("paragraphs")
        for paragraph in inner if isinstance(inner, list) else [None]:
            counts[title] += 1
            yield title, f"{title}/{counts[title]}", paragraph
