"""Review: what a person decides about each question, kept beside the test set until it is applied.

The decisions are in a file of their own, so that the test set stays what it is until all of them are applied at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from karat.core.errors import InputError, UsageError
from karat.core.types import Question, TestSet
from karat.core.writing import write_whole

Verdict = Literal["keep", "drop"]
VERDICTS: tuple[Verdict, ...] = ("keep", "drop")
ENDING = ".review.json"


@dataclass(frozen=True)
class Decision:
    """What was decided about a question. `question` and `answer` are new texts, None where nothing was edited.

    `of` is the digest of the question as it stood: a decision about another text is not taken for one about this.
    """

    verdict: Verdict
    of: str
    question: str | None = None
    answer: str | None = None

    @property
    def is_edit(self) -> bool:
        return self.question is not None or self.answer is not None

    def applied(self, question: Question) -> Question:
        """The question with the edits."""
        answers = question.answers if self.answer is None else (self.answer, *question.answers[1:])
        return replace(question, text=question.text if self.question is None else self.question, answers=answers)

    def plain(self) -> dict[str, Any]:
        named = {"verdict": self.verdict, "of": self.of, "question": self.question, "answer": self.answer}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True)
class Counts:
    """How far a review is. `edited` are among the kept."""

    questions: int
    kept: int
    edited: int
    dropped: int

    @property
    def undecided(self) -> int:
        return self.questions - self.kept - self.dropped


@dataclass
class Review:
    """The review of a test set: decisions by question id, each in its file as soon as it is made.

    `outdated` are ids of decisions about questions that were changed since; they are undecided again.
    """

    testset: TestSet
    path: Path
    decisions: dict[str, Decision] = field(default_factory=dict)
    outdated: tuple[str, ...] = ()

    @classmethod
    def of(cls, testset: TestSet, path: str | os.PathLike[str]) -> Review:
        """The review whose decisions stand in a file; none where there is no such file."""
        file = Path(path)
        if len(set(testset.ids)) < len(testset.ids):
            raise UsageError(f"{testset.name} holds a question id twice. Give every question an id of its own.")
        known, found, outdated = {q.id: q for q in testset}, dict[str, Decision](), []
        for qid, decision in read_decisions(file).items():
            if qid not in known:
                continue
            now = mark_of(known[qid])
            if decision.of == now:
                found[qid] = decision
            elif decision.is_edit and decision.applied(known[qid]) == known[qid]:  # the edit is in the test set by now
                found[qid] = Decision(decision.verdict, now)
            else:
                outdated.append(qid)
        return cls(testset, file, found, tuple(outdated))

    def shown(self, question: Question) -> Question:
        """The question as it would be if the review were applied."""
        decision = self.decisions.get(question.id)
        return question if decision is None else decision.applied(question)

    def decide(self, question: Question, verdict: Verdict) -> None:
        """Keep or drop a question; edits of it stay."""
        before = self.decisions.get(question.id)
        if before is None:
            self._put(question.id, Decision(verdict, mark_of(question)))
        else:
            self._put(question.id, replace(before, verdict=verdict))

    def edit(self, question: Question, *, text: str | None = None, answer: str | None = None) -> None:
        """Keep a question with another text or another first answer; what is as it stood is no edit."""
        before = self.decisions.get(question.id) or Decision("keep", mark_of(question))
        edits: dict[str, str | None] = {}
        if text is not None:
            if not (line := " ".join(text.split())):
                raise UsageError("a question cannot be empty. Drop it instead.")
            edits["question"] = None if line == question.text else line
        if answer is not None:
            if not question.answerable:
                raise UsageError("the question is unanswerable by its own account: it has no reference answer.")
            if not (line := " ".join(answer.split())):
                raise UsageError("an answer cannot be empty. Drop the question instead.")
            edits["answer"] = None if question.answers[:1] == (line,) else line
        self._put(question.id, replace(before, verdict="keep", **edits))  # type: ignore[arg-type]

    def forget(self, question: Question) -> None:
        """Leave a question undecided again."""
        self._put(question.id, None)

    def undecided_after(self, number: int) -> int | None:
        """The number of the next undecided question after one, beginning again at the first; None: all are decided."""
        ids = self.testset.ids
        order = (*range(number + 1, len(ids)), *range(min(number + 1, len(ids))))
        return next((n for n in order if ids[n] not in self.decisions), None)

    @property
    def counts(self) -> Counts:
        kept = [d for d in self.decisions.values() if d.verdict == "keep"]
        edited = sum(decision.is_edit for decision in kept)
        return Counts(len(self.testset), len(kept), edited, len(self.decisions) - len(kept))

    def reviewed(self) -> TestSet:
        """The test set with every decision applied: without what was dropped, with what was edited.

        Questions that are undecided stay as they are.
        """
        dropped = {qid for qid, decision in self.decisions.items() if decision.verdict == "drop"}
        kept = [self.shown(question) for question in self.testset if question.id not in dropped]
        if not kept:
            raise UsageError("every question is dropped: nothing would be left of the test set.")
        return TestSet(kept, name=self.testset.name)

    def settled(self, testset: TestSet) -> Review:
        """The review of the test set that this one made: what was kept stays decided. It is written to its file."""
        kept = {q.id: Decision("keep", mark_of(q)) for q in testset if q.id in self.decisions}
        write_decisions(self.path, kept)
        return Review(testset, self.path, kept)

    def _put(self, qid: str, decision: Decision | None) -> None:
        """Decide, and write; what another process decided meanwhile about other questions stays."""
        on_disk = read_decisions(self.path)
        for decisions in (self.decisions, on_disk):
            if decision is None:
                decisions.pop(qid, None)
            else:
                decisions[qid] = decision
        write_decisions(self.path, on_disk)


def mark_of(question: Question) -> str:
    """A short digest of all that a question is."""
    return TestSet([question]).digest[:16]


def review_path(testset: str | os.PathLike[str]) -> Path:
    """The file that keeps the decisions about a test set."""
    path = Path(testset)
    return path.with_name(path.name + ENDING)


def read_decisions(path: Path) -> dict[str, Decision]:
    """Decisions by question id; none where there is no file."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return {str(qid): _decision(one) for qid, one in values["decisions"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise InputError(
            f"the decisions of the review cannot be read: {type(problem).__name__}: {problem}",
            place=str(path),
            remedy="Restore the file, or delete it to begin again.",
        ) from None


def _decision(values: Mapping[str, Any]) -> Decision:
    verdict, of = values["verdict"], values["of"]
    if verdict not in VERDICTS or not isinstance(of, str):
        raise ValueError(f"{verdict!r} is no decision")
    edits = {name: values[name] for name in ("question", "answer") if values.get(name) is not None}
    if not all(isinstance(text, str) for text in edits.values()):
        raise TypeError("an edited text is no text")
    return Decision(verdict, of, **edits)


def write_decisions(path: Path, decisions: Mapping[str, Decision]) -> None:
    """Write all decisions, whole or not at all."""
    plain = {"decisions": {qid: decision.plain() for qid, decision in decisions.items()}}
    write_whole(path, json.dumps(plain, ensure_ascii=True, indent=1) + "\n")
