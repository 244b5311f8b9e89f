"""From hits to gold units: one matcher a file, one join behind them. `match` is the door."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.match._index import Pages, Place
    from karat.match._join import Join, Key
    from karat.match._judge import Settings, judge, share_matched
    from karat.match._match import Matched, check_questions, match, match_resolved
    from karat.match._matcher import MATCHERS, Context, Matcher, Options
    from karat.match._passages import Passages
    from karat.match._resolve import Resolution, Unresolved, resolve

_HOMES = {
    "_index": ("Pages", "Place"),
    "_join": ("Join", "Key"),
    "_judge": ("Settings", "judge", "share_matched"),
    "_match": ("Matched", "check_questions", "match", "match_resolved"),
    "_matcher": ("MATCHERS", "Context", "Matcher", "Options"),
    "_passages": ("Passages",),
    "_resolve": ("Resolution", "Unresolved", "resolve"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "MATCHERS",
    "Context",
    "Join",
    "Key",
    "Matched",
    "Matcher",
    "Options",
    "Pages",
    "Passages",
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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
