"""other_language: questions in another language than their gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text import guess_language, stop_words, tokenise
from karat.core.text.words import plural
from karat.results.checkup import Finding
from karat.testset.audit._lexicon import LATIN
from karat.testset.audit._view import View
from karat.testset.audit._words import about, percent
from karat.testset.audit.check import Check

_CROSSING = 0.5  # share of questions in another language from which that is meant


def differs(view: View, q: int) -> bool:
    """Whether a question is in another language than its gold.

    Another script is sure. Of words in Latin script it takes two function words of the other language, and more than
    twice as many as of the gold's own.
    """
    rows = view.gold[q]
    theirs = view.chunk_languages[int(rows[0])] if len(rows) else None
    ours = guess_language(view.questions[q].text)
    if theirs is None or ours is None or ours == theirs:
        return False
    if ours not in LATIN or theirs not in LATIN:
        return any(c.isalpha() for c in view.questions[q].text)
    words = tokenise(view.questions[q].text, "words")
    mine, yours = (sum(map(stop_words(language, "words").__contains__, words)) for language in (ours, theirs))
    return mine >= 2 and mine > 2 * yours


def _find(view: View) -> Iterator[Finding]:
    looked = [q for q in range(len(view.questions)) if len(view.gold[q])]
    found = [
        (
            view.questions[q],
            f"{guess_language(view.questions[q].text)}, gold {view.chunk_languages[int(view.gold[q][0])]}",
        )
        for q in looked
        if differs(view, q)
    ]
    if found and len(found) >= _CROSSING * len(looked):
        yield Finding(
            "other_language",
            "info",
            f"{plural(len(found), 'question')} of {len(looked):,} are in another language than their gold",
            f"{percent(len(found) / len(looked))}: this test set asks across languages, which BM25 cannot follow.",
            {"questions": len(found), "looked_at": len(looked), "share": len(found) / len(looked)},
            tuple(question.id for question, _ in found),
        )
    elif found:
        yield about(
            "other_language", "warning", found, len(looked), "is in another language than its gold",
            "are in another language than their gold", "BM25 finds nothing by its words, unlike for the others.",
            "Translate them, or keep questions across languages apart by a kind of their own.",
        )  # fmt: skip


check = Check("other_language", "questions in another language than their gold", _find, 26, True)
