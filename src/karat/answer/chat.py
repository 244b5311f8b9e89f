"""`chat`: a chat model answers from the contexts, which it gets numbered and may cite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.answer._answerer import Answerer, AnswererSettings, Done
from karat.answer._contexts import within
from karat.answer._prompt import DATA, HISTORY, SYSTEM, TEMPLATE, check_template, prompt_of
from karat.core.lazy import Lazy
from karat.core.text.blocks import drop_blocks
from karat.core.text.words import plural
from karat.core.types import Answer
from karat.models.structured import total

if TYPE_CHECKING:
    from karat.core.asked import AnswerRequest
    from karat.core.models import ChatModel, ChatReply, Models, Prompt


def answerer(settings: AnswererSettings, models: Models) -> Answerer:
    """The answerer `chat`."""
    return ChatAnswerer(settings, models.chat_for("the answerer chat"))


class ChatAnswerer:
    """Asks a chat model, all questions at once; one without contexts is asked too, and may be declined.

    What a model writes in <think> blocks is no part of its answer. A reply that was cut off for want of tokens keeps
    its text, since readers would see it too, and is counted in the remarks; one with no text before the cut failed.
    """

    name = "chat"

    def __init__(self, settings: AnswererSettings, chat: ChatModel) -> None:
        if settings.prompt is not None:
            check_template(settings.prompt)
        self.settings, self._chat = settings, chat
        self._asked = self._cut = self._unshown = 0
        texts = [SYSTEM, TEMPLATE] if settings.prompt is None else [DATA, settings.prompt]
        whole = json.dumps([*texts, settings.contexts, settings.context_tokens, chat.fingerprint])
        self.fingerprint = f"chat {hashlib.sha256(whole.encode()).hexdigest()[:32]}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all answers together."""
        remarks = []
        if self._cut:
            remarks.append(
                f"{self._cut:,} of {self._asked:,} answers were cut off at the model's limit of tokens (max_tokens)."
            )
        if self._unshown:
            remarks.append(
                f"{plural(self._unshown, 'question')} with earlier turns, which the prompt does not show: write "
                f"{HISTORY} where they are to stand."
            )
        return tuple(remarks)

    def answer(self, asked: Sequence[AnswerRequest], done: Done) -> None:
        hides_history = self.settings.prompt is not None and HISTORY not in self.settings.prompt
        self._asked += len(asked)

        def prompt(number: int) -> Prompt:
            one = asked[number]
            return prompt_of(one.question, within(one, self.settings), self.settings.prompt, one.history)

        def said(number: int, reply: ChatReply) -> None:
            one = asked[number]
            contexts = within(one, self.settings)
            self._unshown += hides_history and bool(one.history)
            text, error = self._read(reply)
            answer = Answer(
                one.id,
                text,
                contexts=tuple(context.text for context in contexts),
                model=reply.model or self._chat.label,
                seconds={} if reply.seconds is None else {"answer": reply.seconds},
                tokens=total((reply.prompt_tokens, reply.completion_tokens)),
                cost_usd=reply.cost_usd,
                error=error,
                used=tuple(context.id for context in contexts),
            )
            done(one, answer)

        self._chat.ask(Lazy(len(asked), prompt), said)

    def _read(self, reply: ChatReply) -> tuple[str | None, str | None]:
        """The answer in a reply, or why there is none."""
        if reply.error is not None or reply.text is None:
            return None, reply.error or "the model said nothing"
        text = drop_blocks(reply.text).strip()
        if reply.cut and not text:
            return None, "the reply was cut off at the model's limit of tokens before it answered. Raise max_tokens."
        self._cut += reply.cut
        return text, None
