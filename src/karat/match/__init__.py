"""From hits to gold units: one matcher a file. `match` is the door."""

from karat.match._auto import Matched, match
from karat.match._judge import Settings, judge, share_matched
from karat.match._matcher import MATCHERS, Matcher, Options

__all__ = ["MATCHERS", "Matched", "Matcher", "Options", "Settings", "judge", "match", "share_matched"]
