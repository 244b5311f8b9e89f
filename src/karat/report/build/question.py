"""One question of a run: its gold, how each system did, and the hits of those asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.core.scores import Status
from karat.core.text.words import clean, excerpt, number, plural
from karat.core.types import Question
from karat.report.answers import Answers, Judgement
from karat.report.build.explanation import place_of
from karat.report.build.steps import steps_blocks
from karat.report.document import Block, Cell, Column, Detail, Document, Heading, Listing, ListItem, Table, Text, facts
from karat.report.labels import LABELS
from karat.report.lookups import StudyView
from karat.results.evaluation import StepRecord
from karat.results.study import Failure, Study, StudyAnswer, StudyHit

_TEXT, _NAME = 160, 80  # characters shown of a hit's text and of a name
_ROWS = 6  # systems in brief
_CLAIMS = 5  # of a judgement in brief
_TURNS = 10  # of the history that are shown, the last


class QuestionView:
    """Lookups over what a run found for one question."""

    def __init__(self, study: Study, question: str, view: StudyView | None = None) -> None:
        self.study = study
        self.view = view or StudyView(study)
        testset = study.evaluation.testset
        if question not in testset.ids:
            named = ", ".join(testset.ids[:5])
            raise UsageError(
                f"this run has no question {question!r}.{did_you_mean(question, testset.ids)} It has "
                f"{plural(len(testset), 'question')}: {named}{' ...' if len(testset) > 5 else ''}"
            )
        self.number = testset.ids.index(question)
        self.question: Question = testset[self.number]
        self.systems = self.view.ranking

    def named(self, systems: Sequence[str]) -> list[str]:
        """Systems that were asked for, all known."""
        for name in systems:
            if name not in self.systems:
                near = did_you_mean(name, self.systems)
                raise UsageError(f"this run has no system {name!r}.{near} It has {', '.join(self.systems)}.")
        return list(systems)

    def scores(self, system: str) -> dict[str, float | None]:
        """Every measure of a system, None where it is undefined or failed."""
        scores = self.study.evaluation.scores
        row = scores.systems.index(system)
        return {measure.name: scores.value(row, self.number, m) for m, measure in enumerate(scores.measures)}

    def hits(self, system: str) -> Sequence[StudyHit]:
        return self.study.hits.get(system, {}).get(self.question.id, ())

    def steps(self, system: str) -> Sequence[StepRecord] | None:
        return self.study.evaluation.steps.get(system, {}).get(self.question.id)

    def knows_gold(self, system: str) -> bool:
        """Whether any stored hit of a system is known to hold gold."""
        return self.view.knows_gold(system)

    def first_gold(self, system: str) -> int | None:
        """The rank of the first hit that holds gold, of those that are stored; by MRR where none of them does."""
        if self.knows_gold(system) and (rank := next((hit.rank for hit in self.hits(system) if hit.holds), None)):
            return rank
        reciprocal = self.scores(system).get("MRR")
        return round(1 / reciprocal) if reciprocal else None

    def reason(self, system: str) -> str:
        """Why there is no score, where a row failed."""
        scores = self.study.evaluation.scores
        row = scores.systems.index(system)
        failed = np.flatnonzero(scores.status[row, self.number] == Status.failed)
        return (scores.reason(row, self.number, int(failed[0])) or "") if len(failed) else ""

    def failure(self, system: str) -> Failure | None:
        return self.view.failure_of.get((system, self.question.id))

    def answer(self, system: str) -> StudyAnswer | None:
        return self.study.answers.get(system, {}).get(self.question.id)

    def judgements(self, system: str) -> list[Judgement]:
        """What judges said of the answer of a system."""
        return self._answers.judgements(system, self.number)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.study.evaluation, self.study.answers)


def question_document(study: Study, *, question: str, systems: Sequence[str] = ()) -> Document:
    """What a run found for a question: a row for each system, and the hits of `systems`, or of the best."""
    return viewed_question(QuestionView(study, question), systems)


def viewed_question(view: QuestionView, systems: Sequence[str] = ()) -> Document:
    """The same where it was looked up before."""
    with_hits = [system for system in view.systems if view.hits(system) or view.steps(system)]
    first = view.named(systems) or with_hits[:1] or view.systems[:1]
    blocks: list[Block] = [facts(_asked(view), detail=Detail.QUIET), _systems(view)]
    for system in first:
        blocks += _found(view, system, Detail.QUIET)
    for system in with_hits:
        if system not in first:
            blocks += _found(view, system, Detail.FULL)
    others = [system for system in with_hits if system not in first]
    if others and not systems:
        blocks.append(Text(f"The hits of {', '.join(others)}: --system NAME, or -v for all."))
    return Document(f"Question {view.question.id}", blocks)


def _asked(view: QuestionView) -> Iterator[tuple[str, str]]:
    asked = view.question
    if asked.conversation is not None or asked.turn is not None:
        place = f"turn {asked.turn}" if asked.turn is not None else ""
        yield "conversation", ", ".join(part for part in (clean(asked.conversation or "", _NAME), place) if part)
    left_out = len(asked.history) - _TURNS
    if left_out > 0:
        yield "earlier", f"{plural(left_out, 'turn')} more before these"
    for turn in asked.history[-_TURNS:]:
        yield "asked", clean(turn.question, 2 * _TEXT) or "(nothing)"
        yield from (("answered", clean(text, 2 * _TEXT)) for text in [turn.answer] if text)
    yield "question", f"{asked.text}{f' ({asked.kind})' if asked.kind else ''}"
    yield from (("answer", answer) for answer in asked.answers[:1])
    for gold in asked.gold:
        yield "gold", f"{clean(gold.label, 2 * _TEXT)}{f' (grade {gold.grade})' if gold.grade != 1 else ''}"
    if not asked.gold:
        yield "gold", "none" + ("" if asked.answerable else ": the question is marked unanswerable")


def _systems(view: QuestionView) -> Table:
    """How each system did, the best of the run first."""
    measures = view.view.key_measures[:3]
    columns = [Column("system"), *(Column(m.name, "score") for m in measures)]
    columns += [Column("first gold", "count"), Column("why it fails")]
    rows: list[list[Cell]] = []
    for system in view.systems:
        scores, failure = view.scores(system), view.failure(system)
        rank: Cell = (view.first_gold(system) or (failure.rank if failure else None)) if view.hits(system) else ""
        why = view.reason(system) if failure is None else f"{LABELS[failure.label].title}: {failure.detail}"
        rows.append([system, *(scores[m.name] for m in measures), rank, why])
    return Table("", columns, rows, most=_ROWS, detail=Detail.QUIET)


def _found(view: QuestionView, system: str, detail: Detail) -> list[Block]:
    """The hits and the answer of a system."""
    hits = view.hits(system)
    if hits:
        shown = hits[: max(view.study.k, view.first_gold(system) or 0)]
        marked = view.knows_gold(system)
        blocks: list[Block] = [Heading(f"{system}: first {plural(len(shown), 'hit')}", detail=detail)]
        blocks.append(Listing([_hit(hit, marked=marked) for hit in shown], detail=detail))
    else:
        none = system in view.study.hits
        blocks = [Text(f"{system} returned no hits." if none else f"No hits of {system} are stored.", detail=detail)]
    steps = view.steps(system)
    if steps is not None:
        blocks += steps_blocks(system, steps, detail)
    answer = view.answer(system)
    if answer is not None:
        blocks.append(facts([("answer", answer.text or f"none: {answer.error or 'it said nothing'}")], detail=detail))
        if judgements := view.judgements(system):
            blocks.append(Listing([_judgement(one) for one in judgements], detail=detail))
    return blocks


def _judgement(judgement: Judgement) -> ListItem:
    """What a judge gave and why, and its verdict on each claim with the passages that decide."""
    value = "no value" if judgement.value is None else number(judgement.value)
    return ListItem(
        judgement.measure,
        f"{value}  {clean(judgement.reason, 2 * _TEXT)}".rstrip(),
        tuple(_claim(claim) for claim in judgement.claims[:_CLAIMS]),
        more=tuple(_claim(claim) for claim in judgement.claims),
    )


def _claim(claim: Mapping[str, Any]) -> str:
    passages = ", ".join(str(passage) for passage in claim.get("contexts") or ())
    by = f" by context {passages}" if passages else ""
    reason = f" ({clean(str(claim['reason']), _TEXT)})" if claim.get("reason") else ""
    verdict = clean(str(claim.get("verdict")), _NAME)
    return f'{verdict}{by}: "{excerpt(str(claim.get("claim")), _TEXT)}"{reason}'


def _hit(hit: StudyHit, *, marked: bool) -> ListItem:
    """A hit, `marked` with ✓ where it holds gold, with its rank and score by each engine before fusion."""
    score = "" if hit.score is None else f"  {hit.score:.4f}"
    name = f"{clean(hit.chunk.id, _NAME)}{score}  {place_of(hit.chunk)}".rstrip()
    engines = ", ".join(f"{leg} rank {rank} ({number(value)})" for leg, (rank, value) in hit.legs.items())
    under = [f"holds {clean(unit, _TEXT)}" for unit in hit.holds]
    under += [f"engines: {engines}"] if len(hit.legs) > 1 else []
    mark = "" if not marked else "✓ " if hit.holds else "✗ "
    return ListItem(f"{mark}{hit.rank}.", name, (*under, excerpt(hit.chunk.text, _TEXT)))
