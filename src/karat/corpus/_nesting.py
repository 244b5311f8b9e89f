"""Nesting: markup made flat enough for a parser whose time grows with the depth of elements."""

from __future__ import annotations

import re

DEPTH_LIMIT = 500

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
))  # fmt: skip
_CLOSED_BY_THE_NEXT = frozenset((
    "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option", "optgroup", "html", "head", "body",
))  # fmt: skip
_INLINE = frozenset((
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u", "span",
))  # fmt: skip
_DROPPED = ("svg", "script", "style")


def flattened(markup: str) -> tuple[str, int]:
    """The markup with elements made void that lie deeper than the limit, and its depth if it is past that (else 0).

    No words go. Inline elements are made void all of them: the parser repeats unclosed ones in every paragraph.
    """
    bare = markup
    for name in _DROPPED:
        bare = _without(bare, name)
    deepest = _depth(bare)
    if deepest <= DEPTH_LIMIT:
        return markup, 0
    depth = 0

    def flat(tag: re.Match[str]) -> str:
        nonlocal depth
        closing, name = tag[1], tag[2].lower()
        if name in _INLINE:
            return f"<{closing}wbr"
        if name in _VOID or name in _CLOSED_BY_THE_NEXT:
            return tag[0]
        depth = max(depth - 1, 0) if closing else depth + 1
        return tag[0] if depth + bool(closing) <= DEPTH_LIMIT else f"<{closing}wbr"

    return _TAG.sub(flat, bare), deepest


def _depth(markup: str) -> int:
    depth = deepest = 0
    for tag in _TAG.finditer(markup):
        name = tag[2].lower()
        if name in _VOID or name in _CLOSED_BY_THE_NEXT:
            continue
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _without(markup: str, name: str) -> str:
    """The markup without the elements of a name; one that is not closed stays."""
    lower = markup.lower() if len(markup.lower()) == len(markup) else markup
    parts: list[str] = []
    done, opening, closing = 0, f"<{name}", f"</{name}"
    while (start := lower.find(opening, done)) >= 0 and (end := lower.find(closing, start)) >= 0:
        parts.append(markup[done:start])
        done = lower.find(">", end) + 1 or len(markup)
    return "".join((*parts, markup[done:]))
