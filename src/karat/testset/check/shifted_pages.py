"""Shifted pages: page numbers of the gold that count otherwise than the index does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from karat.core.text.words import percent, plural
from karat.io.pages import page_of
from karat.match import Resolution
from karat.models.terms import terms
from karat.stats.tails import binomial_tail
from karat.testset.check._check import CheckContext, Finding, check, counted
from karat.testset.once import once

_LEAST = 3  # quotes from which a shift is believed
_SURE = 0.001
_RATIO = 1.2
FURTHEST = 20  # pages of a shift that is looked for
_SAMPLE = 400  # gold pages whose words are looked at


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Of `n` gold pages, the share that suits each way of counting: by shift, and by printed numbers (None).

    By quotes it is the share of quotes that stand on the page; by words the mean share of what the question and its
    answers say, rare words weighing more, that the page holds.
    """

    kind: str  # "quotes" or "words"
    n: int
    shares: Mapping[int | None, float]
    wins: Mapping[int | None, tuple[int, int]] | None = None  # by words: pages better and worse than as counted now

    def is_clear(self, now: float, shift: int | None) -> bool:
        """Whether another way of counting is so much better than the present one that it must be meant.

        By quotes: most stand there, and few where the pages point now. By words: they stand there much more, on nearly
        every page that tells a difference.
        """
        then = self.shares[shift]
        if self.wins is None:
            return then >= 0.5 and now < then / 2
        wins, losses = self.wins.get(shift, (0, 0))
        return then >= _RATIO * now and wins > losses and chance(wins, losses) < _SURE

    def sentence(self, now: float, shift: int | None, named: str, counting: str) -> str:
        """How much stands on the pages that the gold names, and how much if they are counted otherwise."""
        then = percent(self.shares[shift], 0)
        if self.wins is None:
            return (
                f"Of {plural(self.n, 'quote')} whose page is known, {percent(now, 0)} stand on the page that {named}, "
                f"and {then} with {counting}."
            )
        wins, losses = self.wins.get(shift, (0, 0))
        return (
            f"Of what questions and answers say, rare words weighing more, {percent(now, 0)} stands on the "
            f"{plural(self.n, 'page')} that {named}, and {then} with {counting} (better for {wins:,}, worse for "
            f"{losses:,})."
        )


@check(5)
def shifted_pages(context: CheckContext) -> Iterator[Finding]:
    """Page numbers that count otherwise than the index does."""
    if not any(gold.page is not None for gold in context.golds) or not any(context.chunks.column("pages")):
        return
    quotes = by_quotes(context)
    evidence = quotes if quotes is not None and quotes.n >= _LEAST else by_words(context)
    finding = None if evidence is None else _shift(context, evidence)
    zero = tuple(
        q.id for q in context.questions if any(g.grade >= 1 and g.page and g.page.strip() == "0" for g in q.gold)
    )
    if finding is not None:
        yield finding
    elif zero and context.page_offset == 0 and context.pages == "physical":
        names = counted(len(zero), "question", "names", "name")
        yield Finding(
            check="shifted_pages",
            severity="broken",
            title="the gold has a page 0",
            text=f"{names} it. Pages of an index count from 1, these from 0.",
            numbers={"questions": len(zero), "offset": -1},
            questions=zero,
            remedy="Add --page-offset -1.",
        )


def _shift(context: CheckContext, evidence: Evidence) -> Finding | None:
    """The way of counting that the evidence speaks for, where it is not the present one."""
    offset, shares = context.page_offset, evidence.shares
    now = shares.get(None if context.pages == "printed" else offset, 0.0)
    best = max((d for d in shares if d is not None), key=lambda d: (shares[d], -abs(d)), default=0)
    shift: int | None = best
    if context.pages != "printed" and None in shares and shares[None] >= shares.get(best, 0.0):
        shift = None if evidence.is_clear(now, None) else best
    if shift is None:
        title = "the page numbers of the gold are those printed on the pages, not those of the file"
        counting, remedy = "printed numbers", "Add --pages printed."
    elif shift == offset or shift not in shares or not evidence.is_clear(now, shift):
        return None
    elif shift == 0:
        title = f"--page-offset {offset} moves pages that are right as they stand"
        counting, remedy = "no shift", f"Drop --page-offset {offset}."
    else:
        title = f"the page numbers of the gold look shifted by {shift:+d}"
        counting, remedy = f"a shift of {shift:+d}", f"Add --page-offset {shift}."
    named = "the gold names" + ("" if offset == 0 else f" under --page-offset {offset}")
    then = shares[shift]
    return Finding(
        check="shifted_pages",
        severity="broken",
        title=title,
        text=evidence.sentence(now, shift, named, counting),
        numbers={"evidence": evidence.kind, "pages": evidence.n, "now": now, "then": then, "offset": shift},
        questions=tuple(q.id for q in context.questions if any(g.grade >= 1 and g.page is not None for g in q.gold)),
        remedy=remedy,
    )


