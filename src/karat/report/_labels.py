"""Labels of failures in words: what each is called, what it means, and what to try next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from karat.results.study import FailureCount, FailureLabel


@dataclass(frozen=True)
class Label:
    """A way to fail."""

    title: str
    meaning: str
    step: str
    next: str


LABELS: dict[FailureLabel, Label] = {
    "gold_not_in_corpus": Label(
        "gold not in the corpus",
        "No document holds what the gold names.",
        "Complete the corpus",
        "Add the missing documents or mend the gold: karat check names every entry.",
    ),
    "gold_not_indexed": Label(
        "gold not indexed",
        "The document is there, but no chunk holds the gold.",
        "Check the chunks",
        "Look at how these documents were read and cut: karat check shows where each quote stands.",
    ),
    "not_in_pool": Label(
        "not in the pool",
        "No leg returned it within its depth.",
        "Search deeper",
        "The detail of a question says how deep its gold stands. Else rewrite questions, or take an embedder that "
        "knows their words.",
    ),
    "lost_in_fusion": Label(
        "lost in fusion",
        "A leg had it among its first k; fusing or reranking put it below.",
        "Move alpha",
        "Move alpha towards the leg that had it, or try rrf.",
    ),
    "below_k": Label(
        "below the cut-off",
        "It was found, but below rank k in every leg too.",
        "Raise k or rerank",
        "Give the reader a larger k, or rerank the top of the list.",
    ),
    "cut_by_budget": Label(
        "cut by the budget",
        "It was retrieved, but did not fit into what the model was given.",
        "Raise the budget",
        "Raise the context budget, or cut smaller chunks.",
    ),
    "refused": Label(
        "refused",
        "The gold was in the context and the model declined to answer.",
        "Loosen the prompt",
        "Loosen the prompt's rule on when to decline.",
    ),
    "unsupported": Label(
        "unsupported",
        "The answer says what its context does not, or answers what the documents do not.",
        "Keep to the context",
        "Ask the model to keep to the context and to cite it.",
    ),
    "wrong_answer": Label(
        "wrong answer",
        "The gold was in the context, the answer keeps to the context, and is still wrong.",
        "Work on the answers",
        "Work on the prompt or the model: retrieval did its part.",
    ),
}


def gained(count: FailureCount, k: int) -> str:
    """The measure whose mean the gain of a count is of."""
    return count.measure or f"Recall@{k}"


def nothing_to_gain(count: FailureCount) -> bool:
    """Whether these answers have no score that mending them could raise, as those to unanswerable questions."""
    return bool(count.measure) and count.gain == 0


def costliest(counts: Iterable[FailureCount]) -> list[FailureCount]:
    """Counts of one system, what costs most first: by gain, or by questions where gains are of different measures."""
    found = list(counts)
    alike = len({count.measure for count in found}) < 2
    return sorted(found, key=lambda c: (-c.gain if alike else 0.0, -len(c.questions), -c.gain, c.label))
