"""Queue: what of a run is worth labelling first, and why.

Answers on which a judge that was asked again disagrees with itself, hits without gold that several systems rank high,
and questions that the check of the test set suspects, in turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.text.words import figure, plural
from karat.report.explored_answers import plain, wording

if TYPE_CHECKING:
    from karat.core.types import Question
    from karat.results.study import Study

MOST_QUESTIONS = 2_000  # that are looked through
HIGH, SYSTEMS = 5, 2  # ranks that are high, and how many systems have a hit there
OF_ONE = 2  # hits of a question
MOST_TEXT = 4_000
TURNS = 6  # earlier turns of a conversation that are shown


def queue_of(study: Study) -> list[dict[str, Any]]:
    """All that is worth labelling, the first thing first."""
    groups = [list(_disputed(study)), list(_unjudged(study)), list(_suspects(study))]
    return [item for item in chain.from_iterable(zip_longest(*groups)) if item is not None]


def _item(question: Question, why: str, **more: Any) -> dict[str, Any]:
    return {
        "question": question.id, "text": plain(question.text)[:MOST_TEXT], "why": why,
        "answers": [plain(answer)[:MOST_TEXT] for answer in question.answers], "system": None, "hit": None,
        "answer": None, "earlier": max(0, len(question.history) - TURNS),
        "history": [{"question": wording(t.question), "answer": wording(t.answer)} for t in question.history[-TURNS:]],
        **more,
    }  # fmt: skip


def _disputed(study: Study) -> Iterator[dict[str, Any]]:
    """Answers to which a judge gives other values when it is asked again, the widest apart first."""
    scores, testset = study.evaluation.scores, study.evaluation.testset
    widest: dict[tuple[int, int], tuple[float, str]] = {}
    for (s, q, m), detail in scores.details.items():
        repeats = [value for value in detail.get("repeats") or () if isinstance(value, int | float)]
        if repeats and (gap := max(repeats) - min(repeats)) > widest.get((s, q), (0.0, ""))[0]:
            ends = f"{figure(min(repeats), '', 2)} to {figure(max(repeats), '', 2)}"
            widest[s, q] = gap, f"the judge of {scores.measures[m].name} disagrees with itself: {ends}"
    for (s, q), (_, why) in sorted(widest.items(), key=lambda entry: -entry[1][0]):
        system, question = scores.systems[s], testset[q]
        answer = study.answers.get(system, {}).get(question.id)
        if answer is not None and answer.text:
            yield _item(question, why, kind="answer", system=system, answer=plain(answer.text)[:MOST_TEXT])


def _unjudged(study: Study) -> Iterator[dict[str, Any]]:
    """Hits that several systems rank high and that hold no gold, those of the most systems first."""
    if not study.hits:
        return
    entries: list[tuple[tuple[float, ...], dict[str, Any]]] = []
    for number, question in enumerate(study.evaluation.testset.questions[:MOST_QUESTIONS]):
        gold = {name for entry in question.gold for name in (entry.id, entry.chunk, entry.label)}
        ranks: dict[tuple[str, str], list[tuple[int, str, Any]]] = {}
        for system, hits in study.hits.items():
            for hit in hits.get(question.id, ()):
                if hit.rank <= HIGH and not hit.holds and hit.chunk.id not in gold:
                    ranks.setdefault((hit.chunk.id, hit.chunk.text), []).append((hit.rank, system, hit.chunk))
        several = [own for own in ranks.values() if len({system for _, system, _ in own}) >= SYSTEMS]
        several.sort(key=lambda own: (-len(own), float(np.mean([rank for rank, _, _ in own]))))
        for own in several[:OF_ONE]:
            best, system, chunk = min(own, key=lambda one: one[0])
            why = f"{plural(len(own), 'system')} rank it among the first {HIGH} (best #{best}), and it holds no gold"
            entry = {"id": chunk.id, "doc": chunk.doc, "page": ", ".join(map(str, chunk.pages)) or None,
                   "text": plain(chunk.text)[:MOST_TEXT]}  # fmt: skip
            order = (-len(own), float(np.mean([rank for rank, _, _ in own])), number)
            entries.append((order, _item(question, why, kind="hit", system=system, hit=entry)))
    entries.sort(key=lambda entry: entry[0])
    yield from (item for _, item in entries)


def _suspects(study: Study) -> Iterator[dict[str, Any]]:
    """Questions with which the check of the test set finds a fault, each once."""
    from karat.experiment.check import check

    testset = study.evaluation.testset
    if len(testset) > MOST_QUESTIONS or testset.is_plain:
        return
    reasons: dict[str, list[tuple[str, str]]] = {}
    for finding in check(testset).findings:
        for id_ in finding.questions if finding.severity != "info" else ():
            reasons.setdefault(id_, []).append((finding.check, finding.title))
    for id_, own in reasons.items():
        if id_ in testset:
            why = f"the check of the test set suspects it: {named(own)}"
            yield _item(testset[id_], why, kind="question", reasons=list(dict.fromkeys(name for name, _ in own)))


def named(reasons: Sequence[tuple[str, str]]) -> str:
    """Checks as words."""
    return ", ".join(dict.fromkeys(name.replace("_", " ") for name, _ in reasons))
