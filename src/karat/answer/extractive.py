"""`extractive`: the sentences of the contexts that best answer the question, or the span in them. No model."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from karat.answer._answerer import Answerer, AnswererSettings, Done
from karat.answer._contexts import within
from karat.answer._extract.declining import declined
from karat.core.text import guess_language, sentences, stop_words, tokenise
from karat.core.types import Answer

if TYPE_CHECKING:
    from karat.core.asked import Asked, Context
    from karat.core.means import Means

_VERSION = 0


def answerer(settings: AnswererSettings, means: Means) -> Answerer:
    """The answerer `extractive`."""
    return Extractive(settings, means)


class Extractive:
    """Quotes its contexts. Without an embedder it goes by words alone."""

    name = "extractive"

    def __init__(self, settings: AnswererSettings, means: Means) -> None:
        self.settings = settings
        embedder = means.embedder() if means.embedder is not None else None
        self.fingerprint = (
            f"extractive {_VERSION} {settings.contexts} {settings.context_tokens} {settings.threshold} "
            f"{embedder.fingerprint if embedder is not None else None}"
        )

    def answer(self, asked: Sequence[Asked], done: Done) -> None:
        for one in asked:
            started = perf_counter()
            contexts = within(one, self.settings)
            text, confidence = _best(one.question, contexts)
            answer = Answer(
                one.id,
                text,
                tuple(context.text for context in contexts),
                model=self.name,
                seconds={"answer": perf_counter() - started},
                confidence=confidence,
                used=tuple(context.id for context in contexts),
            )
            done(one, answer)


def _best(question: str, contexts: Sequence[Context]) -> tuple[str, float]:
    stops = stop_words(guess_language(question), "words")
    wanted = set(tokenise(question, "words")) - stops
    found, most = "", 0.0
    for context in contexts:
        for sentence in sentences(context.text):
            share = len(wanted & set(tokenise(sentence, "words"))) / max(len(wanted), 1)
            if share > most:
                found, most = sentence, share
    return (found, most) if most else (declined(question), 0.0)
