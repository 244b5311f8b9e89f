"""The runner of all judges: which pairs need judging, every distinct prompt once, and what replies make of a score.

A judge is a `Judge`: what settles a pair without asking, which items of it are judged one by one, how a model is asked
about them, what stands in for it where there is no model, and how the scores of the items become one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from karat.core.errors import UsageError
from karat.core.scores import Outcome
from karat.core.text import drop_blocks, tokenise
from karat.measures.judge._prompts import CONTEXT_CHARS, QUESTION_CHARS, TEXT_CHARS, within

if TYPE_CHECKING:
    from pydantic import BaseModel

    from karat.core.answered import Answered
    from karat.core.means import Chats, Prompt, Said
    from karat.models.structured import Structured

    T = TypeVar("T", bound=BaseModel)
else:
    T = TypeVar("T")

By = Literal["model", "heuristic"]
NO_REFERENCE = "no reference answer"
BLANK_REFERENCE = "the reference answer is empty after normalisation (unicode)"
NO_QUESTION = "the question has no text"


@dataclass(frozen=True)
class Case:
    """A pair of system and question as judges see it."""

    _: KW_ONLY
    question: str
    answer: str  # without thoughts
    references: tuple[str, ...]  # distinct, each with words
    has_references: bool  # with words or not
    contexts: tuple[str, ...] | None
    answerable: bool

    @classmethod
    def of(cls, answered: Answered, pair: int) -> Case:
        references, contexts = answered.references[pair], answered.contexts[pair]
        return cls(
            question=answered.texts[pair],
            answer=drop_blocks(answered.answers[pair] or "").strip(),
            references=tuple(text for text in dict.fromkeys(references) if tokenise(text)),
            has_references=bool(references),
            contexts=None if contexts is None else tuple(contexts),
            answerable=answered.answerable[pair],
        )


Cut = Callable[[Case], tuple[Case, list[str]]]
"""Shortens what a model is shown of a case, and says what was left out."""


def cut_question(case: Case) -> tuple[Case, list[str]]:
    (question,), notes = within([case.question], QUESTION_CHARS, "question")
    return replace(case, question=question), notes


def cut_answer(case: Case) -> tuple[Case, list[str]]:
    (answer,), notes = within([case.answer], TEXT_CHARS, "answer")
    return replace(case, answer=answer), notes


def cut_references(case: Case) -> tuple[Case, list[str]]:
    """Each reference by itself: a model sees one at a time."""
    parts = [within([text], TEXT_CHARS, "reference") for text in case.references]
    return replace(case, references=tuple(text for (text,), _ in parts)), [note for _, notes in parts for note in notes]


def cut_contexts(case: Case) -> tuple[Case, list[str]]:
    """All contexts together."""
    contexts, notes = within(case.contexts or (), CONTEXT_CHARS, "context")
    return replace(case, contexts=tuple(contexts)), notes


def cut_each_context(case: Case) -> tuple[Case, list[str]]:
    """Each context by itself: a model sees one at a time."""
    parts = [within([text], TEXT_CHARS, f"context {i}") for i, text in enumerate(case.contexts or (), 1)]
    return replace(case, contexts=tuple(text for (text,), _ in parts)), [note for _, notes in parts for note in notes]


@dataclass(frozen=True)
class Round:
    """One time of asking for one score: a value, or why there is none.

    `undefined` is why the score is undefined, `error` why it failed. `shown` is what stands behind the value.
    """

    value: float | None = None
    error: str | None = None
    undefined: str | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    replies: tuple[Structured[Any], ...] = ()


def only(rounds: Sequence[Round]) -> Round:
    """The round of a case with one item."""
    (one,) = rounds
    return one


def best(rounds: Sequence[Round]) -> Round:
    """Of one round for each reference, the best; a reference that could not be judged fails them all."""
    replies = tuple(reply for one in rounds for reply in one.replies)
    failed = [one for one in rounds if one.error is not None]
    valued = [one for one in rounds if one.value is not None]
    top = max(valued, key=lambda one: one.value or 0.0) if valued else rounds[0]
    return replace(failed[0] if failed else top, replies=replies)


def graded(reply: Structured[Any], worth: Callable[[Any], float]) -> Round:
    """A round of one reply with a reason and a grade."""
    if reply.value is None:
        return Round(error=reply.error, replies=(reply,))
    shown = {"grade": reply.value.grade, "reason": reply.value.reason}
    return Round(worth(reply.value.grade), shown=shown, replies=(reply,))


class Asking:
    """The model of one judge: how often it is asked, and where progress goes."""

    def __init__(self, answered: Answered, measure: str) -> None:
        means = answered.means
        if means.chat is None:
            raise UsageError(
                f"{measure} asks a chat model, and none is given. Name one with --model (and --base-url for a server "
                f"of your own), or write {measure}(by=heuristic) for an estimate without a model."
            )
        self.chat: Chats = means.chat
        self.measure, self.samples, self._progress = measure, range(max(1, means.repeat)), means.progress

    def purpose(self, step: str = "") -> str:
        """What a call is for, on the bill."""
        return f"judge {self.measure}" + (f": {step}" if step else "")

    def ask(
        self,
        prompts: Sequence[Prompt],
        schema: type[T],
        checks: Sequence[Callable[[T], str | None]] | None = None,
        step: str = "",
    ) -> list[Structured[T]]:
        """What the model replies to each prompt; the same prompt is asked once."""
        from karat.models.structured import ask_structured

        first: dict[Prompt, int] = {}  # where each distinct prompt first stands
        for i, prompt in enumerate(prompts):
            first.setdefault(prompt, i)
        distinct = list(first)
        done: set[int] = set()

        def notify(number: int, _: Said) -> None:
            done.add(number)
            if self._progress is not None:
                self._progress(f"judging {self.measure}" + (f" ({step})" if step else ""), len(done), len(distinct))

        def check(number: int, value: T) -> str | None:
            return None if checks is None else checks[first[distinct[number]]](value)

        replies = ask_structured(self.chat, distinct, schema, notify, check=check) if distinct else []
        by_prompt = dict(zip(distinct, replies, strict=True))
        return [by_prompt[prompt] for prompt in prompts]


Asked = Sequence[tuple[Case, str, int]]
"""What a model is asked: a case, an item of it, and the number of the time."""


@dataclass(frozen=True)
class Judge:
    """What makes a judge; see the head of this file."""

    _: KW_ONLY
    name: str
    prompt: str  # which, with its version
    settle: Callable[[Case, By], str | tuple[float, str] | None]
    """Why a case is undefined, or its value with the reason; None where it is to be judged."""
    items: Callable[[Case], Sequence[str]]
    cuts: tuple[Cut, ...]
    ask: Callable[[Asking, Asked], Sequence[Any]]
    """What the model says of each item."""
    weigh: Callable[[Any], Round]
    """What that is worth."""
    heuristic: Callable[[Case, str], Round]
    combine: Callable[[Sequence[Round]], Round] = only
    blank: Round | None = None  # of an item without text, which is not asked about

    def run(self, answered: Answered, by: By) -> Outcome:
        """The score of each pair: the mean of the rounds that gave a value; where all failed it has failed."""
        values = np.full(len(answered), np.nan)
        undefined: dict[int, str] = {}
        failed: dict[int, str] = {}
        details: dict[int, dict[str, Any]] = {}
        cases: dict[int, Case] = {}
        for pair in range(len(answered)):
            case = Case.of(answered, pair)
            settled = self.settle(case, by)
            if settled is None:
                cases[pair] = case
            elif isinstance(settled, str):
                undefined[pair] = settled
            else:
                values[pair] = settled[0]
                details[pair] = {"by": by, "reason": settled[1]}
        for pair, (rounds, more) in (
            self._estimate(cases) if by == "heuristic" else self._judge(answered, cases)
        ).items():
            found = [one.value for one in rounds if one.value is not None]
            reasons = [one.undefined for one in rounds if one.undefined]
            if found:
                values[pair] = float(np.mean(found))
            elif reasons:
                undefined[pair] = reasons[0]
            else:
                failed[pair] = rounds[0].error or "the judge gave no value"
            shown = next((one for one in rounds if one.value is not None), rounds[0])
            details[pair] = {"by": by, **shown.shown, **more}
        return Outcome(values, undefined, failed, details)

    def _estimate(self, cases: Mapping[int, Case]) -> dict[int, tuple[list[Round], dict[str, Any]]]:
        """What stands in for a model."""
        return {
            pair: ([self.combine([self.heuristic(case, item) for item in self.items(case)])], {})
            for pair, case in cases.items()
        }

    def _judge(self, answered: Answered, cases: Mapping[int, Case]) -> dict[int, tuple[list[Round], dict[str, Any]]]:
        """What the model says, with the details of its replies."""
        asking, n = Asking(answered, self.name), len(answered.questions)
        shown: dict[int, Case] = {}
        cut: dict[int, list[str]] = {}
        # one question after the other for all systems: a budget that ends has paid for pairs
        for pair in sorted(cases, key=lambda pair: (pair % n, pair)):
            shown[pair], cut[pair] = cases[pair], []
            for shorten in (cut_question, *self.cuts):
                shown[pair], notes = shorten(shown[pair])
                cut[pair] += notes
        asked = [
            (case, item, sample)
            for case in shown.values()
            for sample in asking.samples
            for item in self.items(case)
            if item.strip() or self.blank is None
        ]
        replies = iter(answered.once(("judge", self.name), lambda: self.ask(asking, asked)))
        rounds: dict[int, tuple[list[Round], dict[str, Any]]] = {}
        for pair, case in shown.items():
            several = [
                self.combine(
                    [
                        self.weigh(next(replies)) if item.strip() or self.blank is None else self.blank
                        for item in self.items(case)
                    ]
                )
                for _ in asking.samples
            ]
            rounds[pair] = several, self._replied(asking, several, cut[pair])
        return rounds

    def _replied(self, asking: Asking, rounds: Sequence[Round], cut: list[str]) -> dict[str, Any]:
        """The raw replies behind a score, and what they cost."""
        from karat.models.structured import total

        replies = [reply for one in rounds for reply in one.replies]
        said = [said for reply in replies for said in reply.said]
        detail: dict[str, Any] = {
            "model": next((one.model for one in said if one.model), asking.chat.label),
            "prompt": self.prompt,
            "raw": [raw for reply in replies for raw in reply.raw],
            "tokens": total(reply.tokens for reply in replies),
            "cost_usd": total(reply.cost_usd for reply in replies),
            "repeats": [one.value for one in rounds],
        }
        problems = [one.error or one.undefined for one in rounds if one.value is None]
        if problems:
            detail["failed_repeats"] = problems
        if cut:
            detail["cut"] = cut
        return detail
