"""Answers of runs beside the references of a test set, and the pairs that have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.answered import AnswerTable
from karat.core.lazy import LazySequence
from karat.core.models import Models
from karat.core.ranked import ranking
from karat.core.steps import read_by_answers
from karat.core.text import drop_blocks
from karat.match import Matched, judge
from karat.measures.compute import Unscored

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import Answer, TestSet


def answered_of(
    testset: TestSet,
    runs: Sequence[Run],
    models: Models | None = None,
    *,
    unasked: bool = False,
    context_gold: Mapping[str, Sequence[bool | None]] | None = None,
) -> AnswerTable | None:
    """Answers of all systems beside the references; None when no system gave any.

    `unasked`: contexts alone will do, for measures that look at nothing else. `context_gold` is as that of an
    evaluation.
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
        contexts=[texts for of_run in contexts for texts in of_run],
        context_ids=ContextIds(runs, testset.ids),
        nuggets=[q.nuggets for q in questions] * len(runs),
        history=[q.history for q in questions] * len(runs) if any(q.history for q in questions) else (),
        answerable=[q.answerable for q in questions] * len(runs),
        confidence=[answer.confidence if answer is not None else None for answer in answers],
        context_gold=[held for run in runs for held in (context_gold or {}).get(run.name, [None] * len(questions))],
        models=models or Models(),
    )


def contexts_of(run: Run, questions: Sequence[str]) -> list[tuple[str, ...] | None]:
    """What the answer to each question was made from: what it says it used, else what was retrieved for it."""
    read = read_by_answers(run)
    texts = retrieved_texts(read)
    named = _named_texts(run, read) if any(a.used is not None for a in run.answers.values()) else {}
    used = {qid: _used(run.answers[qid], named) for qid in questions if qid in run.answers}
    return [texts.get(qid) if used.get(qid) is None else used[qid] for qid in questions]


def keep_contexts(run: Run, whole: Run) -> Run:
    """A run that lost some of the hits of the whole one, its answers with the contexts that they had from all hits."""
    size_of = dict(zip(run.question_ids, np.diff(run.offsets).tolist(), strict=True))
    sizes = zip(whole.question_ids, np.diff(whole.offsets).tolist(), strict=True)
    lost = [qid for qid, size in sizes if size_of.get(qid, 0) < size and qid in run.answers]
    ids, left = ContextIds([whole], lost), ContextIds([run], lost)
    answers = dict(run.answers)
    for place, (qid, texts) in enumerate(zip(lost, contexts_of(whole, lost), strict=True)):
        answer = answers[qid]
        if texts is not None and answer.contexts is None and answer.used is None:
            answers[qid] = replace(answer, contexts=texts, used=ids[place] or None, given=left[place] or None)
    return replace(run, answers=answers)


