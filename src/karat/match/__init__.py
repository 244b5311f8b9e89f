"""From hits to gold units: one matcher a file. `match` is the door."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.match._auto import Matched, check_questions, match, match_resolved
    from karat.match._judge import Settings, judge, share_matched
    from karat.match._matcher import MATCHERS, Matcher, Options
    from karat.match._resolution import Pages, Place, Resolution, Unresolved
    from karat.match._resolve import resolve

__all__ = [
    "MATCHERS",
    "Matched",
    "Matcher",
    "Options",
    "Pages",
    "Place",
    "Resolution",
    "Settings",
    "Unresolved",
    "check_questions",
    "judge",
    "match",
    "match_resolved",
    "resolve",
    "share_matched",
]

_HOME = {
    "MATCHERS": "_matcher",
    "Matched": "_auto",
    "Matcher": "_matcher",
    "Options": "_matcher",
    "Pages": "_resolution",
    "Place": "_resolution",
    "Resolution": "_resolution",
    "Settings": "_judge",
    "Unresolved": "_resolution",
    "check_questions": "_auto",
    "judge": "_judge",
    "match": "_auto",
    "match_resolved": "_auto",
    "resolve": "_resolve",
    "share_matched": "_judge",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
