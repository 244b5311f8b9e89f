"""Drafts that pass the filters, in turn; and those accepted so far, found by what they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.results.drafts import Draft, Rejected
from karat.testset.check._check import FILTERS

if TYPE_CHECKING:
    from karat.testset.check._surroundings import Surroundings

Stems = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class DraftVerdict:
    """What became of a draft: `rejected` with a reason, or None; `draft` is it as it is to be kept."""

    rejected: Rejected | None
    draft: Draft


def judge_draft(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> DraftVerdict:
    """Whether a draft becomes a question, given those that were accepted before it."""
    surroundings.prepare([draft])
    for one in sorted(FILTERS, key=lambda one: (one.order, one.name)):
        outcome = one.find(draft, surroundings, accepted)
        if isinstance(outcome, str):
            rows = tuple(fragment.row for fragment in draft.fragments)
            return DraftVerdict(
                Rejected(reason=one.name, detail=outcome, kind=draft.kind, rows=rows, draft=draft), draft
            )
        draft = outcome or draft
    return DraftVerdict(None, draft)


def judge_drafts(drafts: Sequence[Draft], surroundings: Surroundings, accepted: Sequence[Draft]) -> list[DraftVerdict]:
    """The verdict on each draft in turn; one that is accepted counts for those after it.

    The same as judging them one by one, only faster: what they need is searched and embedded together.
    """
    surroundings.prepare(drafts)
    accepted = list(accepted)
    verdicts = []
    for draft in drafts:
        verdicts.append(judge_draft(draft, surroundings, accepted))
        if verdicts[-1].rejected is None:
            accepted.append(verdicts[-1].draft)
    return verdicts


class EarlierQuestions:
    """Texts in the order in which they were asked, by their stems and by the rows they are about."""

    def __init__(self, stems: Stems) -> None:
        self._stems = stems
        self._count = 0
        self._bare: list[int] = []
        self._by_stem: dict[str, list[int]] = {}
        self._by_row: dict[int, list[int]] = {}

    def add(self, text: str, rows: Collection[int] = ()) -> None:
        """Note one more text."""
        stems = self._stems(text)
        if not stems:
            self._bare.append(self._count)
        for stem in stems:
            self._by_stem.setdefault(stem, []).append(self._count)
        for row in rows:
            self._by_row.setdefault(row, []).append(self._count)
        self._count += 1

    def candidates(self, text: str, share: float, rows: Collection[int] = ()) -> list[int]:
        """The places of texts that can have this share of all stems in common with it, or are about one of the rows.

        Who shares so many misses few of its stems: of the rarest, one more than may be missed, it has at least one.
        """
        stems = self._stems(text)
        by_rarity = sorted((self._by_stem.get(stem, ()) for stem in stems), key=len)
        places = set(() if stems else self._bare)
        places.update(*by_rarity[: len(stems) - math.ceil(share * len(stems)) + 1])
        places.update(*(self._by_row.get(row, ()) for row in rows))
        return sorted(places)
