"""Questions without a model: what grammar can make of a fragment, in English and Russian."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.core.drafts import Draft, Fragment
from karat.testset.offline._asking import Asking
from karat.testset.offline._reading import Read, read

OFFLINE_KINDS = ("literal",)
"""The kinds that need no model. The others want more than grammar: other words, a situation, what is not said."""

LANGUAGES = ("en", "ru")
"""The languages that there is a grammar for."""

__all__ = ["LANGUAGES", "OFFLINE_KINDS", "offline_drafts"]


def offline_drafts(fragment: Fragment, kinds: Sequence[str]) -> list[Draft]:
    """The questions that grammar makes of a fragment: those that ask with a question word, then sentences with a gap.

    Their `form` tag names the rule: number, time, place, cloze ... A kind that needs a model gives nothing, and so does
    a language without a grammar.
    """
    if fragment.language not in LANGUAGES or "literal" not in kinds:
        return []
    text, span = fragment.chunk.text, fragment.chunk.span
    begins = span is None or span[0] == 0 or text[:1] in "#\n"
    seen = read(text, fragment.chunk.title or "", begins=begins)
    return [_draft(fragment, asking) for asking in _askings(seen, text, fragment.language)]


def _askings(seen: Read, text: str, language: str) -> Iterator[Asking]:
    from karat.testset.offline._cloze import clozes

    if language == "en":
        from karat.testset.offline.en import askings
    else:
        from karat.testset.offline.ru import askings
    asked = list(askings(seen, text))
    yield from asked
    yield from clozes(seen, language, {asking.start for asking in asked})


def _draft(fragment: Fragment, asking: Asking) -> Draft:
    return Draft(
        asking.question,
        "literal",
        (fragment,),
        asking.answer,
        (fragment.chunk.text[asking.start : asking.end],),
        fragment.language,
        tags={"form": asking.form},
        source=f"offline/{asking.form}",
    )
