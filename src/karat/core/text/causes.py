"""Causes: the reasons of many failed rows, grouped, so that a hundred rows that failed alike are one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

NO_REASON = "no reason given"
SHOWN = 3  # causes before the rest are only counted
_QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'|`[^`]*`")
_HEX = re.compile(r"\b(?:0x)?(?=[a-f-]{0,40}\d)[0-9a-f]{6,}(?:-[0-9a-f]{4,})*\b")
_NUMBER = re.compile(r"((?:http|status|code|errno)\W{0,3})?\d+(?:[.,:]\d+)*")


@dataclass(frozen=True)
class Cause:
    """One way to fail: the reason as the first row gives it, how many rows give it, and which is the first."""

    reason: str
    count: int
    first: str


def causes(reasons: Mapping[str, str]) -> list[Cause]:
    """Reasons by question as causes, the commonest first.

    Reasons that differ in numbers, ids, quoted texts or the question's own id are one cause; HTTP codes tell causes
    apart.
    """
    groups: dict[str, list[str]] = {}
    for question, reason in reasons.items():
        groups.setdefault(_key(question, reason), []).append(question)
    found = [Cause(_line(reasons[alike[0]]), len(alike), alike[0]) for alike in groups.values()]
    return sorted(found, key=lambda cause: -cause.count)


def in_words(reasons: Mapping[str, str]) -> str:
    """The commonest causes with their counts, in one line.

    >>> in_words({"q1": "timed out after 3 s", "q2": "timed out after 4 s", "q3": "no reply"})
    'timed out after 3 s (2 times, first q1); no reply (q3)'
    """
    found = causes(reasons)
    rest = found[SHOWN:]
    parts = [
        f"{c.reason} ({c.first if c.count == 1 else f'{c.count:,} times, first {c.first}'})" for c in found[:SHOWN]
    ]
    if rest:
        rows = sum(cause.count for cause in rest)
        parts.append(f"{len(rest):,} more reason{'s' * (len(rest) > 1)} ({rows:,} time{'s' * (rows > 1)})")
    return "; ".join(parts)


def _line(reason: str) -> str:
    return " ".join(reason.split()).rstrip(".") or NO_REASON


def _key(question: str, reason: str) -> str:
    """What is left of a reason once all that differs from row to row is taken out."""
    text = re.sub(rf"(?<!\w){re.escape(question)}(?!\w)", "#", _line(reason)) if question else _line(reason)
    text = _HEX.sub("#", _QUOTED.sub("#", text).lower())
    return _NUMBER.sub(lambda found: found[0] if found[1] else "#", text)
