"""`reciter`: the text of the first context, whole. What any other answerer is to beat."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from karat.answer._answerer import Answerer, AnswererSettings, Done
from karat.answer._contexts import within
from karat.core.types import Answer

if TYPE_CHECKING:
    from karat.core.asked import AnswerRequest
    from karat.core.models import Models

_VERSION = 1


def answerer(settings: AnswererSettings, models: Models) -> Answerer:
    """The answerer `reciter`."""
    return Reciter(settings)


class Reciter:
    """Says what the first context says. Without a context, or without one within the budget, the text is empty."""

    name = "reciter"
    is_portable = True

    def __init__(self, settings: AnswererSettings) -> None:
        self.settings = settings
        self.fingerprint = f"reciter {_VERSION} {settings.contexts} {settings.context_tokens}"

    def answer(self, asked: Sequence[AnswerRequest], done: Done) -> None:
        for one in asked:
            started = perf_counter()
            given = within(one, self.settings)
            first = given[:1]
            answer = Answer(
                one.id,
                first[0].text if first else "",
                contexts=tuple(context.text for context in first),
                model=self.name,
                seconds={"answer": perf_counter() - started},
                used=tuple(context.id for context in first),
                given=tuple(context.id for context in given),
            )
            done(one, answer)
