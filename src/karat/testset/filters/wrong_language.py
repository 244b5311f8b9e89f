"""wrong_language: the question or its answer is not in the language of what it is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text import NAMES, guess_language, stop_words, tokenise
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import shortened

_SURE = 2  # function words from which a guess among languages of one script is trusted
_SCRIPTED = ("ru", "hi")


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    wanted = draft.fragments[0].language if draft.fragments else draft.language
    if not wanted:
        return None
    for what, text in (("question", draft.text), ("answer", draft.answer or "")):
        found = guess_language(text)
        if found == wanted or not _trusted(text, found, wanted, what):
            continue
        told = NAMES.get(found or "", "another language")
        return f'The {what} is in {told}, not in {NAMES.get(wanted, wanted)}: "{shortened(text, 60)}".'
    return None


def _trusted(text: str, found: str | None, wanted: str, what: str) -> bool:
    """Whether a guess that differs is more than a name, a number or a code that any language may hold."""
    if found is None:
        return any(character.isalpha() for character in text)
    words = tokenise(text, "words")
    if (found in _SCRIPTED) != (wanted in _SCRIPTED) or {found, wanted} == set(_SCRIPTED):
        # Another script: an answer may be nothing but a name in Latin letters, a question never is.
        return what == "question" or sum(map(stop_words(found, "words").__contains__, words)) >= _SURE
    theirs, ours = (sum(map(stop_words(one, "words").__contains__, words)) for one in (found, wanted))
    return theirs >= _SURE and theirs > 2 * ours


filter = Filter("wrong_language", "the question or its answer is not in the language of its chunk", _find, 18)
