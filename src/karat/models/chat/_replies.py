"""Replies: what the body of a chat completion holds, or why it cannot be used."""

from __future__ import annotations

import json
from collections.abc import Mapping

from karat.core.text.wellformed import well_formed
from karat.models.chat.cache import Call, now
from karat.models.endpoint import ModelEndpoint, RequestFailure

LARGEST = 4 << 20
"""How many bytes a reply may have."""
REFUSES_JSON = (400, 422)
"""What servers answer that know no JSON mode."""
_SECRET_LENGTH = 12
"""A shorter key (`none`, `ollama`) is no secret, and a word that replies may hold."""
_MOST_TOKENS = 1 << 40


def read_reply(
    endpoint: ModelEndpoint, content: bytes, seconds: float | None, about: Mapping[str, str]
) -> Call | RequestFailure:
    """The reply that a body holds, if it is one."""
    blotted = endpoint.blotted
    body = content.decode("utf-8", "replace")
    try:
        values = json.loads(body)
        plain = json.dumps(values, ensure_ascii=False)
        if any(text != blotted(text, _SECRET_LENGTH) for text in (body, plain)):
            body = blotted(plain)
            values = json.loads(body)
    except (ValueError, RecursionError):
        return RequestFailure(reason=f"the reply is not JSON: {endpoint.shown(body)!r}", free=False)
    choices = values.get("choices") if isinstance(values, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        words = endpoint.words_of(content)
        return RequestFailure(reason=f'the reply holds no "choices" with a message: {words}', free=False)
    usage, finish = values.get("usage"), choice.get("finish_reason")
    reads, writes = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    finish = well_formed(finish)[:40] if isinstance(finish, str) else None
    text = well_formed(_text(message.get("content")) or _text(message.get("refusal")))
    if text.strip():
        return Call(
            **about,
            reply=well_formed(body),
            text=text,
            prompt_tokens=reads,
            completion_tokens=writes,
            cost_usd=None,
            seconds=seconds,
            finish=finish,
            created=now(),
        )
    reason = {
        "length": "the reply is empty: its tokens were used up before it said anything (max_tokens)",
        "content_filter": "the server withheld the reply (content_filter)",
    }.get(finish or "")
    return RequestFailure(
        reason=reason or "the reply is empty",
        again=reason is None,
        free=False,
        prompt_tokens=reads,
        completion_tokens=writes,
    )


def _text(content: object) -> str:
    """The text of a message: a string, or parts of which some hold text."""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(part for part in parts if isinstance(part, str))


def _tokens(usage: object, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count < _MOST_TOKENS else None
