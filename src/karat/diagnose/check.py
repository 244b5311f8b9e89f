"""What a check is: it looks at one thing and yields what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.registry import Registry
from karat.core.text import guess_language
from karat.match import Pages, resolve
from karat.models.terms import terms
from karat.results.checkup import Finding

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc, Problem
    from karat.core.judged import Ints
    from karat.core.run import Run
    from karat.core.types import Gold, Question, TestSet
    from karat.match import Resolution


@dataclass(frozen=True)
class Check:
    """One check, called as its file is. `order` sorts its findings among those of the same severity."""

    name: str
    summary: str
    find: Callable[[Case], Iterable[Finding]]
    order: int = 50


def _find(source: Any) -> Check | None:
    found = getattr(source, "check", source)
    return found if isinstance(found, Check) else None


CHECKS: Registry[Check] = Registry("check", ("karat.diagnose.checks",), "karat.checks", _find)


@dataclass(frozen=True)
class Case:
    """A test set and what is known of an index, with what several checks need worked out once."""

    testset: TestSet
    chunks: Chunks
    docs: Sequence[Doc] | None = None
    problems: Sequence[Problem] = ()
    runs: Sequence[Run] = ()
    by: str = "auto"
    page_offset: int = 0
    pages: Pages = "physical"
    _kept: dict[str, Resolution] = field(default_factory=dict, repr=False, compare=False)

    def resolved(self, by: str, *, pages: Pages | None = None, page_offset: int | None = None) -> Resolution:
        """The gold resolved in another way than asked for."""
        offset = self.page_offset if page_offset is None else page_offset
        key = f"{by}|{pages or self.pages}|{offset}"
        if key not in self._kept:
            self._kept[key] = resolve(
                self.testset, self.chunks, self.docs, by=by, page_offset=offset, pages=pages or self.pages
            )
        return self._kept[key]

    @cached_property
    def resolution(self) -> Resolution:
        return self.resolved(self.by)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return self.testset.questions

    @cached_property
    def golds(self) -> list[Gold]:
        """All relevant gold entries."""
        return [gold for question in self.questions for gold in question.gold if gold.grade >= 1]

    @cached_property
    def gold_rows(self) -> list[Ints]:
        """For each question the rows that hold a relevant unit of it."""
        return [self.resolution.gold_rows(q) for q in range(len(self.questions))]

    @cached_property
    def all_gold_rows(self) -> Ints:
        """Rows that hold a relevant unit of any question."""
        return np.unique(np.concatenate([*self.gold_rows, np.zeros(0, np.int64)]))

    def language_of(self, row: int) -> str | None:
        """The language of a chunk, guessed once a document: it tells more than a question does."""
        doc = self.chunks[row].doc
        if doc not in self._languages:
            self._languages[doc] = guess_language(self.chunks.texts[row])
        return self._languages[doc]

    @cached_property
    def _languages(self) -> dict[str, str | None]:
        return {}

    def row_terms(self, row: int) -> frozenset[str]:
        """Stems of the content words of a chunk."""
        if row not in self._terms:
            self._terms[row] = terms(self.chunks.texts[row], self.language_of(row))
        return self._terms[row]

    @cached_property
    def _terms(self) -> dict[int, frozenset[str]]:
        return {}

    def terms_like(self, text: str, row: int) -> frozenset[str]:
        """Stems of the content words of a short text in the language of a chunk."""
        key = (text, self.language_of(row))
        if key not in self._asked:
            self._asked[key] = terms(*key)
        return self._asked[key]

    @cached_property
    def _asked(self) -> dict[tuple[str, str | None], frozenset[str]]:
        return {}

    def label_of(self, row: int) -> str:
        return self.chunks.ids[row]


def listed(pairs: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """'exact 0%, doc 100%'."""
    return ", ".join(f"{name} {value}" for name, value in dict(pairs).items())
