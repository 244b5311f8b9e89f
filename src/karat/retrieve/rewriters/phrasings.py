"""Phrasings: several ways to put a question, given in a file; each is searched and the results are fused.

The file is JSONL: `{"question": "...", "phrasings": ["...", "..."]}`, one question a line. A question is recognised by
its words, case and punctuation aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn, Self

from karat.core.errors import InputError
from karat.core.text import normalise
from karat.io.records import json_lines
from karat.retrieve.rewrite import Change, Rewritten, Texts, read_lines, required_file

REMEDY = 'Write {"question": "...", "phrasings": ["...", "..."]}.'


@dataclass(frozen=True)
class Phrasings:
    """Further phrasings by question, whose key is its normal form under `words`."""

    by_question: Mapping[str, tuple[str, ...]]
    name: ClassVar[str] = "phrasings"

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        return cls.load(required_file(target, cls.name, "a file of phrasings"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a JSONL file; a line that is no such record is refused by its number."""
        by_question: dict[str, tuple[str, ...]] = {}

        def refuse(row: int | None, problem: str, _: str) -> NoReturn:
            raise InputError(problem, place=str(path), row=row, remedy=REMEDY)

        for row, record in json_lines(read_lines(path), refuse):
            question, phrasings = record.get("question"), record.get("phrasings")
            if not isinstance(question, str) or not normalise(question, "words"):
                refuse(row, 'the field "question" holds no words', REMEDY)
            texts = phrasings if isinstance(phrasings, list) else []
            if not texts or not all(isinstance(text, str) and normalise(text, "words") for text in texts):
                refuse(row, 'the field "phrasings" is no list of phrasings in words', REMEDY)
            key = normalise(question, "words")
            by_question[key] = (*by_question.get(key, ()), *texts)
        if not by_question:
            raise InputError("is empty", place=str(path), remedy=REMEDY)
        return cls(by_question)

    def rewrite(self, query: str) -> Rewritten:
        more = self.by_question.get(normalise(query, "words"), ())
        queries = tuple(dict.fromkeys((query, *more)))
        return Rewritten(query, queries, tuple(Change(self.name, query, other) for other in queries[1:]))


rewriter = Phrasings
