"""Labels of failures in words: what each is called, what it means, and what to try next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.results.study import FailureCount, FailureLabel


@dataclass(frozen=True)
class FailureWords:
    """A way to fail."""

    title: str
    meaning: str
    step: str
    next: str


LABELS: dict[FailureLabel, FailureWords] = {
    "gold_not_in_corpus": FailureWords(
        "gold not in the corpus",
        "No document holds what the gold names.",
        "Complete the corpus",
        "Add the missing documents or fix the gold: `karat testset check` names every entry.",
    ),
    "gold_not_indexed": FailureWords(
        "gold not indexed",
        "The document is there, but no chunk holds the gold.",
        "Check the chunks",
        "Look at how these documents were read and chunked: `karat testset check` shows where each quote is.",
    ),
    "not_in_pool": FailureWords(
        "not in the pool",
        "No engine returned it within its depth.",
        "Search deeper",
        "The detail of a question says how deep its gold stands. Else rewrite questions, or take an embedder that "
        "knows their words.",
    ),
    "lost_in_fusion": FailureWords(
        "lost in fusion",
        "One engine ranked it in the top k; fusion or reranking pushed it below.",
        "Move alpha",
        "Move alpha towards the engine that had it, or try rrf.",
    ),
    "below_k": FailureWords(
        "below the cut-off",
        "Retrieved, but below rank k by every engine.",
        "Raise k or rerank",
        "Give the reader a larger k, or rerank the top of the list.",
    ),
    "cut_by_budget": FailureWords(
        "cut by the budget",
        "It was retrieved, but did not fit into what the model was given.",
        "Raise the budget",
        "Raise the context budget, or make smaller chunks.",
    ),
    "refused": FailureWords(
        "refused",
        "The gold was in the context and the model declined to answer.",
        "Loosen the prompt",
        "Loosen the prompt's rule on when to decline.",
    ),
    "unsupported": FailureWords(
        "unsupported",
        "The answer says what its context does not, or answers what the documents do not.",
        "Keep to the context",
        "Ask the model to keep to the context and to cite it.",
    ),
    "wrong_answer": FailureWords(
        "wrong answer",
        "The gold was in the context, the answer keeps to the context, and is still wrong.",
        "Work on the answers",
        "Work on the prompt or the model: retrieval did its part.",
    ),
}


def gained(count: FailureCount, k: int) -> str:
    """The measure whose mean the gain of a count is of."""
    return count.measure or f"Recall@{k}"
