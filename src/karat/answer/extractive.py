"""`extractive`: the sentence of the contexts that best answers the question, word for word. No model.

It ranks the sentences, list items and table rows of the contexts by the question's words and the embedder's similarity,
and declines when the evidence for the best one is thin.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from karat.answer._answerer import Answerer, AnswererSettings, Done
from karat.answer._contexts import within
from karat.answer._declining import declined
from karat.answer._evidence import ContextMemory, best_sentence
from karat.core.errors import KaratError, UsageError
from karat.core.types import Answer

if TYPE_CHECKING:
    from karat.core.asked import AnswerRequest
    from karat.core.models import Models

THRESHOLD = 0.3  # evidence from which an answer is given; chosen on the demo's dev half, docs/decisions/017
_VERSION = 2  # raised whenever an answer may change
_BATCH = 64  # questions whose texts are embedded together


def answerer(settings: AnswererSettings, models: Models) -> Answerer:
    """The answerer `extractive`."""
    return Extractive(settings, models)


class Extractive:
    """Quotes its contexts. Without an embedder it goes by words alone.

    `confidence` is the strength of the evidence, from 0 to 1; what declines has none.
    """

    name = "extractive"
    is_portable = True

    def __init__(self, settings: AnswererSettings, models: Models) -> None:
        threshold = THRESHOLD if settings.threshold is None else settings.threshold
        if not 0 <= threshold <= 1:
            raise UsageError(f"threshold={threshold}: it goes from 0 (never decline) to 1.")
        self._threshold = threshold
        self.settings = settings
        embedder = models.embedder() if models.embedder is not None else None
        self._memory = ContextMemory(embedder)
        self.fingerprint = (
            f"extractive {_VERSION} {settings.contexts} {settings.context_tokens} {threshold} "
            f"{embedder.fingerprint if embedder is not None else 'no embedder'}"
        )

    def answer(self, asked: Sequence[AnswerRequest], done: Done) -> None:
        for start in range(0, len(asked), _BATCH):
            self._answer(asked[start : start + _BATCH], done)

    def _answer(self, asked: Sequence[AnswerRequest], done: Done) -> None:
        started = perf_counter()
        contexts = [within(one, self.settings) for one in asked]
        replies: list[tuple[str | None, float | None]] = [(None, None)] * len(asked)
        problem: str | None = None
        try:
            read = iter(self._memory.read([context for some in contexts for context in some]))
            vectors = self._memory.question_vectors([one.question for one in asked])
            for i, one in enumerate(asked):
                best = best_sentence(one.question, vectors[i], [next(read) for _ in contexts[i]])
                replies[i] = best if best and best[1] >= self._threshold else (declined(one.question), None)
        except KaratError as error:
            problem = f"the texts could not be embedded: {error}"
        seconds = (perf_counter() - started) / len(asked)
        for one, some, (text, confidence) in zip(asked, contexts, replies, strict=True):
            done(
                one,
                Answer(
                    one.id,
                    text,
                    contexts=tuple(context.text for context in some),
                    model=self.name,
                    seconds={"answer": seconds},
                    error=problem,
                    confidence=confidence,
                    used=tuple(context.id for context in some),
                ),
            )
