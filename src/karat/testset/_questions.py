"""From accepted drafts to questions: ids, gold that outlives other chunkings, and tags."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from karat.core.types import Gold, Question
from karat.corpus import Docs
from karat.testset.lexicon import one_line

if TYPE_CHECKING:
    from karat.core.docs import Doc, Page
    from karat.results.drafts import Draft, Fragment


class QuestionIds:
    """Ids such as `literal-007`, which go on where those of a test set end."""

    def __init__(self, before: Iterable[str] = ()) -> None:
        self._last: dict[str, int] = {}
        for id_ in before:
            named = re.fullmatch(r"(.+)-(\d{1,9})", id_)
            if named:
                self._last[named[1]] = max(self._last.get(named[1], 0), int(named[2]))

    def next(self, kind: str) -> str:
        """The next id of a kind."""
        number = self._last[kind] = self._last.get(kind, 0) + 1
        return f"{kind}-{number:03d}"


class QuotePages:
    """On which pages quotes of the wanted documents stand, as far as these say."""

    def __init__(self, docs: Sequence[Doc] | None, wanted: Collection[str]) -> None:
        ids: Iterable[str] = docs.ids if isinstance(docs, Docs) else (doc.id for doc in docs or ())
        rows = [row for row, id_ in enumerate(ids) if id_ in wanted]  # no other is read
        self._pages: dict[str, tuple[Page, ...]] = {doc.id: doc.pages for doc in map((docs or ()).__getitem__, rows)}

    def page_of(self, fragment: Fragment, quote: str) -> str | None:
        """The page, or the pages from first to last, that a quote of a fragment stands on; those of all of it else."""
        chunk = fragment.chunk
        numbers = list(chunk.pages)
        at = chunk.text.find(quote) if quote else -1
        if at >= 0 and chunk.span is not None and chunk.span[1] - chunk.span[0] == len(chunk.text):
            start = chunk.span[0] + at
            end = start + len(quote)
            numbers = [p.number for p in self._pages.get(chunk.doc, ()) if p.start < end and p.end > start] or numbers
        if not numbers or numbers != list(range(numbers[0], numbers[-1] + 1)):
            return None
        return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def question_of(draft: Draft, id_: str, pages: QuotePages) -> Question:
    """An accepted draft as a question of a test set.

    Gold names document, page, chunk and quote: `match.resolve` goes by the quote, on that page of that document, so
    that it is found however the documents are cut.
    """
    gold: dict[tuple[str | None, ...], Gold] = {}
    quotes = (*draft.quotes, *[""] * (len(draft.fragments) - len(draft.quotes)))
    for fragment, quote in zip(draft.fragments, quotes, strict=True) if draft.answerable else ():
        line = one_line(quote) or None
        page = pages.page_of(fragment, quote)
        one = Gold(doc=fragment.chunk.doc, page=page, chunk=fragment.chunk.id, quote=line)
        gold.setdefault((one.doc, page, line or one.chunk), one)  # chunks that overlap hold the same passage
    tags = {"language": draft.language, "source": draft.source, **({"model": draft.model} if draft.model else {})}
    return Question(
        id=id_,
        text=draft.text,
        answers=(draft.answer,) if draft.answer else (),
        gold=tuple(gold.values()),
        kind=draft.kind,
        tags={**{name: value for name, value in tags.items() if value}, **draft.tags},
        answerable=draft.answerable,
    )
