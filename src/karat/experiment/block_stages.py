"""Stages of answering, judging and scoring: each makes of a block of rows what the process that leads would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from karat.core.asked import AnswerRequest, Context
from karat.core.errors import KaratError
from karat.core.types import Answer, Turn
from karat.pool import BlockStage

if TYPE_CHECKING:
    from karat.answer import Answerer
    from karat.core.models import Models
    from karat.pool import Progress

_OF_AN_ANSWER = (
    "text", "contexts", "model", "seconds", "tokens", "cost_usd", "error", "confidence", "used", "given",
)  # fmt: skip


class AnswerBlock(BlockStage):
    """Answers a block of requests by an answerer that asks no endpoint."""

    work = "answer"

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        from karat.answer import AnswererSettings, answerer_named

        self._answerer = answerer_named(AnswererSettings.of(settings["answerer"]), models_here(settings))
        check_same("answerer", self._answerer.fingerprint, settings["fingerprint"])

    def reply(self, block: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answer to each request."""
        return answers_to(self._answerer, block)


def answers_to(answerer: Answerer, block: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What an answerer says to plain requests, in their order, plain."""
    asked = [request_of(values) for values in block]
    place_of = {id(one): place for place, one in enumerate(asked)}
    answers: dict[int, Answer] = {}
    answerer.answer(asked, lambda one, answer: answers.update({place_of[id(one)]: answer}))
    return [plain_answer(answers[place]) for place in range(len(asked))]


def models_here(settings: Mapping[str, Any]) -> Models:
    """The models that the settings of a stage name."""
    from karat.experiment.models import ModelSettings, models_of
    from karat.models import EmbedderSettings

    named = settings["embedder"]
    return models_of(ModelSettings(embedder=None if named is None else EmbedderSettings.of(named)))


def check_same(what: str, here: str, there: str) -> None:
    """Refuse to work with another model than that of the process that leads."""
    if here != there:
        raise KaratError(
            f"a worker has another {what} ({here}) than the process that leads ({there}). Install the same versions "
            "of karat and of its models everywhere."
        )


def plain_request(asked: AnswerRequest) -> dict[str, Any]:
    """A request as JSON values."""
    return asdict(asked)


def request_of(values: Mapping[str, Any]) -> AnswerRequest:
    """A request from JSON values."""
    contexts = tuple(Context(**one) for one in values["contexts"])
    return AnswerRequest(values["id"], values["question"], contexts, tuple(Turn(**one) for one in values["history"]))


def plain_answer(answer: Answer) -> dict[str, Any]:
    """What an answer says, as JSON values: what is known, and not to which question."""
    return {name: value for name in _OF_AN_ANSWER if (value := getattr(answer, name)) not in (None, {})}


def answer_of(values: Mapping[str, Any], question: str = "") -> Answer:
    """An answer from JSON values."""
    lists = {name: tuple(values[name]) for name in ("contexts", "used", "given") if values.get(name) is not None}
    return Answer(question, **{**values, **lists})
