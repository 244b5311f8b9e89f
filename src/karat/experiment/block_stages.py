"""Stages of answering, judging and scoring: each makes of a block of rows what the process that leads would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from platform import node
from typing import TYPE_CHECKING, Any

from karat.core.answered import BY_PAIR, AnswerTable
from karat.core.asked import AnswerRequest, Context
from karat.core.errors import KaratError
from karat.core.models import Models
from karat.core.types import Answer, Nugget, Turn
from karat.measures.entailment.judging import ClaimBatch, ClaimJudge, ClaimPremise
from karat.pool import BlockStage, Progress

if TYPE_CHECKING:
    from karat.answer import Answerer
    from karat.core.measure import Measure

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
        return answers_to(self._answerer, list(map(request_of, block)))


class ScoreBlock(BlockStage):
    """Computes measures of the answers to a block of questions, of all systems."""

    work = "score"

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        from karat.core.language import parse_all

        self._measures, self._models = parse_all(settings["measures"]), models_here(settings)

    def reply(self, block: dict[str, Any]) -> list[dict[str, Any]]:
        """What each measure gives for each pair of the block."""
        return results_of(self._measures, table_of(block, self._models))


def results_of(measures: Sequence[Measure], answered: AnswerTable) -> list[dict[str, Any]]:
    """What measures give for a table of answers, as JSON values."""
    from karat.measures.compute import outcome_of

    outcomes = (outcome_of(measure, answered, len(answered)) for measure in measures)
    return [
        {"values": one.values.tolist()}
        | {name: list(getattr(one, name).items()) for name in ("undefined", "failed", "details")}  # keys are numbers
        for one in outcomes
    ]


def plain_table(answered: AnswerTable) -> dict[str, Any]:
    """A table of answers as JSON values."""
    plain = {name: list(getattr(answered, name)) for name in ("systems", "questions", *BY_PAIR)}
    return plain | {name: [list(map(asdict, some)) for some in plain[name]] for name in ("nuggets", "history")}


def table_of(plain: Mapping[str, Any], models: Models) -> AnswerTable:
    """A table of answers from JSON values."""
    made: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(
            ("references", "contexts", "context_ids"), lambda texts: None if texts is None else tuple(texts)
        ),
        "nuggets": lambda some: tuple(Nugget(**one) for one in some),
        "history": lambda some: tuple(Turn(**one) for one in some),
    }
    columns: dict[str, Any] = {
        name: list(map(made[name], plain[name])) if name in made else plain[name] for name in BY_PAIR
    }
    return AnswerTable(tuple(plain["systems"]), tuple(plain["questions"]), models=models, **columns)


def answers_to(answerer: Answerer, asked: Sequence[AnswerRequest]) -> list[dict[str, Any]]:
    """What an answerer says to requests, in their order, as JSON values."""
    place_of = {id(one): place for place, one in enumerate(asked)}
    answers: dict[int, Answer] = {}
    answerer.answer(asked, lambda one, answer: answers.update({place_of[id(one)]: answer}))
    return [plain_answer(answers[place]) for place in range(len(asked))]


class JudgeBlock(BlockStage):
    """Splits a block of texts into claims, or judges a block of claims, by a judge that asks no endpoint."""

    work = "judge"

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        from karat.experiment.claims import ClaimMaker, ClaimSource

        judge = ClaimMaker(ClaimSource(settings["judge"]), Models()).make_judge()
        assert judge is not None
        check_same("judge of claims", f"{judge.name} {judge.prompt}", settings["judged_by"])
        self._judge = judge

    def reply(self, block: dict[str, Any]) -> dict[str, Any]:
        """The claims of each text, or the verdict on each claim."""
        if "split" in block:
            return claims_by(self._judge, [(question, text) for question, text in block["split"]])
        return verdicts_by(self._judge, [batch_of(values) for values in block["judge"]])


def claims_by(judge: ClaimJudge, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What a judge says the claims of texts are, as JSON values."""
    return {"said": [[list(one.claims), one.error] for one in judge.split(texts)], "cut": 0}


def verdicts_by(judge: ClaimJudge, batches: Sequence[ClaimBatch]) -> dict[str, Any]:
    """What a judge says of each claim of batches, as JSON values, and how many it saw the beginning of alone."""
    before = getattr(judge, "cut", 0)
    said: list[Any] = []
    for batch, reply in zip(batches, judge.judge(batches), strict=True):
        said += reply.verdicts if reply.error is None else [[None, reply.error]] * len(batch.claims)
    return {"said": said, "cut": getattr(judge, "cut", 0) - before}


def batch_of(values: Mapping[str, Any]) -> ClaimBatch:
    """A batch of claims from JSON values."""
    premise = ClaimPremise(tuple(values["premise"]["texts"]), values["premise"]["question"])
    return ClaimBatch(values["task"], premise, tuple(values["claims"]))


def models_here(settings: Mapping[str, Any]) -> Models:
    """The models that the settings of a stage name."""
    from karat.experiment.models import models_of
    from karat.models import EmbedderSettings, same_embedder

    if settings["embedder"] is None:
        return replace(models_of(), embedder=None)
    embedder = same_embedder(EmbedderSettings.of(settings["embedder"]), settings["vectors"])
    return replace(models_of(), embedder=lambda: embedder)


def check_same(what: str, here: str, there: str) -> None:
    """Refuse to work with another model than that of the process that leads."""
    if here != there:
        raise KaratError(
            f"the worker {node()!r} has another {what} ({here}) than the process that leads ({there}). Install the "
            "same versions of karat and of its models everywhere."
        )


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
