"""Advice: what to do next, from how the best system fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.study import FailureCount, FailureLabel, Study

MEANING: dict[FailureLabel, str] = {
    "gold_not_in_corpus": "the gold names what the corpus does not have",
    "gold_not_indexed": "the gold is of a document that was not read, or no chunk holds it",
    "not_in_pool": "no engine found it within its depth",
    "lost_in_fusion": "an engine had it in its first k, the fusion put it below",
    "below_k": "it was found, below k",
    "cut_by_budget": "it was retrieved and did not fit into the prompt",
    "wrong_answer": "the gold was there and the answer is wrong",
    "refused": "the gold was there and the answer declines",
    "unsupported": "the answer says what the contexts do not",
}
STEP: dict[FailureLabel, str] = {
    "gold_not_in_corpus": "Mend the test set or add the documents: `karat check` names each gold that is not there.",
    "gold_not_indexed": "Look at the documents that were not read: `karat check` names them with the reason.",
    "not_in_pool": "The engines do not see it: try a larger --depth, another embedder, or --rewrite for the words.",
    "lost_in_fusion": "One engine is right where the other outvotes it: choose alpha by kind, or fuse by rrf.",
    "below_k": "It is close: rerank the first hits (--rerank), use smaller chunks, or hand more than k to the model.",
    "cut_by_budget": "Raise the budget of tokens, or use smaller chunks.",
    "wrong_answer": "Retrieval did its part: look at the prompt and the model.",
    "refused": "Retrieval did its part: look at when the model declines.",
    "unsupported": "Look at what the model adds of its own.",
}


def main_failure(study: Study) -> FailureCount | None:
    """The way in which the best system fails that costs most; None where it does not fail, or nothing is known."""
    system = study.choice.best.system if study.choice is not None else None
    counts = [c for c in study.failure_counts if system is None or c.system == system]
    return max(counts, key=lambda c: c.gain, default=None)


def next_steps(study: Study) -> list[str]:
    """What to do next, most useful first."""
    steps = []
    failure = main_failure(study)
    if failure is not None:
        steps.append(STEP[failure.label])
    if failure is not None and failure.questions:
        steps.append(f"See one of them step by step: karat explain TESTSET INDEX --question {failure.questions[0]}")
    choice = study.choice
    if choice is not None and len(choice.equals) > len(choice.beaten):
        steps.append(
            f"{len(choice.equals)} of {len(choice.equals) + len(choice.beaten)} others cannot be told apart from the "
            "best with these questions: take the simplest of them, or add questions."
        )
    return steps
