"""Rephrase: other ways to put a question, by a chat model; each is searched beside it, and the results are fused.

`rephrase` asks for three, `rephrase:5` for five.
"""

from __future__ import annotations

from typing import ClassVar, Self

from karat.core.errors import UsageError
from karat.core.models import ChatReply
from karat.retrieve._by_chat import ChatRewriter, lines_of_reply
from karat.retrieve.rewrite import Texts

USUAL, MOST = 3, 20
_SYSTEM = """You put questions in other words, for a search engine that finds passages by their words and their meaning.
Write each phrasing on a line of its own: no numbers, no quotes, nothing before or after. Keep the language, the names,
the numbers and the meaning of the question; vary the words and the order. Do not answer it."""


class Rephrase(ChatRewriter):
    """So many other phrasings of every question."""

    name: ClassVar[str] = "rephrase"
    system: ClassVar[str] = _SYSTEM

    def __init__(self, phrasings: int = USUAL) -> None:
        other = "one other phrasing" if phrasings == 1 else f"{phrasings} other phrasings"
        super().__init__(f"Write {other} of this question.")
        self.phrasings = phrasings

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        if target is None:
            return cls()
        if not (target.isascii() and target.isdigit() and 1 <= int(target) <= MOST):
            raise UsageError(f"rephrase:{target}: write how many phrasings, from 1 to {MOST}, as in rephrase:{USUAL}.")
        return cls(int(target))

    def read(self, reply: ChatReply, text: str) -> list[str]:
        """One phrasing a line; the last of a reply that was cut off is half a line, and left out."""
        lines = text.splitlines()
        return lines_of_reply("\n".join(lines[:-1] if reply.cut else lines))[: self.phrasings]


rewriter = Rephrase
