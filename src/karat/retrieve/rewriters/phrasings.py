"""Phrasings: several ways to put a question, given in a file; each is searched and the results are fused.

The file is JSONL: `{"question": "...", "phrasings": ["...", "..."]}`, one question a line. A question is recognised by
its words, case and punctuation aside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from karat.core.errors import InputError
from karat.core.text import normalise
from karat.core.text.wellformed import well_formed_values
from karat.retrieve.rewrite import Change, Rewritten, Texts, read_text, wanted

REMEDY = 'Write {"question": "...", "phrasings": ["...", "..."]}.'


@dataclass(frozen=True)
class Phrasings:
    """Further phrasings by question, whose key is its normal form under `words`."""

    by_question: Mapping[str, tuple[str, ...]]
    name: ClassVar[str] = "phrasings"

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        return cls.load(wanted(target, cls.name, "a file of phrasings"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a JSONL file; a line that is no such record is refused by its number."""
        found: dict[str, tuple[str, ...]] = {}
        for row, line in enumerate(read_text(path).split("\n"), 1):
            if line.strip():
                question, phrasings = _record(line, str(path), row)
                key = normalise(question, "words")
                found[key] = (*found.get(key, ()), *phrasings)
        if not found:
            raise InputError("is empty", place=str(path), remedy=REMEDY)
        return cls(found)

    def rewrite(self, query: str) -> Rewritten:
        more = self.by_question.get(normalise(query, "words"), ())
        queries = tuple(dict.fromkeys((query, *more)))
        return Rewritten(query, queries, tuple(Change(self.name, query, other) for other in queries[1:]))


rewriter = Phrasings


def _record(line: str, place: str, row: int) -> tuple[str, tuple[str, ...]]:
    try:
        record = well_formed_values(json.loads(line))
    except (ValueError, RecursionError) as problem:
        raise InputError(f"is not JSON ({problem})", place=place, row=row, remedy=REMEDY) from None
    question = record.get("question") if isinstance(record, dict) else None
    if not isinstance(question, str) or not normalise(question, "words"):
        raise InputError("no question in words", place=place, row=row, field="question", remedy=REMEDY)
    phrasings = record.get("phrasings")
    words = isinstance(phrasings, list) and all(isinstance(p, str) and normalise(p, "words") for p in phrasings)
    if not words or not phrasings:
        raise InputError("no list of phrasings in words", place=place, row=row, field="phrasings", remedy=REMEDY)
    return question, tuple(phrasings)
