"""Questions without a model: what a few patterns of English grammar can make of a fragment."""

from __future__ import annotations

from collections.abc import Sequence

from karat.results.drafts import Draft, Fragment

OFFLINE_KINDS = ("literal",)
"""The kinds that need no model. The others want more than grammar: other words, a situation, what is not said."""

LANGUAGE = "en"
"""The one language that there are patterns for."""

__all__ = ["LANGUAGE", "OFFLINE_KINDS", "offline_drafts"]


def offline_drafts(fragment: Fragment, kinds: Sequence[str]) -> list[Draft]:
    """The questions that the patterns make of a fragment, in the order of its sentences.

    Their `form` tag names the pattern: number, time, place ... A kind that needs a model gives nothing, and so does a
    language other than English.
    """
    if fragment.language != LANGUAGE or "literal" not in kinds:
        return []
    from karat.testset.offline._patterns import questions_of

    text, span = fragment.chunk.text, fragment.chunk.span
    begins = span is None or span[0] == 0 or text[:1] in "#\n"
    return [
        Draft(
            text=asked.question,
            kind="literal",
            fragments=(fragment,),
            answer=asked.answer,
            quotes=(text[asked.start : asked.end],),
            language=fragment.language,
            tags={"form": asked.form},
            source=f"offline/{asked.form}",
        )
        for asked in questions_of(text, fragment.chunk.title or "", begins)
    ]
