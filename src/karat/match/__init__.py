"""From hits to gold units: one matcher a file. `match` is the door."""

from karat.match._auto import Matched, check_questions, match
from karat.match._judge import Settings, judge, share_matched
from karat.match._matcher import MATCHERS, Matcher, Options

__all__ = [
    "MATCHERS",
    "Matched",
    "Matcher",
    "Options",
    "Settings",
    "check_questions",
    "judge",
    "match",
    "share_matched",
]
