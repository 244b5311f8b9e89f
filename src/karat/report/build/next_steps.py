"""Next steps: what to do next, from how the best system fails, as sentences and a command that can be pasted."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from karat.core.text.words import not_different
from karat.report.labels import LABELS
from karat.results.decisions import main_failure

if TYPE_CHECKING:
    from karat.results.study import FailureCount, Study

_MATCHING = {"match": None, "pages": "physical", "page_offset": 0}


def next_steps(study: Study, place: str = "") -> list[str]:
    """What to do next, most useful first; `place` is the folder of the run."""
    steps = []
    failure = main_failure(study)
    if failure is not None:
        steps.append(f"{LABELS[failure.label].step}. {LABELS[failure.label].next}")
    if failure is not None and failure.questions:
        command = _command(study, failure, place)
        steps.append(f"See why: {command or f'question {failure.questions[0]} in report.html.'}")
    choice = study.choice
    if choice is not None and len(choice.equals) > len(choice.beaten):
        alike = not_different(len(choice.equals), len(choice.equals) + len(choice.beaten), "the best")
        more = "ask harder ones or compare at a smaller k" if _is_highest(study) else "add questions"
        steps.append(f"{alike[0].upper()}{alike[1:]}: take the simplest, or {more}.")
    return steps


def _is_highest(study: Study) -> bool:
    """Whether the best system has the best value of the main measure that there is."""
    assert study.choice is not None
    best = study.choice.best
    for measure in study.evaluation.scores.measures:
        if measure.name == best.measure:
            end = measure.bounds[0 if measure.spec.direction == "lower" else 1]
            return abs(best.mean - end) < 1e-9
    return False


def _command(study: Study, failure: FailureCount, place: str) -> str | None:
    """The command that shows a failed question, or all gold that is not there; None where the run is in no folder."""
    if failure.label not in ("gold_not_in_corpus", "gold_not_indexed"):
        question = failure.questions[0]
        words = ["karat", "show", place, *(["--"] if question.startswith("-") else []), question]
        return shlex.join(words) if place else None
    inputs, spec = study.manifest.get("inputs", {}), study.manifest.get("spec", {})
    indexes, testset = inputs.get("indexes", ()), inputs.get("testset", {}).get("file")
    if testset is None or len(indexes) != 1:
        return None
    words = [testset, indexes[0]["path"]]
    if any(word.startswith("-") for word in words):  # no path: an option that a stored run would have typed
        return None
    words = ["karat", "testset", "check", *words]
    for name, usual in _MATCHING.items():
        if spec.get(name, usual) not in (usual, None):
            words += [f"--{name.replace('_', '-')}", str(spec[name])]
    for column, field in (spec.get("map") or {}).items():
        words += ["--map", f"{column}={field}"]
    return shlex.join(words)
