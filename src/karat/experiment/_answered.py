"""From runs and a test set to AnswerTable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from karat.core.answered import AnswerTable
from karat.core.models import Models
from karat.core.ranked import ranking

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import Answer, TestSet


def answered_of(
    testset: TestSet, runs: Sequence[Run], models: Models | None = None, *, unasked: bool = False
) -> AnswerTable | None:
    """Answers of all systems beside the references; None when no system gave any.

    `unasked`: contexts alone will do, for measures that look at nothing else.
    """
    contexts = [contexts_of(run, testset.ids) for run in runs]
    if not any(run.has_answers for run in runs) and not (unasked and any(map(any, contexts))):
        return None
    questions = testset.questions
    answers = [run.answers.get(question.id) for run in runs for question in questions]
    return AnswerTable(
        tuple(run.name for run in runs),
        testset.ids,
        texts=[q.text for q in questions] * len(runs),
        answers=[answer.text if answer is not None else None for answer in answers],
        references=[() if q.id in run.unasked else q.answers for run in runs for q in questions],
        contexts=[found for of_run in contexts for found in of_run],
        answerable=[q.answerable for q in questions] * len(runs),
        models=models or Models(),
    )


def contexts_of(run: Run, questions: Sequence[str]) -> list[tuple[str, ...] | None]:
    """What the answer to each question was made from: what it says it used, else what was retrieved for it."""
    texts = retrieved_texts(run)
    named = _named_texts(run) if any(a.used is not None for a in run.answers.values()) else {}
    used = ((qid, run.answers.get(qid)) for qid in questions)
    found = ((qid, _used(answer, named) if answer is not None else None) for qid, answer in used)
    return [texts.get(qid) if given is None else given for qid, given in found]


def unanswered(run: Run) -> dict[str, str]:
    """Questions whose answer alone failed, with the reason."""
    return {qid: answer.error for qid, answer in run.answers.items() if answer.error is not None}


def unanswered_of(testset: TestSet, runs: Sequence[Run]) -> dict[int, str]:
    """Pairs whose answer alone failed, with the reason."""
    return by_pair(testset, [unanswered(run) for run in runs])


def missing_of(testset: TestSet, run: Run) -> list[str]:
    """Questions that the results of a system that answers give no answer for, not even an empty one or an error."""
    if not run.has_answers:
        return []
    elsewhere = {*run.failed, *run.unasked}
    answered = {qid for qid, a in run.answers.items() if a.text is not None or a.error is not None}
    return [qid for qid in testset.ids if qid not in answered and qid not in elsewhere]


def missing_pairs(testset: TestSet, runs: Sequence[Run]) -> Collection[int]:
    """Pairs whose answer is missing."""
    return by_pair(testset, [dict.fromkeys(missing_of(testset, run), "") for run in runs]).keys()


def unasked_of(testset: TestSet, runs: Sequence[Run]) -> dict[int, str]:
    """Pairs whose answer nobody asked for, with the reason."""
    return by_pair(testset, [run.unasked for run in runs])


def by_pair(testset: TestSet, reasons: Sequence[Mapping[str, str]]) -> dict[int, str]:
    """Reasons of each system by question, as reasons by pair; questions that the test set has not are left aside."""
    index = {qid: q for q, qid in enumerate(testset.ids)}
    return {
        s * len(index) + index[qid]: reason
        for s, found in enumerate(reasons)
        for qid, reason in found.items()
        if qid in index
    }


def _used(answer: Answer, named: Mapping[tuple[str, str], str]) -> tuple[str, ...] | None:
    """The texts that an answer says it used: as given, or those of the hits it names; None where they are not known."""
    if answer.contexts is not None or answer.used is None:
        return answer.contexts
    found = [named.get((answer.question, name)) for name in answer.used]
    return None if any(text is None for text in found) else tuple(text for text in found if text is not None)


def _named_texts(run: Run) -> dict[tuple[str, str], str]:
    """Texts of the hits by question and id."""
    texts = run.fields.get("text") or [None] * len(run)
    return {
        (qid, run.doc_list[i]): text
        for q, qid in enumerate(run.question_ids)
        for i in range(run.offsets[q], run.offsets[q + 1])
        if (text := texts[i]) is not None
    }


def retrieved_texts(run: Run) -> dict[str, tuple[str, ...]]:
    """Texts of the hits of each question, best first: the contexts when the answerer does not say what it used."""
    texts = run.fields.get("text")
    if texts is None:
        return {}
    order = ranking(run).tolist()
    found = {}
    for q, qid in enumerate(run.question_ids):
        held = [texts[i] for i in order[run.offsets[q] : run.offsets[q + 1]]]
        if any(t is not None for t in held):
            found[qid] = tuple(t for t in held if t is not None)
    return found
