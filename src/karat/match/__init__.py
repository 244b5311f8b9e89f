"""From hits to gold units: one matcher a file, one join behind them. `match` is the door."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.match._excluded import Exclusions
from karat.match._files import FileNames, address_of, is_url
from karat.match._join import Join, Key
from karat.match._judge import JudgingSettings, held_gold, judge, share_matched
from karat.match._match import Matched, check_questions, match, match_resolved
from karat.match._matcher import MATCHERS, Matcher, MatchInputs, MatchOptions
from karat.match._steps import judge_steps

if TYPE_CHECKING:
    from karat.match._passages import Passages
    from karat.match._resolve import Pages, QuotePosition, Resolution, Unresolved, resolve

__all__ = [
    "MATCHERS",
    "Exclusions",
    "FileNames",
    "Join",
    "JudgingSettings",
    "Key",
    "MatchInputs",
    "MatchOptions",
    "Matched",
    "Matcher",
    "Pages",
    "Passages",
    "QuotePosition",
    "Resolution",
    "Unresolved",
    "address_of",
    "check_questions",
    "held_gold",
    "is_url",
    "judge",
    "judge_steps",
    "match",
    "match_resolved",
    "resolve",
    "share_matched",
]

_OF_INDEXES = {
    "Pages": "_resolve",
    "Passages": "_passages",
    "QuotePosition": "_resolve",
    "Resolution": "_resolve",
    "Unresolved": "_resolve",
    "resolve": "_resolve",
}
"""What only indexes need, and where it stands: imported when it is asked for."""


def __getattr__(name: str) -> Any:
    if name not in _OF_INDEXES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OF_INDEXES[name]}"), name)
