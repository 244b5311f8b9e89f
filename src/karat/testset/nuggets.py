"""Nuggets from gold: the facts that an answer should state, written by a chat model from the passages that hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from karat.core.models import ChatModel, Prompt
from karat.core.text import NAMES, guess_language, normalise
from karat.core.text.support import Claim, SupportText
from karat.core.types import Nugget, Question, TestSet
from karat.models.terms import terms
from karat.testset._reply import clean

if TYPE_CHECKING:
    from karat.match import Resolution

MOST_PASSAGES = 20  # gold passages that the model is shown
MOST_NUGGETS = 30  # of a question
_LONG = 1000  # characters of a nugget
_ROLE = (
    "You list the facts that a complete answer to a question has to state, for people who check answers. A fact is one "
    "short sentence that can be true or false by itself and says a single thing."
)
_RULES = (
    "Take facts from the passages and from nothing else.",
    "Leave out what does not help to answer the question.",
    'A fact is "vital" if an answer without it would be wrong or would leave the question open, and "okay" if it is '
    "good to have.",
    f"Write each fact once, the most important first, at most {MOST_NUGGETS}.",
)
_REPLY = '{"nuggets": [{"text": "...", "importance": "vital"}, {"text": "...", "importance": "okay"}]}'


class WrittenNugget(BaseModel):
    """A fact as the model writes it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: str = Field(min_length=1, max_length=_LONG)
    importance: Literal["vital", "okay"]


class WrittenNuggets(BaseModel):
    """The facts of one question."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    nuggets: list[WrittenNugget] = Field(max_length=4 * MOST_NUGGETS)


@dataclass(frozen=True, kw_only=True)
class NuggetsMade:
    """A test set with nuggets, and what did not get any, by question: each question is in one of the four.

    `made` got nuggets, `had` some before and keep them, `without` have no passage that holds gold; of `failed` the
    model gave none, for the reason. `rejected` are facts that the passages do not bear out: (question, fact).
    """

    testset: TestSet
    made: Sequence[str] = ()
    had: Sequence[str] = ()
    without: Sequence[str] = ()
    failed: dict[str, str] = field(default_factory=dict)
    rejected: Sequence[tuple[str, str]] = ()

    @property
    def nuggets(self) -> list[Nugget]:
        """The new nuggets of all questions."""
        return [nugget for qid in self.made for nugget in self.testset[qid].nuggets]


def make_nuggets(
    testset: TestSet,
    resolution: Resolution,
    chat: ChatModel,
    say: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> NuggetsMade:
    """Nuggets for every question that has none and whose gold stands in chunks of an index."""
    from karat.models.structured import ask_structured

    had = [q.id for q in testset if q.nuggets]
    passages: dict[str, list[str]] = {}
    for number, question in enumerate(testset):
        rows = resolution.gold_rows(number)[:MOST_PASSAGES].tolist()
        if not question.nuggets and rows and question.answerable:
            passages[question.id] = [_shown(resolution.chunks[row].title, resolution.chunks[row].text) for row in rows]
    asked = [question for question in testset if question.id in passages]
    say("writing nuggets", 0, len(asked))
    replies = ask_structured(chat, [nugget_prompt(q, passages[q.id]) for q in asked], WrittenNuggets)
    written: dict[str, tuple[Nugget, ...]] = {}
    failed: dict[str, str] = {}
    rejected: list[tuple[str, str]] = []
    for question, reply in zip(asked, replies, strict=True):
        if reply.value is None:
            failed[question.id] = reply.error or "the model said nothing"
            continue
        nuggets, refused = _kept(reply.value, passages[question.id])
        rejected += [(question.id, text) for text in refused]
        if nuggets:
            written[question.id] = nuggets
        else:
            failed[question.id] = "the passages bear out none of its facts" if refused else "the model names no fact"
    say("writing nuggets", len(asked), len(asked))
    questions = [replace(q, nuggets=written[q.id]) if q.id in written else q for q in testset]
    return NuggetsMade(
        testset=testset.with_questions(questions, testset.name), made=tuple(written), had=had, failed=failed,
        without=[q.id for q in testset if not q.nuggets and q.id not in passages], rejected=rejected,
    )  # fmt: skip


def nugget_prompt(question: Question, passages: Sequence[str]) -> Prompt:
    """What the model is asked: the question, its reference answer where there is one, and the passages, fenced."""
    from karat.models.fences import RULE, fenced

    parts = [("question", question.text), *((("reference answer", question.answers[0]),) if question.answers else ())]
    parts += [(f"passage {number}", text) for number, text in enumerate(passages, 1)]
    language = NAMES.get(guess_language(question.text) or "")
    rules = [*_RULES, f"Write in {language or 'the language of the question'}."]
    listed = "\n".join(f"- {rule}" for rule in rules)
    user = (
        f"{fenced(parts, salt='nuggets/1').text}\n\n{listed}\n\nReply with one JSON object and nothing else: {_REPLY}"
    )
    return Prompt(user, f"{_ROLE} {RULE}", json=True, purpose="generate nuggets")


def _kept(reply: WrittenNuggets, passages: Sequence[str]) -> tuple[tuple[Nugget, ...], list[str]]:
    """The facts that the passages bear out, each once, and the others."""
    language = guess_language(" ".join(passages))
    held = SupportText.together(SupportText.of(text, language, terms) for text in passages)
    facts: dict[str, Nugget] = {}
    refused: list[str] = []
    for written in reply.nuggets:
        text = clean(written.text)
        key = normalise(text, "words")
        if not key or key in facts:
            continue
        claim = Claim.of(text, language, terms)
        if len(claim) and not claim.against(held).enough():
            refused.append(text)
        else:
            facts[key] = Nugget(text, written.importance == "vital")
    return tuple(facts.values())[:MOST_NUGGETS], refused


def _shown(title: str | None, text: str) -> str:
    return f"{title}\n{text}" if title else text
