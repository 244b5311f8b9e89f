"""What to say of a matching: what other matchers would find, pages that look shifted, quotes that differ in print."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.errors import KaratError
from karat.core.text.normalise import normalise
from karat.core.types import TestSet
from karat.io.pages import pages_of, shift
from karat.match._join import Join
from karat.match._judge import Settings, judge, least_share
from karat.match._kinds import LOW
from karat.match._matcher import MATCHERS, Context, by_strictness, column, column_or_none
from karat.match._passages import Passages

if TYPE_CHECKING:
    from karat.core.judged import Judged
    from karat.core.run import Run
    from karat.core.types import Gold

_TRY_ALL = 20_000  # hits up to which other matchers are tried where less than half of the gold is found
_CLEAR = 0.5  # share of the gold above which a matcher clearly wins: no other is tried
_FAIR = 0.2  # share that a shift of the pages must find to be believed


def part_of(testset: TestSet, golds: Container[Gold]) -> TestSet:
    """The test set with only these entries."""
    return TestSet(replace(q, gold=tuple(g for g in q.gold if g in golds)) for q in testset.questions)


def other_shares(
    join: Join, runs: Sequence[Run], settings: Settings, judged: Judged, *, try_all: bool
) -> dict[str, float]:
    """What other matchers would find, where that is worth knowing: much gold is not found, and it is soon done."""
    least = least_share(judged)
    if not try_all and (least > _CLEAR or (least > LOW and sum(len(run) for run in runs) > _TRY_ALL)):
        return {}
    shares = shares_of(join.testset, runs, join, settings)
    return shares if try_all else {name: share for name, share in shares.items() if share > least}


def shares_of(
    testset: TestSet, runs: Sequence[Run], join: Join | None = None, settings: Settings | None = None
) -> dict[str, float]:
    """Share of the gold that each other matcher would find, for the system where it finds least."""
    join = join or Join(testset, runs)
    shares: dict[str, float] = {}
    context = Context(join.golds, runs, join.options)
    for matcher in by_strictness():
        if list(join.matchers) == [matcher.name] or (matcher.must_fit and not matcher.fits(context)):
            continue
        try:
            share = least_share(judge(testset, runs, Join(testset, runs, matcher.name, join.options), settings))
        except KaratError:  # it needs what is not known here, such as a pattern
            continue
        if share > 0:
            shares[matcher.name] = share
    return shares


def better_matcher(join: Join, least: float, others: Mapping[str, float]) -> str | None:
    """A matcher that finds more; one that counts a larger unit only where less than half is found."""
    if least > _CLEAR:
        return None
    better = {name: share for name, share in others.items() if share > least + 0.05}
    if not better:
        return None
    name = max(better, key=lambda n: better[n])
    matcher = MATCHERS.get(name)
    looser = f", counting the {matcher.unit} as the unit," if matcher.larger and matcher.unit != join.unit else ""
    return f"`--match {name}`{looser} would match {better[name]:.0%} of the gold instead of {least:.0%}."


def shifted_pages(join: Join, runs: Sequence[Run], settings: Settings, least: float) -> str | None:
    """What to add where the page numbers of one side look shifted: counted from 0, say."""
    if least > _CLEAR or "page" not in join.matchers or not any(column(run, "page") is not None for run in runs):
        return None
    paged, now = join.of_kind("page"), join.options.page_offset
    part = part_of(join.testset, frozenset(paged))
    shares: dict[int, float] = {}
    for offset in (now, now + 1, now - 1, now + 2, now - 2):
        shifted = Join(part, runs, "page", replace(join.options, page_offset=offset))
        shares[offset] = least_share(judge(part, runs, shifted, settings))
    best = max(shares, key=lambda offset: shares[offset])
    gained = (shares[best] - shares[now]) * sum(1 for gold in paged if gold.grade >= 1)
    if shares[best] < max(_FAIR, 2 * shares[now]) or gained < 2:
        return None
    return (
        f"The page numbers look shifted by {abs(best - now)}: `--page-offset {best}` would match {shares[best]:.0%} of "
        f"the gold pages instead of {shares[now]:.0%}."
    )


def in_several_files(join: Join, runs: Sequence[Run]) -> list[str]:
    """Where page numbers count in any file: how many of them are pages of several."""
    options, golds = join.options, join.of_kind("page")
    if not options.any_file:
        return []
    files: dict[str, set[str]] = {}
    for run in runs:
        for page, doc in zip(column_or_none(run, "page"), column_or_none(run, "doc"), strict=True):
            for number in pages_of(page, options.labels) if doc is not None else ():
                files.setdefault(shift(number, options.page_offset), set()).add(str(doc))
    named = [pages_of(gold.page if gold.page is not None else gold.id, options.labels) for gold in golds]
    several = sum(1 for pages in named if any(len(files.get(page, ())) > 1 for page in pages))
    if not several:
        return []
    return [
        f"{several:,} of {len(golds):,} gold pages are page numbers of several files: under this dialect a hit on that "
        "page of any file counts as found, so scores may be too high. Name the file of each, and score without the "
        "dialect, for the true figure."
    ]


def typography_notes(join: Join, runs: Sequence[Run]) -> list[str]:
    """How many quotes stand in a hit but for a footnote's number, a ligature or a hyphen at a line end."""
    quotes = list(dict.fromkeys(gold.quote for gold in join.of_kind("quote") if gold.quote))
    if not quotes:
        return []
    texts = list(dict.fromkeys(text for run in runs for text in column(run, "text") or () if text))
    passages = Passages(texts)
    loose = 0
    for quote in quotes:
        words, holding = normalise(quote, "words"), passages.find(quote)
        loose += bool(holding) and not any(words in normalise(texts[passage.text], "words") for passage in holding)
    if not loose:
        return []
    return [
        f"{loose:,} of {len(quotes):,} quotes {'differs' if loose == 1 else 'differ'} from the text that holds "
        f"{'it' if loose == 1 else 'them'} by a footnote's number, a ligature or a hyphen at a line end; "
        f"{'it counts' if loose == 1 else 'they count'} as found."
    ]
