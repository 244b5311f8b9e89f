"""Frozen test sets where they are used: a change is told or refused, and only runs of the same questions meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.results.evaluation import Note

REFREEZE = "Restore it, or freeze it as a new version: `karat testset freeze FILE --version NEW`."
_FEW, _SHOWN = 3, 12  # ids, and characters of a digest, that a sentence names


def changed_notes(testset: TestSet) -> list[Note]:
    """A warning where a frozen test set is not what was frozen."""
    from karat.results.evaluation import Note

    if testset.changed is None:
        return []
    return [Note("warning", f"{testset.name} is {testset.changed}. {REFREEZE}")]


def refuse_changed(testset: TestSet, place: str) -> None:
    """Refuse a frozen test set that is not what was frozen: its figures would go under the name of the old one."""
    if testset.changed is not None:
        raise UsageError(f"{place} is {testset.changed}. {REFREEZE} To go on all the same: --changed-testset.")


def same_testset(manifests: Sequence[Mapping[str, Any]], testsets: Sequence[TestSet] = ()) -> None:
    """Refuse to compare runs that did not ask the same questions with the same gold, and say how they differ.

    `manifests` are those of the runs; `testsets`, in the same order where they are at hand (a stored study has its
    own), let the refusal name the questions.
    """
    about = [_about(manifest, number) for number, manifest in enumerate(manifests, 1)]
    for number, other in enumerate(about[1:], 1):
        if other["digest"] == about[0]["digest"]:
            continue
        both = f"{_told(about[0])}, and {_told(other)}"
        how = f" {_difference(testsets[0], testsets[number])}" if len(testsets) > number else ""
        raise UsageError(
            f"these runs are of different test sets: {both}.{how} Their figures cannot be compared. Run both on the "
            "same test set."
        )


def _about(manifest: Mapping[str, Any], number: int) -> dict[str, Any]:
    inputs = manifest.get("inputs")
    testset = inputs.get("testset") if isinstance(inputs, Mapping) else None
    if not isinstance(testset, Mapping) or not testset.get("digest"):
        raise UsageError(f"run {number} does not say which test set it is of, so it cannot be compared.")
    return {**testset, "number": number}


def _told(about: Mapping[str, Any]) -> str:
    """ "run 1 of qa.jsonl, version 1.0 (90 questions, digest 0123456789ab)"."""
    version = f", version {about['version']}" if about.get("version") else ""
    size = f"{about['questions']:,} questions, " if isinstance(about.get("questions"), int) else ""
    return f"run {about['number']} of {about.get('path')}{version} ({size}digest {str(about['digest'])[:_SHOWN]})"


def _difference(one: TestSet, other: TestSet) -> str:
    """How many questions differ, and some of them."""
    left, right = {q.id: q for q in one}, {q.id: q for q in other}
    parts = []
    for what, ids in (
        ("only in the first", [qid for qid in left if qid not in right]),
        ("only in the other", [qid for qid in right if qid not in left]),
        ("not the same in both", [qid for qid in left if qid in right and left[qid] != right[qid]]),
    ):
        if ids:
            more = ", ..." if len(ids) > _FEW else ""
            stand = "question is" if len(ids) == 1 else "questions are"
            parts.append(f"{len(ids):,} {stand} {what} ({', '.join(ids[:_FEW])}{more})")
    return f"{'; '.join(parts)}." if parts else "They hold the same questions in another order."
