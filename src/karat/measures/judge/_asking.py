"""How judges ask: every distinct prompt once, in batches, and what their replies make of each score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from karat.core.errors import UsageError
from karat.core.scores import Outcome
from karat.measures.judge._prompts import QUESTION_CHARS, within

if TYPE_CHECKING:
    from pydantic import BaseModel

    from karat.core.answered import Answered
    from karat.core.means import Chats, Prompt, Said
    from karat.models.structured import Structured

    T = TypeVar("T", bound=BaseModel)
else:
    T = TypeVar("T")

R = TypeVar("R")
By = Literal["model", "heuristic"]
NO_REFERENCE = "no reference answer"
BLANK_REFERENCE = "the reference answer is empty after normalisation (unicode)"
NO_QUESTION = "the question has no text"


@dataclass(frozen=True)
class Round:
    """One time of asking for one score: a value, or why there is none.

    `unsaid` is why the score is undefined, `error` why it failed. `shown` is what stands behind the value.
    """

    value: float | None = None
    error: str | None = None
    unsaid: str | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    replies: tuple[Structured[Any], ...] = ()


class Asking:
    """The judge of one measure: its model, how often it is asked, and where progress goes."""

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

        place: dict[Prompt, int] = {}
        first: list[int] = []
        for i, prompt in enumerate(prompts):
            if prompt not in place:
                place[prompt] = len(first)
                first.append(i)
        heard: set[int] = set()

        def said(number: int, _: Said) -> None:
            heard.add(number)
            if self._progress is not None:
                self._progress(f"judging {self.measure}" + (f" ({step})" if step else ""), len(heard), len(place))

        def check(number: int, value: T) -> str | None:
            return None if checks is None else checks[first[number]](value)

        found = ask_structured(self.chat, list(place), schema, said, check=check) if place else []
        return [found[place[prompt]] for prompt in prompts]


def by_question(answered: Answered, rows: Mapping[int, R]) -> dict[int, R]:
    """What is to be judged, one question after the other for all systems: a budget that ends has paid for pairs."""
    n = len(answered.questions)
    return dict(sorted(rows.items(), key=lambda row: (row[0] % n, row[0])))


@dataclass
class Sheet:
    """Scores as they come in: pairs that need no asking, and those that were asked."""

    answered: Answered
    prompt: str  # which, with its version
    by: By = "model"
    settled: dict[int, tuple[float, str]] = field(default_factory=dict)  # a value that no model is needed for, and why
    undefined: dict[int, str] = field(default_factory=dict)
    rounds: dict[int, list[Round]] = field(default_factory=dict)
    cut: dict[int, list[str]] = field(default_factory=dict)

    def outcome(self) -> Outcome:
        """The mean of the rounds that gave a value; a pair of which all failed has failed."""
        values = np.full(len(self.answered), np.nan)
        undefined, failed = dict(self.undefined), dict[int, str]()
        details: dict[int, dict[str, Any]] = {}
        for pair, (value, reason) in self.settled.items():
            values[pair] = value
            details[pair] = {"by": self.by, "reason": reason}
        for pair, rounds in self.rounds.items():
            told = [one.value for one in rounds if one.value is not None]
            if told:
                values[pair] = float(np.mean(told))
            elif unsaid := [one.unsaid for one in rounds if one.unsaid]:
                undefined[pair] = unsaid[0]
            else:
                failed[pair] = rounds[0].error or "the judge gave no value"
            details[pair] = self._detail(pair, rounds)
        return Outcome(values, undefined, failed, details)

    def _detail(self, pair: int, rounds: Sequence[Round]) -> dict[str, Any]:
        shown = next((one for one in rounds if one.value is not None), rounds[0])
        detail: dict[str, Any] = {"by": self.by, **shown.shown}
        if self.by == "heuristic":
            return detail
        from karat.models.structured import total

        replies = [reply for one in rounds for reply in one.replies]
        said = [said for reply in replies for said in reply.said]
        chat = self.answered.means.chat
        detail |= {
            "model": next((one.model for one in said if one.model), chat.label if chat else None),
            "prompt": self.prompt,
            "raw": [raw for reply in replies for raw in reply.raw],
            "tokens": total(reply.tokens for reply in replies),
            "cost_usd": total(reply.cost_usd for reply in replies),
            "repeats": [one.value for one in rounds],
        }
        problems = [one.error or one.unsaid for one in rounds if one.value is None]
        if problems:
            detail["failed_repeats"] = problems
        _, left_out = within([self.answered.texts[pair]], QUESTION_CHARS, "question")
        if cut := left_out + self.cut.get(pair, []):
            detail["cut"] = cut
        return detail


def graded(reply: Structured[Any], worth: Callable[[Any], float]) -> Round:
    """A round of one reply with a reason and a grade."""
    if reply.value is None:
        return Round(error=reply.error, replies=(reply,))
    shown = {"grade": reply.value.grade, "reason": reply.value.reason}
    return Round(worth(reply.value.grade), shown=shown, replies=(reply,))


def best(rounds: Sequence[Round]) -> Round:
    """Of one round for each reference, the best; a reference that could not be judged fails them all."""
    replies = tuple(reply for one in rounds for reply in one.replies)
    for one in rounds:
        if one.error is not None:
            return Round(error=one.error, shown=one.shown, replies=replies)
    told = [one for one in rounds if one.value is not None]
    if not told:
        return Round(unsaid=rounds[0].unsaid, shown=rounds[0].shown, replies=replies)
    top = max(told, key=lambda one: one.value if one.value is not None else -np.inf)
    return Round(top.value, shown=top.shown, replies=replies)
