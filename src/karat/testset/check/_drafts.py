"""Drafts that pass the filters, in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.results.drafts import Draft, Rejected
from karat.testset.check._check import FILTERS
from karat.testset.check._surroundings import Surroundings


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
