"""What a filter is: it looks at a draft for one fault, and says it in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.registry import Registry
from karat.results.drafts import Draft, Rejected

if TYPE_CHECKING:
    from karat.testset.filters._surroundings import Surroundings

Found = str | Draft | None
"""Why the draft is rejected, in a sentence; or the draft with more gold; or None where nothing is wrong with it."""


@dataclass(frozen=True)
class Filter:
    """One filter, called as its file is; its name is the reason under which rejections are counted.

    `find` is given the draft, the surroundings and the drafts accepted before it. Filters run by `order`, what costs
    least first, and the first that finds a fault ends it.
    """

    name: str
    summary: str
    find: Callable[[Draft, Surroundings, Sequence[Draft]], Found]
    order: int = 50


@dataclass(frozen=True)
class Verdict:
    """What became of a draft: `rejected` with a reason, or None; `draft` is it as it is to be kept."""

    rejected: Rejected | None
    draft: Draft


def _find(source: Any) -> Filter | None:
    found = getattr(source, "filter", source)
    return found if isinstance(found, Filter) else None


FILTERS: Registry[Filter] = Registry("filter", ("karat.testset.filters",), "karat.filters", _find)


def judge_draft(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> Verdict:
    """Whether a draft becomes a question, given those that were accepted before it."""
    surroundings.prepare([draft])
    for one in sorted(FILTERS, key=lambda one: (one.order, one.name)):
        found = one.find(draft, surroundings, accepted)
        if isinstance(found, str):
            rows = tuple(fragment.row for fragment in draft.fragments)
            return Verdict(Rejected(one.name, found, draft.kind, rows, draft), draft)
        if found is not None:
            draft = found
    return Verdict(None, draft)


def judge_drafts(drafts: Sequence[Draft], surroundings: Surroundings, accepted: Sequence[Draft]) -> list[Verdict]:
    """The verdict on each draft in turn; one that is accepted counts for those after it.

    The same as judging them one by one, only faster: what they need is searched and embedded together.
    """
    surroundings.prepare(drafts)
    kept = list(accepted)
    verdicts = []
    for draft in drafts:
        verdict = judge_draft(draft, surroundings, kept)
        if verdict.rejected is None:
            kept.append(verdict.draft)
        verdicts.append(verdict)
    return verdicts
