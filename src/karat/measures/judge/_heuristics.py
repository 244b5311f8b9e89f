"""What stands in for a judge where there is no model: words and figures. It reads nothing and understands nothing."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text import guess_language, open_blocks, stop_words, tokenise
from karat.core.text.citations import cited_sentences, without_citations
from karat.core.text.refusals import declines
from karat.core.text.support import SUPPORTED, Claim, SupportText
from karat.measures.answer.completeness import claims_of
from karat.measures.judge._claims import CheckedClaims
from karat.measures.judge._runner import Sample
from karat.models.terms import terms

NO_WORDS = "the question has no content words"
_AT_LENGTH = 3  # times the reference: what is longer says more than was asked


def content_words(text: str, language: str | None = None) -> frozenset[str]:
    """The distinct words of a text but the stop words of its language."""
    return frozenset(tokenise(text)) - stop_words(language or guess_language(text), "unicode")


def held_words(question: str, context: str) -> Sample:
    """Share of the content words of a question that a context holds."""
    words = content_words(question)
    held = sorted(words & frozenset(tokenise(open_blocks(context))))
    reason = f"holds {', '.join(held)}" if held else "holds no word of the question"
    return Sample(len(held) / len(words), shown={"reason": reason})


def supported_sentences(answer: str, contexts: Sequence[str]) -> CheckedClaims:
    """The sentences of an answer as claims, each with how much of it the contexts hold; 0 if they lack a figure."""
    language = guess_language(answer)
    held = [SupportText.of(open_blocks(text), language, terms) for text in contexts]
    together = SupportText.together(held)
    claims = []
    for sentence, _ in cited_sentences(answer):
        claim = Claim.of(sentence, language, terms)
        if not len(claim):
            continue
        support = claim.against(together)
        alone = [claim.against(text) for text in held]
        by = [number for number, one in enumerate(alone, 1) if one.enough()]
        parts = [number for number, one in enumerate(alone, 1) if one.share]
        reason = f"the contexts hold {support.share:.0%} of its content words and figures"
        claims.append(
            {
                "claim": sentence,
                "verdict": "supported" if support.enough() else "not_found",
                "contexts": (by or parts) if support.enough() else [],
                "support": 0.0 if support.figures else support.share,
                "reason": f"no context holds {', '.join(support.figures)}" if support.figures else reason,
            }
        )
    return CheckedClaims(tuple(claims))


def covered_sentences(reference: str, answer: str) -> tuple[float, list[str]]:
    """Share of the reference's content words and figures that an answer holds, and its sentences that it does not.

    A reference of stop words alone ("He did") is compared by all its words.
    """
    language = guess_language(f"{reference} {answer}")
    held = SupportText.of(without_citations(answer), language, terms)
    claims = claims_of(reference, language)
    supported = [claim.against(held) for claim in claims]
    lacking = sum(len(one.words) + len(one.figures) for one in supported)
    missing = [claim.text for claim, one in zip(claims, supported, strict=True) if not one.enough()]
    return 1 - lacking / sum(map(len, claims)), missing


def responds(question: str, answer: str) -> Sample:
    """Whether an answer could be one at all, by its form."""
    uncited = without_citations(answer)
    if declines(uncited):
        return Sample(0.0, shown={"reason": "it declines"})
    if not frozenset(tokenise(uncited)) - content_words(question) - stop_words(guess_language(uncited), "unicode"):
        return Sample(0.0, shown={"reason": "it says nothing that the question does not"})
    return Sample(1.0, shown={"reason": "it says something that the question does not"})


def liverag_grade(answer: str, reference: str) -> Sample:
    """LiveRAG's relevance, from words held in common."""
    if declines(answer):
        return Sample(0.0, shown={"reason": "it declines"})
    share, _ = covered_sentences(reference, answer)
    reason = f"it holds {share:.0%} of the content words and figures of the reference"
    if share < SUPPORTED:
        return Sample(-1.0, shown={"reason": reason})
    if len(tokenise(answer)) > _AT_LENGTH * len(tokenise(reference)):
        return Sample(1.0, shown={"reason": "it holds the reference and is more than three times as long"})
    return Sample(2.0, shown={"reason": reason})
