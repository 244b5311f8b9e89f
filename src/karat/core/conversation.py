"""Conversation: the earlier turns of a question in the forms that chat models, judges and readers take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.types import Turn

HISTORY = frozenset({"history", "chat_history"})
"""Names under which systems take the earlier turns."""


def messages_of(history: Sequence[Turn]) -> list[dict[str, str]]:
    """The turns as messages, in the form that chat models take.

    >>> from karat.core.types import Turn
    >>> messages_of([Turn("Who?", "Ada.")])
    [{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Ada.'}]
    """
    return [
        {"role": role, "content": text}
        for turn in history
        for role, text in (("user", turn.question), ("assistant", turn.answer))
        if text
    ]


def texts_of(history: Sequence[Turn]) -> tuple[str, ...]:
    """What was asked and answered, each a text: what an answer may rest on beside its contexts."""
    return tuple(message["content"] for message in messages_of(history))


def transcript(history: Sequence[Turn]) -> str:
    """The turns as a reader sees them, a message a line; empty where there are none."""
    return "\n".join(f"{message['role'].capitalize()}: {message['content']}" for message in messages_of(history))
