"""What stands in for a judge where there is no model: words and figures. It reads nothing and understands nothing."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text import guess_language, open_blocks, stop_words, tokenise
from karat.core.text.citations import cited_sentences, without_citations
from karat.core.text.numbers import figures, readings
from karat.core.text.refusals import declines
from karat.core.text.sentences import sentences
from karat.measures.judge._claims import Checked

NO_WORDS = "the question has no content words"
_HALF = 0.5
_AT_LENGTH = 3  # times the reference: what is longer says more than was asked


def content_words(text: str, language: str | None = None) -> frozenset[str]:
    """The distinct words of a text but the stop words of its language."""
    return frozenset(tokenise(text)) - stop_words(language or guess_language(text), "unicode")


def held_words(wanted: str, text: str) -> tuple[float, list[str]]:
    """Share of the content words of one text that another holds, and which."""
    words = content_words(wanted)
    held = sorted(words & frozenset(tokenise(open_blocks(text))))
    return len(held) / len(words), held


def supported_sentences(answer: str, contexts: Sequence[str]) -> Checked:
    """The sentences of an answer as claims, each supported or not found."""
    held = [frozenset(tokenise(open_blocks(text))) for text in contexts]
    numbers = set().union(*(readings(text) for text in contexts))
    language = guess_language(answer)
    claims = []
    for sentence, _ in cited_sentences(answer):
        words = content_words(sentence, language)
        if not words:
            continue
        by = [i for i, there in enumerate(held, 1) if len(words & there) >= _HALF * len(words)]
        invented = [figure for figure in figures(sentence) if numbers.isdisjoint(figure)]
        reason = "its content words are in no context"
        if by:
            reason = "a figure of it is in no context" if invented else "half of its content words are in a context"
        found = bool(by) and not invented
        claims.append(
            {
                "claim": sentence,
                "verdict": "supported" if found else "not_found",
                "contexts": by if found else [],
                "reason": reason,
            }
        )
    return Checked(tuple(claims))


def covered_sentences(reference: str, answer: str) -> tuple[float, list[str]]:
    """Share of the reference's content words and figures that an answer holds, and its sentences that it does not.

    A reference of stop words alone ("He did") is compared by all its words.
    """
    said = without_citations(answer)
    there, numbers = frozenset(tokenise(said)), readings(said)
    language = guess_language(f"{reference} {answer}")
    words = content_words(reference, language) or frozenset(tokenise(reference))
    wanted = [not numbers.isdisjoint(figure) for figure in figures(reference)]
    plain = [word in there for word in words if not word.isdigit()]
    marks = wanted + plain or [word in there for word in words]
    missing = []
    for sentence in sentences(reference):
        own = content_words(sentence, language)
        lost = any(numbers.isdisjoint(figure) for figure in figures(sentence))
        if own and (lost or len(own & there) < _HALF * len(own)):
            missing.append(sentence)
    return sum(marks) / len(marks), missing


def responds(question: str, answer: str) -> tuple[float, str]:
    """Whether an answer could be one at all, by its form."""
    said = without_citations(answer)
    if declines(said):
        return 0.0, "it declines"
    if not frozenset(tokenise(said)) - content_words(question) - stop_words(guess_language(said), "unicode"):
        return 0.0, "it says nothing that the question does not"
    return 1.0, "it says something that the question does not"


def liverag_grade(answer: str, reference: str) -> tuple[float, str]:
    """LiveRAG's relevance, from words held in common."""
    if declines(answer):
        return 0.0, "it declines"
    share, _ = covered_sentences(reference, answer)
    if share < _HALF:
        return -1.0, f"it holds {share:.0%} of the content words and figures of the reference"
    if len(tokenise(answer)) > _AT_LENGTH * len(tokenise(reference)):
        return 1.0, "it holds the reference and is more than three times as long"
    return 2.0, f"it holds {share:.0%} of the content words and figures of the reference"
