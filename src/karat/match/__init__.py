"""From hits to gold units: one matcher a file. `match` is the door."""

from karat.match._auto import Matched, check_questions, match, match_resolved
from karat.match._judge import Settings, judge, share_matched
from karat.match._matcher import MATCHERS, Matcher, Options
from karat.match._resolution import Pages, Place, Resolution, Unresolved
from karat.match._resolve import resolve
from karat.match.page import page_of

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
    "page_of",
    "resolve",
    "share_matched",
]
