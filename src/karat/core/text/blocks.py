"""`<think>` and `<source>` blocks: what a model writes beside its answer."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(think|source)(?:\s[^<>]*)?(?<!/)>", re.IGNORECASE)


def drop_blocks(text: str) -> str:
    """The text with a space in place of each `<think>...</think>` and `<source>...</source>` block.

    A `<think>` never closed takes all that follows: the model was cut off before it answered. A `</think>` never
    opened takes all that precedes: the opening stood in the prompt. A `<source>` never closed is left as it is,
    since what follows may well be the answer. Blocks may nest; tags may have attributes.

    >>> drop_blocks("<think>Lyon? No.</think>Paris"), drop_blocks("Paris <think>or is it")
    (' Paris', 'Paris ')
    """
    if "<" not in text:
        return text
    tags = [(m.start(), m.end(), not m[1], m[2].lower()) for m in _TAG.finditer(text)]
    if not tags:
        return text
    last_close = {name: start for start, _, opens, name in tags if not opens}
    parts: list[str] = []
    position = depth = 0
    inside = ""
    for start, end, opens, name in tags:
        if not inside:
            if opens and (name == "think" or start < last_close.get(name, -1)):
                parts.append(text[position:start])
                inside, depth = name, 1
            elif not opens and name == "think":
                parts, position = [], end
        elif name == inside:
            depth += 1 if opens else -1
            if depth == 0 or start == last_close.get(name):
                inside, position = "", end
    if not inside:
        parts.append(text[position:])
    return " ".join(parts)


def open_blocks(text: str) -> str:
    """The text with the tags of its blocks removed and their content kept, as contexts need it."""
    return _TAG.sub(" ", text) if "<" in text else text


def after_thoughts(reply: str) -> str:
    """A reply that is to be JSON, after the model's thoughts; nothing where it was cut off while thinking.

    What begins as JSON has no thoughts before it: a `</think>` inside is a text of its own.

    >>> [after_thoughts(reply) for reply in ('<think>1?</think>{"a": 2}', "<think>so", '{"a": "</think>"}')]
    ['{"a": 2}', '', '{"a": "</think>"}']
    """
    start = reply.lstrip()
    if start.startswith(("{", "```")):
        return reply
    thoughts = [tag for tag in _TAG.finditer(reply) if tag[2].lower() == "think"]
    closing = next((tag for tag in thoughts if tag[1]), None)
    if closing:
        return reply[closing.end() :]
    return "" if start[:6].lower() == "<think" else reply
