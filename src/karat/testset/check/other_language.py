"""Other language: questions, or answers of drafts, in another language than their gold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from karat.core.text import NAMES, guess_language, stop_words, tokenise
from karat.core.text.words import excerpt, percent, plural
from karat.testset.check._check import CheckContext, Draft, Finding, Surroundings, about_questions, check, draft_filter
from karat.testset.lexicon import LATIN

CROSSING = 0.5  # share of questions in another language from which that is meant
SURE = 2  # function words from which a guess among languages of one script is trusted
SCRIPTED = ("ru", "hi")


def _by_function_words(text: str, guess: str, wanted: str) -> bool:
    """Whether a text has two function words of the language it seems to be in, and twice as many as of the other."""
    words = tokenise(text, "words")
    theirs, ours = (sum(map(stop_words(one, "words").__contains__, words)) for one in (guess, wanted))
    return theirs >= SURE and theirs > 2 * ours


def differs(context: CheckContext, q: int) -> bool:
    """Whether a question is in another language than its gold.

    Another script is sure. Of words in Latin script it takes two function words of the other language, and more than
    twice as many as of the gold's own.
    """
    rows, text = context.gold_rows[q], context.questions[q].text
    wanted = context.language_of(int(rows[0])) if len(rows) else None
    guess = guess_language(text)
    if wanted is None or guess is None or guess == wanted:
        return False
    if guess not in LATIN or wanted not in LATIN:
        return any(c.isalpha() for c in text)
    return _by_function_words(text, guess, wanted)


@check(44)
def other_language(context: CheckContext) -> Iterable[Finding]:
    """Questions in another language than their gold."""
    with_gold = [q for q in range(len(context.questions)) if len(context.gold_rows[q])]
    faulty = []
    for q in with_gold:
        if differs(context, q):
            question, gold = context.questions[q], context.language_of(int(context.gold_rows[q][0]))
            faulty.append((question, f"{guess_language(question.text)}, gold {gold}"))
    total = len(with_gold)
    if faulty and len(faulty) >= CROSSING * total:
        share = len(faulty) / total
        return [
            Finding(
                check="other_language",
                severity="info",
                title=f"{plural(len(faulty), 'question')} of {total:,} are in another language than their gold",
                text=f"{percent(share, 0)}: this test set asks across languages, which BM25 cannot follow.",
                numbers={"questions": len(faulty), "looked_at": total, "share": share},
                questions=tuple(question.id for question, _ in faulty),
            )
        ]
    return about_questions(
        "other_language", "warning", faulty, total,
        ("is in another language than its gold", "are in another language than their gold"),
        "BM25 finds nothing by its words, unlike for the others.",
        "Translate them, or keep questions across languages apart by a kind of their own.",
    )  # fmt: skip


@draft_filter(18)
def wrong_language(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The question or its answer is not in the language of its chunk."""
    wanted = draft.fragments[0].language if draft.fragments else draft.language
    if not wanted:
        return None
    for what, text in (("question", draft.text), ("answer", draft.answer or "")):
        guess = guess_language(text)
        if guess != wanted and _trusted(text, guess, wanted, what):
            other = NAMES.get(guess or "", "another language")
            return f'The {what} is in {other}, not in {NAMES.get(wanted, wanted)}: "{excerpt(text)}".'
    return None


def _trusted(text: str, guess: str | None, wanted: str, what: str) -> bool:
    """Whether a guess that differs is more than a name, a number or a code that any language may hold."""
    if guess is None:
        return any(character.isalpha() for character in text)
    if (guess in SCRIPTED) != (wanted in SCRIPTED) or {guess, wanted} == set(SCRIPTED):
        # Another script: an answer may be nothing but a name in Latin letters, a question never is.
        words = tokenise(text, "words")
        return what == "question" or sum(map(stop_words(guess, "words").__contains__, words)) >= SURE
    return _by_function_words(text, guess, wanted)