def by_quotes(context: CheckContext) -> Evidence | None:
    """From gold with a page and a quote that stands on one page alone."""
    resolution = context.resolution if context.by == "auto" else context.resolved("quote")
    votes: Counter[int] = Counter()
    printed = n = 0
    placed = [
        (gold, resolution.quote_places.of(gold)) for q in context.questions for gold in q.gold if gold.quote is not None
    ]
    for gold, places in placed:
        page = page_of(gold.page) if gold.page is not None else None
        pages = {place.pages for place in places}
        if gold.grade < 1 or page is None or len(pages) != 1:
            continue
        (numbers,) = pages
        labels = {page_of(label) for place in places for label in place.labels}
        if not numbers:
            continue
        n += 1
        printed += page in labels
        if page.isdecimal():
            votes.update({int(page) - number for number in numbers})
    if not n:
        return None
    has_labels = any(place.labels for _, places in placed for place in places)
    shares: dict[int | None, float] = {d: count / n for d, count in votes.items()}
    return Evidence(kind="quotes", n=n, shares=shares | ({None: printed / n} if has_labels else {}))


def by_words(context: CheckContext) -> Evidence | None:
    """From the words of question and answers on the pages around the gold page, where no quote says more."""
    resolution = context.resolved("page", "physical", 0)
    rows_on = resolution.rows_on_page
    units = _units(context, resolution)
    if not units:
        return None
    shifts = sorted({*range(-FURTHEST, FURTHEST + 1), context.page_offset})
    weights = _PageWeights(context, resolution)
    scores = np.zeros((len(units), len(shifts)))
    for i, (q, file, page) in enumerate(units):
        scores[i] = [weights.score(q, file, rows_on.get((file, str(page - d)))) for d in shifts]
    counted_by: dict[int | None, NDArray[np.float64]] = dict(zip(shifts, scores.T, strict=True))
    printed = _printed(context, units, weights)
    if printed is not None:
        counted_by[None] = printed
    now = counted_by.get(None if context.pages == "printed" else context.page_offset, np.zeros(len(units)))
    wins = {d: (int((some > now).sum()), int((some < now).sum())) for d, some in counted_by.items()}
    means = {d: float(some.mean()) for d, some in counted_by.items()}
    return Evidence(kind="words", n=len(units), shares=means, wins=wins)


def chance(wins: int, losses: int) -> float:
    """How likely at least so many wins are if wins and losses are equally likely.

    >>> round(chance(3, 0), 6)
    0.125
    """
    return float(binomial_tail(losses, wins + losses)) if wins else 1.0


def _units(context: CheckContext, resolution: Resolution) -> list[tuple[int, str, int]]:
    """Question, file and page of gold whose page is a number and that has no quote; an even sample of many."""
    units = []
    for u, gold in enumerate(resolution.units.gold):
        place = resolution.page_of_unit(u)
        if resolution.relevant[u] and gold.quote is None and gold.page is not None and place and place[1].isdecimal():
            units.append((int(resolution.units.question[u]), place[0], int(place[1])))
    return units[:: max(1, -(-len(units) // _SAMPLE))]


def _printed(
    context: CheckContext, units: list[tuple[int, str, int]], weights: _PageWeights
) -> NDArray[np.float64] | None:
    """The same scores for the pages that bear the gold's number in print."""
    if not any(context.chunks.column("labels")):
        return None
    on = context.resolved("page", "printed", 0).rows_on_page
    return np.array([weights.score(q, file, on.get((file, str(page)))) for q, file, page in units])


class _PageWeights:
    """How much of what a question says some rows hold; a word weighs more the fewer pages of its file hold it."""

    def __init__(self, context: CheckContext, resolution: Resolution) -> None:
        self.context = context
        self.pages: dict[str, list[NDArray[np.int64]]] = {}
        for (file, _), rows in resolution.rows_on_page.items():
            self.pages.setdefault(file, []).append(rows)

    @once
    def _holders(self, file: str) -> Counter[str]:
        """How many pages of a file hold each word."""
        return Counter(word for rows in self.pages.get(file, ()) for word in self._on(rows))

    @once
    def _words(self, q: int, file: str) -> dict[str, float]:
        question, holders, pages = self.context.questions[q], self._holders(file), len(self.pages.get(file, ()))
        asked = terms(" ".join((question.text, *question.answers)))
        return {word: log(1 + pages / holders[word]) for word in asked if holders[word]}

    def _on(self, rows: NDArray[np.int64]) -> set[str]:
        return set().union(*(self.context.row_terms(row) for row in rows.tolist()))

    def score(self, q: int, file: str, rows: NDArray[np.int64] | None) -> float:
        """The weighted share of the words that the rows hold."""
        words = self._words(q, file)
        if rows is None or not words:
            return 0.0
        on = self._on(rows)
        return sum(weight for w, weight in words.items() if w in on) / sum(words.values())
