"""Texts of spans: the question that an input asks and the answer that an output gives, whatever holds them."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from karat.core.text.wellformed import well_formed_values
from karat.io import cells
from karat.io.fields import QUESTION, RESULTS, field_name

_LITERAL = 1 << 20  # characters of a cell that is read as Python prints lists of dicts
_LITERALS = ("[{", "{'", "['")  # how they begin
_DEEPEST = 20
_ASKED = (*QUESTION, "input", "inputs", "query_str", "user_query", "message", "messages", "content", "new_message")
_SAID = (*RESULTS["answer"], "output", "outputs", "result", "text", "content", "output_text", "message", "messages",
         "choices", "generations", "completion")  # fmt: skip
_SPOKEN = ("user", "human"), ("assistant", "ai", "model")


def parsed(value: Any) -> Any:
    """What a text holds as JSON, or as Python prints lists and dicts in a CSV; other values as they are."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    with suppress(ValueError, RecursionError):
        return well_formed_values(json.loads(value))
    if len(value) <= _LITERAL and value.lstrip().startswith(_LITERALS):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return well_formed_values(ast.literal_eval(value.strip()))
    return value


def question_in(value: Any, depth: int = 0) -> str | None:
    """The question that an input asks: a text, a field that is called so, or the last message of the user."""
    return _text_in(value, _ASKED, _SPOKEN[0], depth)


def answer_in(value: Any) -> str | None:
    """The answer that an output gives, likewise."""
    return _text_in(value, _SAID, _SPOKEN[1], 0)


def _text_in(value: Any, names: Sequence[str], roles: Sequence[str], depth: int) -> str | None:
    value = parsed(value)
    if isinstance(value, str):
        return value.strip() or None
    if depth > _DEEPEST:
        return None
    if isinstance(value, list | tuple):
        return _last_message(value, names, roles, depth)
    if not isinstance(value, dict):
        return None
    if (role := _role(value)) is not None:
        return _content(value) if role in roles else None
    fields = {field_name(str(name)): part for name, part in value.items()}
    for name in names:
        if name in fields and (text := _text_in(fields[name], names, roles, depth + 1)) is not None:
            return text
    others = [part for name, part in fields.items() if name not in names and not cells.is_missing(part)]
    alone = others[0] if len(others) == 1 and len(others) == len(fields) else None
    return _text_in(alone, names, roles, depth + 1) if isinstance(alone, str | dict) or _is_single(alone) else None


def _is_single(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 1


def _last_message(items: Sequence[Any], names: Sequence[str], roles: Sequence[str], depth: int) -> str | None:
    for item in reversed(items):
        item = parsed(item) if isinstance(item, str) else item
        if isinstance(item, str) and (len(items) == 1 or _is_spoken(items, roles)):
            return item.strip() or None
        if isinstance(item, list | tuple | dict) and (text := _text_in(item, names, roles, depth + 1)) is not None:
            return text
    return None


def _is_spoken(items: Sequence[Any], roles: Sequence[str]) -> bool:
    """Whether a list is a role and what it says, as in `["user", "Why?"]`."""
    return len(items) == 2 and isinstance(items[0], str) and items[0].lower() in roles


def _role(message: Mapping[str, Any]) -> str | None:
    """Who speaks in a message, in lower case; None where the object is no message."""
    inner = message.get("kwargs")
    if isinstance(inner, dict) and "content" in inner:  # as LangChain dumps objects
        named = message.get("id")
        kind = inner.get("type") or (named[-1] if isinstance(named, list) and named else "")
        return str(kind).lower().removesuffix("chunk").removesuffix("message")
    role = message.get("role", message.get("message.role"))
    if role is None and "content" in message:
        role = message.get("type")
    return role.lower() if isinstance(role, str) else None


def _content(message: Mapping[str, Any]) -> str | None:
    """What is said in a message, of several parts joined."""
    inner = message.get("kwargs")
    if isinstance(inner, dict):
        message = inner
    content = next((message[n] for n in ("content", "message.content", "parts") if message.get(n) is not None), None)
    parts = content if isinstance(content, list) else [content]
    texts: list[str] = []
    for part in parts:
        if isinstance(part, dict):
            part = part.get("text", part.get("content"))
        if isinstance(part, str):
            texts.append(part)
    return "\n".join(texts).strip() or None
