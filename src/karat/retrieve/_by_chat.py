"""What rewriters that ask a chat model share: all queries are asked at once, and each is rewritten from its reply."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from karat.core.errors import UsageError
from karat.core.models import ChatReply, Models, Need, Prompt
from karat.core.text import normalise
from karat.core.text.blocks import drop_blocks
from karat.retrieve.rewrite import Change, Rewritten

LONGEST = 4000  # characters of a query that a model made: a longer one is not what it was asked for
_NUMBERING = re.compile(r"^\s*(?:[-*\u2022\u2013\u2014]\s+|\(?\d{1,2}[.):]\s+)")
_QUOTES = "\"'`\u201c\u201d\u201e\u00ab\u00bb*"


class ChatRewriter(ABC):
    """A rewriter that searches what a chat model makes of a query beside the query itself.

    A query without words is given back, and nobody is asked. A call that failed is the error of its query; a reply
    with nothing to search in it leaves the query alone, with a remark.
    """

    name: ClassVar[str]
    system: ClassVar[str]
    """What the model is told of its task."""
    needs: ClassVar[tuple[Need, ...]] = ("chat",)

    def __init__(self, task: str) -> None:
        self.task = task  # what is asked of it, above the query
        self._known: dict[str, Rewritten] = {}

    @abstractmethod
    def read(self, reply: ChatReply, text: str) -> list[str]:
        """The queries in a reply, whose text is free of thoughts; none where there is nothing to search."""

    def prepare(self, queries: Sequence[str], models: Models) -> None:
        """Ask for all queries that are not known yet."""
        chat = models.chat_for(self.name)
        missing = [query for query in dict.fromkeys(queries) if _has_words(query) and query not in self._known]
        if not missing:
            return
        prompts = [Prompt(f"{self.task}\n\n{query}", self.system, purpose=self.name) for query in missing]
        for query, reply in zip(missing, chat.ask(prompts), strict=True):
            self._known[query] = self._from_reply(query, reply)

    def rewrite(self, query: str) -> Rewritten:
        if not _has_words(query):
            return Rewritten(query, (query,))
        if query not in self._known:
            raise UsageError(f"{self.name} was not told of the query {query[:60]!r}. Call prepare with it first.")
        return self._known[query]

    def _from_reply(self, query: str, reply: ChatReply) -> Rewritten:
        seconds = reply.seconds or 0.0
        if reply.error is not None or reply.text is None:
            return Rewritten(query, (), error=f"{self.name}: {reply.error or 'no reply'}", seconds=seconds)
        texts = [text for text in self.read(reply, drop_blocks(reply.text).strip()) if _has_words(text)]
        if not texts:
            cut = " (it was cut off for want of tokens)" if reply.cut else ""
            remark = f"{self.name}: the reply holds nothing to search by{cut}; the question was searched alone."
            return Rewritten(query, (query,), remarks=(remark,), seconds=seconds)
        queries = tuple(dict.fromkeys((query, *(text[:LONGEST] for text in texts))))
        return Rewritten(query, queries, tuple(Change(self.name, query, more) for more in queries[1:]), seconds=seconds)


def one_text(text: str) -> str:
    """A reply as one line, without quotes around it."""
    line = " ".join(text.split())
    bare = line.strip(_QUOTES).strip()
    return bare if line[:1] in _QUOTES and line[-1:] in _QUOTES else line


def lines_of_reply(text: str) -> list[str]:
    """The lines of a reply without numbering and quotes; an announcement, which ends in a colon, is none."""
    lines = [one_text(_NUMBERING.sub("", line)) for line in text.splitlines() if not line.strip().startswith("```")]
    return [line for line in lines if _has_words(line) and not line.endswith((":", "\uff1a"))]


def _has_words(text: str) -> bool:
    return bool(normalise(text, "words").strip())
