"""`extractive`: the sentences of the contexts that best answer the question, or the span in them. No model.

It ranks the sentences, list items and table rows of the contexts by the question's words, the headings above them, the
embedder's similarity and whether they hold what the question asks for: a number with its unit, a time, a name, a place,
a reason, what an abbreviation stands for. It says that span, or else the sentence, and declines when the evidence is
thin.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from karat.answer._answerer import Answerer, AnswererSettings, Done
from karat.answer._contexts import within
from karat.answer._extract.declining import declined
from karat.answer._extract.memory import Memory
from karat.answer._extract.question import Wanted, wanted_of
from karat.answer._extract.reply import THRESHOLD, reply_to
from karat.core.errors import KaratError, UsageError
from karat.core.types import Answer

if TYPE_CHECKING:
    from karat.answer._extract.reading import Unit
    from karat.core.asked import Asked, Context
    from karat.core.means import Means

_VERSION = 1  # raised whenever an answer may change
_BATCH = 64  # questions whose texts are embedded together


def answerer(settings: AnswererSettings, means: Means) -> Answerer:
    """The answerer `extractive`."""
    return Extractive(settings, means)


class Extractive:
    """Quotes its contexts. Without an embedder it goes by words alone.

    `confidence` is the chance that the answer is right, as it was on the demo's dev half; what declines has none.
    """

    name = "extractive"

    def __init__(self, settings: AnswererSettings, means: Means) -> None:
        threshold = THRESHOLD if settings.threshold is None else settings.threshold
        if not 0 <= threshold <= 1:
            raise UsageError(f"threshold={threshold}: it is a chance, from 0 (never decline) to 1.")
        self._threshold = threshold
        self.settings = settings
        embedder = means.embedder() if means.embedder is not None else None
        self._similar = embedder is not None
        self._memory = Memory(embedder)
        self.fingerprint = (
            f"extractive {_VERSION} {settings.contexts} {settings.context_tokens} {threshold} "
            f"{embedder.fingerprint if embedder is not None else 'no embedder'}"
        )

    def answer(self, asked: Sequence[Asked], done: Done) -> None:
        for start in range(0, len(asked), _BATCH):
            self._answer(asked[start : start + _BATCH], done)

    def _answer(self, asked: Sequence[Asked], done: Done) -> None:
        started = perf_counter()
        contexts = [within(one, self.settings) for one in asked]
        wanted = [wanted_of(one.question) for one in asked]
        units = [[self._memory.units(context) for context in some] for some in contexts]
        problem: str | None = None
        try:
            self._memory.prepare([one.text for one in wanted], [unit for some in units for unit in some])
        except KaratError as error:
            problem = f"the texts could not be embedded: {error}"
        shared = (perf_counter() - started) / len(asked)
        for i, one in enumerate(asked):
            started = perf_counter()
            text, confidence = (None, None) if problem else self._said(wanted[i], units[i])
            seconds = shared + perf_counter() - started
            done(one, self._made(one.id, contexts[i], text, confidence, seconds, problem))

    def _said(self, wanted: Wanted, units: Sequence[Sequence[Unit]]) -> tuple[str, float | None]:
        reply = reply_to(wanted, units, self._memory.similar if self._similar else None)
        return (reply.text, reply.chance) if reply.stands(self._threshold) else (declined(wanted.text), None)

    def _made(
        self,
        question: str,
        contexts: Sequence[Context],
        text: str | None,
        confidence: float | None,
        seconds: float,
        problem: str | None,
    ) -> Answer:
        return Answer(
            question,
            text,
            tuple(context.text for context in contexts),
            model=self.name,
            seconds={"answer": seconds},
            error=problem,
            confidence=confidence,
            used=tuple(context.id for context in contexts),
        )
