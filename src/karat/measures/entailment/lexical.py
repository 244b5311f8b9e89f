"""The lexical rule as a judge of claims: a text entails a claim if it holds half of its words, and every figure.

It never says that a text contradicts a claim: words cannot tell that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from karat.core.claims import ENTAILED, NEITHER
from karat.core.text import guess_language, open_blocks, tokenise
from karat.core.text.support import SUPPORTED, Claim, SupportText
from karat.measures.entailment import LEXICAL
from karat.measures.entailment.judging import BatchVerdicts, ClaimBatch, ClaimTask, SplitText, sentence_claims
from karat.models.terms import terms


class LexicalJudge:
    """Claims are sentences; a claim is entailed by a text that supports it (`karat.core.text.support`)."""

    name = LEXICAL
    prompt = f"{LEXICAL}/1 share={SUPPORTED}"
    most = 1_000
    tasks: frozenset[ClaimTask] = frozenset(("entail", "support", "used"))

    def split(self, texts: Sequence[tuple[str, str]]) -> list[SplitText]:
        """The sentences of each text."""
        return [SplitText(sentence_claims(text)) for _, text in texts]

    def judge(self, batches: Sequence[ClaimBatch]) -> list[BatchVerdicts]:
        """Whether the premise of each batch supports its claims."""
        return [BatchVerdicts(tuple(_verdict(claim, batch) for claim in batch.claims)) for batch in batches]

    def notes(self) -> list[str]:
        """What words cannot tell."""
        return ["words and figures alone judged them, which see no negation, paraphrase or contradiction."]


def _verdict(claim: str, batch: ClaimBatch) -> tuple[int, str]:
    parsed, language = _claim(claim)
    support = parsed.against(_held(batch.premise.texts, language))
    reason = f"holds {support.share:.0%} of its content words and figures"
    if support.figures:
        reason = f"lacks {', '.join(support.figures)}"
    return (ENTAILED if support.enough() else NEITHER), reason


@lru_cache(maxsize=4_096)
def _claim(text: str) -> tuple[Claim, str | None]:
    """A claim and its language; one of stop words alone ("Yes, it is") is compared by all its words."""
    language = guess_language(text)
    claim = Claim.of(text, language, terms)
    return claim if len(claim) else Claim(text, {token: token for token in tokenise(text)}), language


@lru_cache(maxsize=4_096)
def _held(texts: tuple[str, ...], language: str | None) -> SupportText:
    return SupportText.together(SupportText.of(open_blocks(text), language, terms) for text in texts)