class ContextGold(Mapping[str, Sequence[bool | None]]):
    """Of each system that answers, whether the contexts of each answer hold all relevant gold; None: not known.

    Contexts are matched as the hits that they are: those the answerer was given by id, or whose texts are those of
    hits, or all hits where nothing is said. Contexts that are no hits of their question are not known. It is worked out
    when it is asked for.
    """

    def __init__(self, testset: TestSet, runs: Sequence[Run], matched: Matched, rel: int = 1) -> None:
        self._testset, self._matched, self._rel = testset, matched, rel
        answering = {run.name: (s, run) for s, run in enumerate(runs) if run.has_answers and run.has_rankings}
        self._runs = answering if testset.has_gold else {}

    def __getitem__(self, system: str) -> list[bool | None]:
        return self._held[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    @cached_property
    def _held(self) -> dict[str, list[bool | None]]:
        matched, ids = self._matched, self._testset.ids
        given = [_context_run(run) for _, run in self._runs.values()]
        judged = judge(self._testset, given, matched.join, replace(matched.settings, tokens=False)).at(rel=self._rel)
        holds = (judged.found_within() >= judged.relevant).reshape(len(given), -1).tolist()
        held: dict[str, list[bool | None]] = {}
        for (place, _), run, of_run in zip(self._runs.values(), given, holds, strict=True):
            first, known = place * len(ids), run.listed
            held[run.name] = [
                of_run[q] if judged.relevant[q] and qid in known and first + q not in matched.unmatchable else None
                for q, qid in enumerate(ids)
            ]
        return held


def _context_run(run: Run) -> Run:
    """The hits that the answers of a run were given, of the questions of which that is known."""
    run = read_by_answers(run)
    texts = run.fields.get("text")
    places: list[int] = []
    offsets, questions = [0], []
    for q, qid in enumerate(run.question_ids):
        hits = range(int(run.offsets[q]), int(run.offsets[q + 1]))
        answer = run.answers.get(qid)
        if qid in run.failed or answer is None or answer.error is not None:
            continue
        named = answer.given if answer.given is not None else answer.used
        if named is not None:
            chosen = _places(named, hits, run.doc_list)
        elif answer.contexts is not None:
            chosen = _places(answer.contexts, hits, texts) if texts is not None else None
        else:
            chosen = list(hits)
        if chosen is not None:
            places += chosen
            questions.append(qid)
            offsets.append(len(places))
    return replace(
        run,
        question_ids=questions,
        offsets=np.array(offsets, np.int64),
        _docs=[run.doc_list[i] for i in places],
        _scores=None,
        order="given",
        fields={name: [column[i] for i in places] for name, column in run.fields.items()},
        unique=False,
        by_question=None,
    )


def _places(named: Sequence[str], hits: Sequence[int], column: Sequence[str | None]) -> list[int] | None:
    """Where these ids or texts stand among the hits of a question; None where one does not."""
    place_of = {column[i]: i for i in reversed(hits)}
    return [place_of[name] for name in named] if all(name in place_of for name in named) else None


class ContextIds(LazySequence[tuple[str, ...]]):
    """The ids of the contexts of each pair, in their order, () where they are not known; found when they are asked for.

    Only measures of citations ask for them.
    """

    def __init__(self, runs: Sequence[Run], questions: Sequence[str]) -> None:
        self._runs, self._questions = runs, questions

    def _at(self, number: int) -> tuple[str, ...]:
        return self._ids[number]

    def __len__(self) -> int:
        return len(self._runs) * len(self._questions)

    @cached_property
    def _ids(self) -> list[tuple[str, ...]]:
        return [ids for run in self._runs for ids in self._of_run(run)]

    def _of_run(self, run: Run) -> Iterator[tuple[str, ...]]:
        read = read_by_answers(run)
        retrieved = {qid: tuple(id_ for id_, _ in hits) for qid, hits in _retrieved(read).items()}
        named = _named_texts(run, read) if any(a.used is not None for a in run.answers.values()) else {}
        for qid in self._questions:
            answer = run.answers.get(qid)
            texts = None if answer is None else _used(answer, named)
            used = (answer.used if answer is not None else None) or ()
            yield retrieved.get(qid, ()) if texts is None else used if len(used) == len(texts) else ()


def unanswered(run: Run) -> dict[str, str]:
    """Questions whose answer alone failed, with the reason."""
    return {qid: answer.error for qid, answer in run.answers.items() if answer.error is not None}


def missing_of(testset: TestSet, run: Run) -> list[str]:
    """Questions that the results of a system that answers give no answer for, not even an empty one or an error."""
    if not run.has_answers:
        return []
    elsewhere = {*run.failed, *run.unasked}
    answered = {qid for qid, a in run.answers.items() if a.text is not None or a.error is not None}
    return [qid for qid in testset.ids if qid not in answered and qid not in elsewhere]


def answers_given(testset: TestSet, run: Run) -> list[tuple[str, bool]]:
    """What a system said to each question that has an answer, without code and thoughts, and whether it has one."""
    lost = {*run.failed, *run.unasked, *unanswered(run), *missing_of(testset, run)}
    return [
        (drop_blocks(run.answers[q.id].text or "").strip(), q.answerable) for q in testset.questions if q.id not in lost
    ]


def unscored_pairs(testset: TestSet, runs: Sequence[Run]) -> Unscored:
    """Pairs of system and question without a result or an answer, with the reasons."""
    return Unscored(
        failed=_by_pair(testset, [run.failed for run in runs]),
        unanswered=_by_pair(testset, [unanswered(run) for run in runs]),
        unasked=_by_pair(testset, [run.unasked for run in runs]),
        missing=_by_pair(testset, [dict.fromkeys(missing_of(testset, run), "") for run in runs]),
    )


def _by_pair(testset: TestSet, reasons: Sequence[Mapping[str, str]]) -> dict[int, str]:
    """Reasons of each system by question, as reasons by pair; questions that the test set has not are left aside."""
    number_of = {qid: q for q, qid in enumerate(testset.ids)} if any(reasons) else {}
    return {
        s * len(number_of) + number_of[qid]: reason
        for s, of_run in enumerate(reasons)
        for qid, reason in of_run.items()
        if qid in number_of
    }


def _used(answer: Answer, named: Mapping[tuple[str, str], str]) -> tuple[str, ...] | None:
    """The texts that an answer says it used: as given, or those of the hits it names; None where they are not known."""
    if answer.contexts is not None or answer.used is None:
        return answer.contexts
    texts = [named.get((answer.question, name)) for name in answer.used]
    return None if None in texts else tuple(text for text in texts if text is not None)


def _named_texts(*runs: Run) -> dict[tuple[str, str], str]:
    """Texts of the hits of runs of one system by question and id."""
    named: dict[tuple[str, str], str] = {}
    for run in dict.fromkeys(runs):
        texts = run.fields.get("text") or [None] * len(run)
        for q, qid in enumerate(run.question_ids):
            for i in range(run.offsets[q], run.offsets[q + 1]):
                if (text := texts[i]) is not None:
                    named[qid, run.doc_list[i]] = text
    return named


def retrieved_texts(run: Run) -> dict[str, tuple[str, ...]]:
    """Texts of the hits of each question, best first: the contexts when the answerer does not say what it used."""
    return {qid: tuple(text for _, text in hits) for qid, hits in _retrieved(run).items()}


def _retrieved(run: Run) -> dict[str, list[tuple[str, str]]]:
    """Id and text of each hit of a question that has a text, best first; only questions that have such hits."""
    texts = run.fields.get("text")
    if texts is None:
        return {}
    order, ids = ranking(run).tolist(), run.doc_list
    by_question = {
        qid: [(ids[i], texts[i]) for i in order[run.offsets[q] : run.offsets[q + 1]] if texts[i] is not None]
        for q, qid in enumerate(run.question_ids)
    }
    return {qid: known for qid, known in by_question.items() if known}
