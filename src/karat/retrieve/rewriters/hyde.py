"""HyDE: a passage that would answer the question, made up by a chat model; it is searched beside the question.

What the passage claims does not matter: it is never shown as an answer, only searched, since it sounds more like the
passages of a corpus than a question does. The results of both are fused.
"""

from __future__ import annotations

from typing import ClassVar, Self

from karat.core.errors import UsageError
from karat.core.models import ChatReply
from karat.core.text.refusals import declines
from karat.retrieve._by_chat import ChatRewriter, one_text
from karat.retrieve.rewrite import Texts

_SYSTEM = """You write short passages as they might stand in a handbook or an article that answers a question. Three or
four plain sentences in the language of the question. Make up what you do not know: the passage is only used to search
by. Write the passage alone, with nothing before or after it."""


class Hyde(ChatRewriter):
    """A passage for every question: hypothetical document embedding, where the engine is dense."""

    name: ClassVar[str] = "hyde"
    system: ClassVar[str] = _SYSTEM

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        if target is not None:
            raise UsageError(f"hyde:{target}: hyde takes nothing after a colon. Write hyde.")
        return cls("Write a passage that answers this question.")

    def read(self, reply: ChatReply, text: str) -> list[str]:
        """The passage, also one that was cut off; a refusal to write one is nothing to search by."""
        return [] if declines(text) else [one_text(text)]


rewriter = Hyde
