"""Evidence on how gold counts pages: as the index does, shifted by a constant, or as the paper is printed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose.check import Case
from karat.io.pages import page_of
from karat.models.terms import terms
from karat.stats.tails import binomial_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.match import Resolution

FURTHEST = 20  # pages of a shift that is looked for
_SAMPLE = 400  # gold pages whose words are looked at


@dataclass(frozen=True)
class Evidence:
    """Of `n` gold pages, the share that suits each way of counting: by shift, and by printed numbers.

    By quotes it is the share of quotes that stand on the page; by words the mean share of what the question and its
    answers say, rare words weighing more, that the page holds.
    """

    kind: str  # "quotes" or "words"
    n: int
    shifted: dict[int, float]
    printed: float | None = None
    wins: dict[int | None, tuple[int, int]] | None = None  # by words: pages better and worse than as counted now


def by_quotes(case: Case) -> Evidence | None:
    """From gold with a page and a quote that stands on one page alone."""
    found = case.resolution if case.by == "auto" else case.resolved("quote")
    votes: Counter[int] = Counter()
    printed = n = 0
    placed = [(gold, found.quote_places.of(gold)) for q in case.questions for gold in q.gold if gold.quote is not None]
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
    return Evidence("quotes", n, {d: count / n for d, count in votes.items()}, printed / n if has_labels else None)


def by_words(case: Case) -> Evidence | None:
    """From the words of question and answers on the pages around the gold page, where no quote says more."""
    found = case.resolved("page", pages="physical", page_offset=0)
    rows_on = found.rows_on_page
    units = _units(case, found)
    if not units:
        return None
    shifts = sorted({*range(-FURTHEST, FURTHEST + 1), case.page_offset})
    weights = _Weights(case, found)
    scores = np.zeros((len(units), len(shifts)))
    for i, (q, file, page) in enumerate(units):
        scores[i] = [weights.score(q, file, rows_on.get((file, str(page - d)))) for d in shifts]
    now: NDArray[np.float64] = scores[:, shifts.index(case.page_offset)]
    printed = _printed(case, units, weights)
    if case.pages == "printed" and printed is not None:
        now, printed = printed, None
    wins: dict[int | None, tuple[int, int]] = {
        d: (int((scores[:, i] > now).sum()), int((scores[:, i] < now).sum())) for i, d in enumerate(shifts)
    }
    if printed is not None:
        wins[None] = (int((printed > now).sum()), int((printed < now).sum()))
    means = {d: float(scores[:, i].mean()) for i, d in enumerate(shifts)}
    return Evidence("words", len(units), means, float(printed.mean()) if printed is not None else None, wins)


def chance(wins: int, losses: int) -> float:
    """How likely at least so many wins are if wins and losses are equally likely.

    >>> round(chance(3, 0), 6)
    0.125
    """
    return float(binomial_tail(losses, wins + losses)) if wins else 1.0


def _units(case: Case, found: Resolution) -> list[tuple[int, str, int]]:
    """Question, file and page of gold whose page is a number and that has no quote; an even sample of many."""
    made = []
    for u, gold in enumerate(found.units.gold):
        place = found.page_of_unit(u)
        if found.relevant[u] and gold.quote is None and gold.page is not None and place and place[1].isdecimal():
            made.append((int(found.units.question[u]), place[0], int(place[1])))
    return made[:: max(1, -(-len(made) // _SAMPLE))]


def _printed(case: Case, units: list[tuple[int, str, int]], weights: _Weights) -> NDArray[np.float64] | None:
    """The same scores for the pages that bear the gold's number in print."""
    if not any(chunk.labels for chunk in case.chunks):
        return None
    on = case.resolved("page", pages="printed", page_offset=0).rows_on_page
    return np.array([weights.score(q, file, on.get((file, str(page)))) for q, file, page in units])


class _Weights:
    """How much of what a question says some rows hold; a word weighs more the fewer pages of its file hold it."""

    def __init__(self, case: Case, found: Resolution) -> None:
        self.case = case
        self.pages: dict[str, list[NDArray[np.int64]]] = {}
        for (file, _), rows in found.rows_on_page.items():
            self.pages.setdefault(file, []).append(rows)
        self._of_file: dict[str, tuple[Counter[str], int]] = {}
        self._asked: dict[tuple[int, str], dict[str, float]] = {}

    def _words(self, q: int, file: str) -> dict[str, float]:
        if (q, file) not in self._asked:
            if file not in self._of_file:
                pages = self.pages.get(file, [])
                held = Counter(w for rows in pages for w in self._on(rows))
                self._of_file[file] = (held, len(pages))
            held, pages_ = self._of_file[file]
            question = self.case.questions[q]
            asked = terms(" ".join((question.text, *question.answers)))
            self._asked[q, file] = {w: log(1 + pages_ / held[w]) for w in asked if held[w]}
        return self._asked[q, file]

    def _on(self, rows: NDArray[np.int64]) -> set[str]:
        return set().union(*(self.case.row_terms(row) for row in rows.tolist()))

    def score(self, q: int, file: str, rows: NDArray[np.int64] | None) -> float:
        """The weighted share of the words that the rows hold."""
        words = self._words(q, file)
        if rows is None or not words:
            return 0.0
        on = self._on(rows)
        return sum(weight for w, weight in words.items() if w in on) / sum(words.values())
