"""Advice: what to do next, from how the best system fails."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from karat.core.text.words import not_different
from karat.report._labels import LABELS, costliest

if TYPE_CHECKING:
    from karat.core.study import FailureCount, Study


def main_failure(study: Study) -> FailureCount | None:
    """The way in which the best system fails that costs most; None where it does not fail, or nothing is known."""
    system = study.choice.best.system if study.choice is not None else None
    counts = [c for c in study.failure_counts if system is None or c.system == system]
    return next(iter(costliest(counts)), None)


def next_steps(study: Study) -> list[str]:
    """What to do next, most useful first."""
    steps = []
    failure = main_failure(study)
    if failure is not None:
        steps.append(f"{LABELS[failure.label].step}. {LABELS[failure.label].next}")
    if failure is not None and failure.measure and failure.questions:
        steps.append(f"See what was said, and from which contexts: question {failure.questions[0]} in report.html.")
    elif failure is not None and failure.questions:
        steps.append(f"See one of them step by step: {_explain(study, failure.questions[0])}")
    choice = study.choice
    if choice is not None and len(choice.equals) > len(choice.beaten):
        alike = not_different(len(choice.equals), len(choice.equals) + len(choice.beaten), "the best")
        steps.append(f"{alike[0].upper()}{alike[1:]}: take the simplest, or add questions.")
    return steps


def _explain(study: Study, question: str) -> str:
    """The command that shows a question, with the paths of the run where it has one index."""
    inputs = study.manifest.get("inputs", {})
    indexes = [index["path"] for index in inputs.get("indexes", ())]
    testset = inputs.get("testset", {}).get("path") or "TESTSET"
    paths = (testset, indexes[0] if len(indexes) == 1 else "INDEX")
    return f"karat explain {' '.join(map(shlex.quote, paths))} --question {shlex.quote(question)}"
