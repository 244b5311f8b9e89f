"""The runner of all judges: which pairs need judging, every distinct prompt once, and what replies make of a score.

A judge is a `Judge`: what settles a pair without model, which items of it are judged one by one, how a model is asked
about them, what stands in for it where there is no model, and how the scores of the items become one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from karat.core.conversation import transcript
from karat.core.errors import UsageError
from karat.core.lazy import Lazy
from karat.core.scores import MeasureResult
from karat.core.text import drop_blocks, tokenise
from karat.measures.judge._prompts import CONTEXT_CHARS, QUESTION_CHARS, TEXT_CHARS, Asked, digest_of, within

if TYPE_CHECKING:
    from pydantic import BaseModel

    from karat.core.answered import AnswerTable
    from karat.core.models import ChatModel, ChatReply, Models, Prompt
    from karat.models.structured import Structured

    T = TypeVar("T", bound=BaseModel)
else:
    T = TypeVar("T")

By = Literal["model", "heuristic"]
NO_REFERENCE = "no reference answer"
BLANK_REFERENCE = "the reference answer is empty after normalisation (unicode)"
NO_QUESTION = "the question has no text"


@dataclass(frozen=True)
class JudgedAnswer:
    """A pair of system and question as judges see it."""

    _: KW_ONLY
    question: str
    answer: str  # without thoughts
    references: tuple[str, ...]  # distinct, each with words
    has_references: bool  # with words or not
    contexts: tuple[str, ...] | None
    answerable: bool
    history: str = ""  # the earlier turns of the conversation

    @property
    def asked(self) -> Asked:
        """The question, with what was said before it."""
        return Asked(self.question, self.history)

    @classmethod
    def of(cls, answered: AnswerTable, pair: int, *, evidence: bool = False) -> JudgedAnswer:
        """A pair of a table; `evidence`: the earlier turns stand among its contexts, as what may support it."""
        references, contexts = answered.references[pair], (answered.evidence if evidence else answered.contexts)[pair]
        return cls(
            history=transcript(answered.history_of(pair)),
            question=answered.texts[pair],
            answer=drop_blocks(answered.answers[pair] or "").strip(),
            references=tuple(text for text in dict.fromkeys(references) if tokenise(text)),
            has_references=bool(references),
            contexts=None if contexts is None else tuple(contexts),
            answerable=answered.answerable[pair],
        )


@dataclass(frozen=True)
class Limit:
    """How many characters of a field of an answer a model is shown: of all its texts together, or of `each`."""

    field: Literal["question", "answer", "references", "contexts", "history"]
    most: int
    each: bool = False

    def apply(self, case: JudgedAnswer) -> tuple[JudgedAnswer, list[str]]:
        """The answer with that field shortened, and what was left out."""
        value = getattr(case, self.field)
        texts, name = [value] if isinstance(value, str) else list(value or ()), self.field.removesuffix("s")
        if self.each and len(texts) > 1:
            parts = [within([text], self.most, f"{name} {i}") for i, text in enumerate(texts, 1)]
            short, notes = [text for (text,), _ in parts], [note for _, some in parts for note in some]
        else:
            short, notes = within(texts, self.most, name)
        shortened: dict[str, Any] = {self.field: short[0] if isinstance(value, str) else tuple(short)}
        return replace(case, **shortened), notes


QUESTION = Limit("question", QUESTION_CHARS)
HISTORY = Limit("history", TEXT_CHARS)
ANSWER = Limit("answer", TEXT_CHARS)
EACH_REFERENCE = Limit("references", TEXT_CHARS, each=True)  # a model sees one at a time
EACH_CONTEXT = Limit("contexts", TEXT_CHARS, each=True)
ALL_CONTEXTS = Limit("contexts", CONTEXT_CHARS)


@dataclass(frozen=True)
class Sample:
    """One time of model for one score: a value, or why there is none.

    `undefined` is why the score is undefined, `error` why it failed. `shown` is what stands behind the value.
    """

    value: float | None = None
    error: str | None = None
    undefined: str | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    replies: tuple[Structured[Any], ...] = ()


def single(samples: Sequence[Sample]) -> Sample:
    """The sample of an answer with one item."""
    (one,) = samples
    return one


def best_reference(rounds: Sequence[Sample]) -> Sample:
    """Of one sample for each reference, the best; a reference that could not be judged fails them all."""
    replies = tuple(reply for one in rounds for reply in one.replies)
    failed = [one for one in rounds if one.error is not None]
    valued = [one for one in rounds if one.value is not None]
    top = max(valued, key=lambda one: one.value or 0.0) if valued else rounds[0]
    return replace(failed[0] if failed else top, replies=replies)


def graded(reply: Structured[Any], worth: Callable[[Any], float]) -> Sample:
    """A round of one reply with a reason and a grade."""
    if reply.value is None:
        return Sample(error=reply.error, replies=(reply,))
    shown = {"grade": reply.value.grade, "reason": reply.value.reason}
    return Sample(worth(reply.value.grade), shown=shown, replies=(reply,))


class JudgeModel:
    """The model of one judge: how often it is asked, and where progress goes."""

    def __init__(self, models: Models, measure: str, instead: str = "heuristic") -> None:
        if models.chat is None:
            raise UsageError(
                f"{measure} asks a chat model, and none is given. Name one with --model (and --base-url for a server "
                f"of your own), or write {measure}(by={instead}), which asks none."
            )
        self.chat: ChatModel = models.chat
        self.measure, self.samples, self._progress = measure, range(max(1, models.repeat)), models.progress

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
        """What the model replies to each prompt; the same prompt is asked once.

        Prompts that are made when they are looked at (`core.lazy`) are not kept: a million take no memory.
        """
        from karat.models.structured import ask_structured

        places: dict[bytes, int] = {}  # of each distinct prompt, by its digest: where it first stands
        place_of = [places.setdefault(_digest(prompt), place) for place, prompt in enumerate(prompts)]
        first = list(places.values())
        distinct = Lazy(len(first), lambda number: prompts[first[number]])
        done: set[int] = set()

        def notify(number: int, _: ChatReply) -> None:
            done.add(number)
            if self._progress is not None:
                self._progress(f"judging {self.measure}" + (f" ({step})" if step else ""), len(done), len(distinct))

        def check(number: int, value: T) -> str | None:
            return None if checks is None else checks[first[number]](value)

        replies = ask_structured(self.chat, distinct, schema, notify, check=check) if first else []
        reply_at = dict(zip(first, replies, strict=True))
        return [reply_at[place] for place in place_of]


def _digest(prompt: Prompt) -> bytes:
    return hashlib.sha256(repr(prompt).encode("utf-8", "surrogatepass")).digest()


Judgement = tuple[list["Sample"], dict[str, Any]]
"""The samples of an answer, and the details of their replies."""

Requests = Sequence[tuple[JudgedAnswer, str, int]]
"""What a model is asked: a case, an item of it, and the number of the time."""


def ask_for_grades(
    schema: str, prompt: Callable[[JudgedAnswer, str, str, int], Prompt]
) -> Callable[[JudgeModel, Requests], Sequence[Any]]:
    """The `ask` of a judge that gives each item a reason and a grade, by a schema of `_schemas`."""

    def ask(model: JudgeModel, asked: Requests) -> Sequence[Any]:
        from karat.measures.judge import _schemas  # pydantic takes long to import

        def made(number: int) -> Prompt:
            case, item, sample = asked[number]
            return prompt(case, item, model.purpose(), sample)

        return model.ask(Lazy(len(asked), made), getattr(_schemas, schema))

    return ask


@dataclass(frozen=True)
class Judge:
    """What makes a judge; see the head of this file."""

    _: KW_ONLY
    name: str
    prompt: str  # which, with its version
    settle: Callable[[JudgedAnswer, By], str | tuple[float, str] | None]
    """Why a case is undefined, or its value with the reason; None where it is to be judged."""
    items: Callable[[JudgedAnswer], Sequence[str]]
    limits: tuple[Limit, ...]
    ask: Callable[[JudgeModel, Requests], Sequence[Any]]
    """What the model says of each item."""
    weigh: Callable[[Any], Sample]
    """What that is worth."""
    heuristic: Callable[[JudgedAnswer, str], Sample] | None = None
    combine: Callable[[Sequence[Sample]], Sample] = single
    blank: Sample | None = None  # of an item without text, which is not asked about
    instead: str = "heuristic"  # what `by` may say where there is no model
    evidence: bool = False  # earlier turns of the conversation support an answer as its contexts do

    def run(self, answered: AnswerTable, by: By) -> MeasureResult:
        """The score of each pair: the mean of the rounds that gave a value; where all failed it has failed."""
        values = np.full(len(answered), np.nan)
        undefined: dict[int, str] = {}
        failed: dict[int, str] = {}
        details: dict[int, dict[str, Any]] = {}
        cases: dict[int, JudgedAnswer] = {}
        for pair in range(len(answered)):
            case = JudgedAnswer.of(answered, pair, evidence=self.evidence)
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
            scores = [one.value for one in rounds if one.value is not None]
            reasons = [one.undefined for one in rounds if one.undefined]
            if scores:
                values[pair] = float(np.mean(scores))
            elif reasons:
                undefined[pair] = reasons[0]
            else:
                failed[pair] = rounds[0].error or "the judge gave no value"
            shown = next((one for one in rounds if one.value is not None), rounds[0])
            details[pair] = {"by": by, **shown.shown, **more}
        return MeasureResult(values, undefined, failed=failed, details=details)

    def _estimate(self, cases: Mapping[int, JudgedAnswer]) -> dict[int, Judgement]:
        """What stands in for a model."""
        assert self.heuristic is not None
        return {
            pair: ([self.combine([self.heuristic(case, item) for item in self.items(case)])], {})
            for pair, case in cases.items()
        }

    def _judge(self, answered: AnswerTable, cases: Mapping[int, JudgedAnswer]) -> dict[int, Judgement]:
        """What the model says, with the details of its replies."""
        model, n = JudgeModel(answered.models, self.name, self.instead), len(answered.questions)
        # one question after the other for all systems: a budget that ends has paid for pairs
        pairs = sorted(cases, key=lambda pair: (pair % n, pair))
        items: dict[int, list[int]] = {}  # of each pair: the numbers of those that are asked about
        cut: dict[int, list[str]] = {}
        for pair in pairs:
            case, cut[pair] = self._shortened(cases[pair])
            named = enumerate(self.items(case))
            items[pair] = [number for number, item in named if item.strip() or self.blank is None]
        places = [(pair, number, sample) for pair in pairs for sample in model.samples for number in items[pair]]

        def made(place: int) -> tuple[JudgedAnswer, str, int]:
            pair, number, sample = places[place]
            case, _ = self._shortened(cases[pair])
            return case, self.items(case)[number], sample

        asked: Requests = Lazy(len(places), made)
        replies = iter(answered.once(("judge", self.name), lambda: self.ask(model, asked)))
        rounds: dict[int, Judgement] = {}
        for pair in pairs:
            count = len(self.items(self._shortened(cases[pair])[0]))
            several = [
                self.combine(
                    [
                        self.weigh(next(replies)) if self.blank is None or number in items[pair] else self.blank
                        for number in range(count)
                    ]
                )
                for _ in model.samples
            ]
            rounds[pair] = several, self._replied(model, several, cut[pair])
        return rounds

    def _shortened(self, case: JudgedAnswer) -> tuple[JudgedAnswer, list[str]]:
        """The answer as a model is shown it, and what was left out."""
        cut = []
        for limit in (QUESTION, HISTORY, *self.limits):
            case, notes = limit.apply(case)
            cut += notes
        return case, cut

    def _replied(self, model: JudgeModel, rounds: Sequence[Sample], cut: list[str]) -> dict[str, Any]:
        """The raw replies behind a score, and what they cost."""
        from karat.models.structured import total

        replies = [reply for one in rounds for reply in one.replies]
        chat_replies = [one for reply in replies for one in reply.said]
        detail: dict[str, Any] = {
            "model": next((one.model for one in chat_replies if one.model), model.chat.label),
            "fingerprint": model.chat.fingerprint,
            "prompt": self.prompt,
            "prompt_digest": digest_of(self.prompt),
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
