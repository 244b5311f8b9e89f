"""Pairs: any two systems on the same questions, with the test between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report._compared_words import without_interval
from karat.report.html._markup import Box, Column, section, table, text
from karat.report.html._shown import probability

if TYPE_CHECKING:
    from karat.report.html._shown import Shown
    from karat.results.comparison import Pair

MOST = 1_500
SURE = 0.05


def make(shown: Shown) -> str:
    """The pairs of the main measure first; how many are left out, where they are too many."""
    pairs = shown.study.pairs
    if not pairs:
        return ""
    ordered = sorted(
        pairs, key=lambda p: (p.measure != shown.study.main, p.measure, p.adjusted, -abs(p.difference or 0.0))
    )
    columns = [
        Column("b"),
        Column("a"),
        Column("measure", pick=True),
        Column("b - a", number=True),
        Column("95% interval"),
        Column("p", number=True, hint="paired permutation test"),
        Column("p adjusted", number=True, hint="Holm's correction over the pairs shown together"),
        Column("wins", number=True, hint="questions on which b is better"),
        Column("ties", number=True),
        Column("losses", number=True),
        Column("n", number=True),
        Column("told apart", pick=True, hint=f"p adjusted of {SURE} or less"),
    ]
    left = len(ordered) - MOST
    rest = f" {plural(left, 'more pair')} of other measures are in comparisons.csv." if left > 0 else ""
    lead = f"Each row takes b minus a over the questions that both have a value for.{rest} {without_interval(pairs)}"
    body = table("Pairs of systems", columns, [_row(shown, pair) for pair in ordered[:MOST]])
    return section("pairs", "Pairs", body, lead.rstrip())


def _row(shown: Shown, pair: Pair) -> list[str | Box]:
    return [
        text(pair.b),
        text(pair.a),
        text(pair.measure),
        Box(shown.difference(pair), pair.difference),
        shown.ends(pair.measure, pair.low, pair.high),
        Box(probability(pair.p), pair.p),
        Box(probability(pair.adjusted), pair.adjusted),
        f"{pair.wins:,}",
        f"{pair.ties:,}",
        f"{pair.losses:,}",
        f"{pair.n:,}",
        "yes" if pair.adjusted <= SURE else "no",
    ]
