"""Questions of results and test set brought together: by id, or by what they ask where ids do not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.core.types import TestSet

T = TypeVar("T")


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
    agreed = set(shared) - set(clashing)
    free = {text: target for text, target in _once(asked).items() if target not in agreed}
    wanted = {qid: free[text] for qid, text in texts.items() if qid not in agreed and text in free}
    claims = Counter(wanted.values())
    renamed = {qid: target for qid, target in wanted.items() if claims[target] == 1}
    if not renamed:
        return run, [_differing(run, clashing, shared)] if clashing else []
    other = (
        f"{len(clashing)} {'id stands for another question' if len(clashing) == 1 else 'ids stand for other questions'}"
    )
    why = f"{other} than in the test set." if shared else "no id is shared."
    note = Note(
        "warning" if shared else "info",
        f"{run.name}: {len(renamed)} of {len(texts)} questions were matched by their texts, because {why}",
    )
    return _rename(run, renamed, set(asked) - agreed), [note]


def _differing(run: Run, clashing: list[str], shared: list[str]) -> Note:
    return Note(
        "warning",
        f"{run.name}: {len(clashing)} of {len(shared)} questions ask something else than the test set's of the same id "
        f"(id {clashing[0]!r}). Check that both belong together.",
        guard="questions differ",
    )


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
    """The run with questions renamed; one that only shares an id with a question it does not ask leaves it."""
    claimed = set(renamed.values())

    def name(qid: str) -> str:
        if qid in renamed:
            return renamed[qid]
        leaves = qid in taken and (qid in run.texts or qid in claimed)
        return f"{qid} (results)" if leaves else qid

    def by_name(of_questions: Mapping[str, T]) -> dict[str, T]:
        return {name(qid): value for qid, value in of_questions.items()}

    return replace(
        run, question_ids=[name(qid) for qid in run.question_ids], answers=by_name(run.answers),
        failed=by_name(run.failed), unasked=by_name(run.unasked), texts=by_name(run.texts), by_question=None,
        _docs=run.docs, _scores=run.scores,
    )  # fmt: skip
