"""Which of the contexts of a question an answerer reads: so many, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.text.normalise import clean_all

if TYPE_CHECKING:
    from karat.answer._answerer import AnswererSettings
    from karat.core.asked import AnswerRequest, Context


def within(asked: AnswerRequest, settings: AnswererSettings) -> tuple[Context, ...]:
    """The leading contexts that fit whole into the budget of the settings, by number and by tokens.

    Tokens are counted as those of chunks, and the budget cuts as that of `Recall@800t` does: what stands behind the
    first context that no longer fits is not read, even if it is short.
    """
    if settings.contexts < 1:
        raise UsageError(f"contexts={settings.contexts}: an answerer gets 1 context or more.")
    contexts, budget = asked.contexts[: settings.contexts], settings.context_tokens
    if budget is None:
        return contexts
    if budget < 1:
        raise UsageError(f"context_tokens={budget}: an answerer reads 1 token or more. Leave it out for no limit.")
    total = 0
    for number, text in enumerate(clean_all([context.text for context in contexts], "words")):
        total += len(text.split())
        if total > budget:
            return contexts[:number]
    return contexts
