"""Questions of results and test set brought together: by id, or by what they ask where ids do not agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.evaluation import Note
from karat.core.run import Run
from karat.core.text.normalise import normalise

if TYPE_CHECKING:
    from karat.core.types import TestSet


def align(testset: TestSet, run: Run) -> tuple[Run, list[Note]]:
    """The run under the test set's ids.

    Where a run repeats the questions' texts and an id stands for another text than in the test set (rows numbered
    from 0 here and from 1 there), or no id is known, questions are matched by their texts.
    """
    if not run.texts or testset.is_plain:
        return run, []
    asked = {q.id: _plain(q.text) for q in testset.questions if q.text}
    texts = {qid: _plain(text) for qid, text in run.texts.items()}
    shared = [qid for qid in texts if qid in asked]
    clashing = [qid for qid in shared if texts[qid] and asked[qid] != texts[qid]]
    if shared and not clashing:
        return run, []
    once = _once(asked)
    renamed = {qid: once[text] for qid, text in texts.items() if text in once}
    if len(set(renamed.values())) < len(renamed) or len(renamed) <= len(shared) - len(clashing):
        if not clashing:
            return run, []
        example = clashing[0]
        return run, [
            Note(
                "warning",
                f"{run.name}: {len(clashing)} of {len(shared)} questions ask something else than the test set's of "
                f"the same id (id {example!r}). Check that both belong together.",
                guard="questions differ",
            )
        ]
    note = Note(
        "info" if not shared else "warning",
        f"{run.name}: questions were matched by their texts ({len(renamed)} of {len(texts)}), because "
        + (
            "no id is shared." if not shared else f"{len(clashing)} ids stand for other questions than in the test set."
        ),
    )
    return _rename(run, renamed, set(asked)), [note]


def _plain(text: str) -> str:
    return normalise(text, "words")


def _once(asked: dict[str, str]) -> dict[str, str]:
    """Text -> id, for texts that one question has."""
    ids: dict[str, str] = {}
    twice = set()
    for qid, text in asked.items():
        if text in ids:
            twice.add(text)
        ids[text] = qid
    return {text: qid for text, qid in ids.items() if text not in twice and text}


def _rename(run: Run, renamed: dict[str, str], taken: set[str]) -> Run:
    def name(qid: str) -> str:
        return renamed.get(qid) or (f"{qid} (results)" if qid in taken else qid)

    return Run(
        run.name, [name(q) for q in run.question_ids], run.offsets, run.docs, run.scores, order=run.order,
        fields=run.fields, answers={name(q): a for q, a in run.answers.items()},
        failed={name(q): r for q, r in run.failed.items()}, source=run.source, unique=run.unique, hashes=run.hashes,
        texts={name(q): t for q, t in run.texts.items()},
    )  # fmt: skip
