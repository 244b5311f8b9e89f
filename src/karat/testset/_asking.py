"""One round of asking: a chat model writes a draft for each open place, or the reason why it wrote none is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.text.refusals import declines
from karat.results.drafts import Draft, Rejected

if TYPE_CHECKING:
    from karat.core.means import Chats
    from karat.models.structured import Structured
    from karat.testset._kind import Setting
    from karat.testset.generate import Place


def ask_round(chat: Chats, places: Sequence[Place], setting_of: Callable[[Place], Setting]) -> list[Draft | Rejected]:
    """For each place, in order, the draft that the model wrote."""
    from karat.models.structured import ask_structured

    settings = [setting_of(place) for place in places]
    prompts = [place.kind.prompt(setting) for place, setting in zip(places, settings, strict=True)]
    replies = ask_structured(chat, prompts, [place.kind.schema for place in places])
    return [_outcome(*one, chat.label) for one in zip(places, settings, replies, strict=True)]


def _outcome(place: Place, setting: Setting, reply: Structured[Any], model: str) -> Draft | Rejected:
    if reply.value is None:
        reason = _reason(reply)
        return Rejected(reason, reply.error or "the model said nothing", place.kind.name, place.rows)
    draft = place.kind.draft(reply.value, setting, model)
    if not draft.text:
        told = "the model found nothing worth such a question"
        return Rejected("declined", told, place.kind.name, place.rows)
    if declines(draft.text):
        return Rejected("refused", "the model refused in place of asking", place.kind.name, place.rows, draft)
    return draft


def _reason(reply: Structured[Any]) -> str:
    """What went wrong, in a word: the call, its length, or what was said."""
    if not reply.said or reply.said[-1].error is not None or reply.said[-1].text is None:
        return "model_failed"
    if reply.said[-1].cut:
        return "cut_off"
    return "refused" if reply.raw and declines(reply.raw[-1]) else "unreadable"
