"""From hits to gold units: one matcher a file, one join behind them. `match` is the door."""

from karat.match._excluded import Exclusions
from karat.match._files import address_of, is_url
from karat.match._join import Join, Key
from karat.match._judge import JudgingSettings, judge, share_matched
from karat.match._match import Matched, check_questions, match, match_resolved
from karat.match._matcher import MATCHERS, Matcher, MatchInputs, MatchOptions
from karat.match._passages import Passages
from karat.match._resolve import Pages, QuotePosition, Resolution, Unresolved, resolve

__all__ = [
    "MATCHERS",
    "Exclusions",
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
    "is_url",
    "judge",
    "match",
    "match_resolved",
    "resolve",
    "share_matched",
]
