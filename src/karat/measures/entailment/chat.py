"""A chat model as judge of claims: one call splits a text, one holds up to twenty claims against a premise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL
from karat.core.lazy import Lazy
from karat.core.models import Models, Prompt
from karat.core.text.words import plural
from karat.measures.entailment.judging import BatchVerdicts, ClaimBatch, ClaimTask, SplitText, digest_of
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._claims import Complete, distinct_claims
from karat.measures.judge._runner import JudgeModel

TOGETHER = 20
"""Claims of one call."""
_CODES = {
    "supported": ENTAILED, "partial": PARTIAL, "contradicted": CONTRADICTED, "not_found": NEITHER,
    "yes": ENTAILED, "no": NEITHER,
}  # fmt: skip
_LIMITS = f"{prompts.QUESTION_CHARS} {prompts.TEXT_CHARS} {prompts.CONTEXT_CHARS}"
PROMPT = f"{prompts.CLAIM_TABLE} {digest_of((*prompts.claim_prompts(), _LIMITS))[:12]}"
"""The version of the prompts and a digest of their words."""


class ChatJudge:
    """Claims as a chat model splits them, and its verdicts. A reply that cannot be used fails what it was asked for."""

    prompt = PROMPT
    tasks: frozenset[ClaimTask] = frozenset(("entail", "support", "relevant", "used"))

    def __init__(self, models: Models, most: int = TOGETHER) -> None:
        self._model, self.most = JudgeModel(models, "claims"), most
        self.name = f"{self._model.chat.label} {self._model.chat.fingerprint[:8]}"
        self._cut = 0

    def split(self, texts: Sequence[tuple[str, str]]) -> list[SplitText]:
        """What the model says the claims of each text are, each once."""
        from karat.measures.judge._schemas import Claims

        purpose = self._model.purpose("claims")

        def to_split(number: int) -> Prompt:
            question, text = texts[number]
            return prompts.split(question[: prompts.QUESTION_CHARS], text[: prompts.TEXT_CHARS], purpose, 0)

        self._cut += sum(_is_cut(question, prompts.QUESTION_CHARS) + _is_cut(text) for question, text in texts)
        replies = self._model.ask(Lazy(len(texts), to_split), Claims, step="claims")
        return [
            SplitText(error=reply.error) if reply.value is None else SplitText(distinct_claims(reply.value.claims))
            for reply in replies
        ]

    def judge(self, batches: Sequence[ClaimBatch]) -> list[BatchVerdicts]:
        """What the model says of the claims of each batch, in one call a batch."""
        from karat.measures.judge import _schemas

        schemas = {"entail": _schemas.Verdicts, "support": _schemas.GradedVerdicts}
        by_place: dict[int, BatchVerdicts] = {}
        for task in dict.fromkeys(batch.task for batch in batches):
            places = [place for place, batch in enumerate(batches) if batch.task == task]
            self._cut += sum(_cut_of(batches[place]) for place in places)
            replies = self._model.ask(
                Lazy(len(places), lambda at, places=places: self._prompt(batches[places[at]])),  # type: ignore[misc]
                schemas.get(task, _schemas.SentenceMarks),
                [Complete(len(batches[place].claims), None) for place in places],
                step="verdicts",
            )
            by_place |= {place: _verdicts(reply) for place, reply in zip(places, replies, strict=True)}
        return [by_place[place] for place in range(len(batches))]

    def notes(self) -> list[str]:
        """How many texts were longer than what the model is shown."""
        if not self._cut:
            return []
        return [f"{plural(self._cut, 'text')} that claims were held against or taken from had to be cut for the judge."]

    def _prompt(self, batch: ClaimBatch) -> Prompt:
        purpose, premise = self._model.purpose("verdicts"), batch.premise
        question = premise.question[: prompts.QUESTION_CHARS]
        if batch.task == "relevant":
            return prompts.mark(batch.claims, premise.texts[0][: prompts.QUESTION_CHARS], None, purpose)
        if batch.task == "used":
            return prompts.mark(batch.claims, question, premise.texts[0][: prompts.TEXT_CHARS], purpose)
        texts, _ = prompts.within(premise.texts, prompts.CONTEXT_CHARS, "context")
        if question:
            texts = [f"Question: {question}\nAnswer: {text}" for text in texts]
        return prompts.verify(batch.claims, texts, purpose, 0, partial=batch.task == "support")


def _cut_of(batch: ClaimBatch) -> int:
    """How many texts of a batch are longer than what the model is shown."""
    texts, question = batch.premise.texts, _is_cut(batch.premise.question, prompts.QUESTION_CHARS)
    if batch.task == "relevant":
        return question + _is_cut(texts[0], prompts.QUESTION_CHARS)
    if batch.task == "used":
        return question + _is_cut(texts[0])
    return question + len(prompts.within(texts, prompts.CONTEXT_CHARS, "context")[1])


def _is_cut(text: str, most: int = prompts.TEXT_CHARS) -> bool:
    return len(text) > most


def _verdicts(reply: Any) -> BatchVerdicts:
    if reply.value is None:
        return BatchVerdicts(error=reply.error)
    by_number = sorted(reply.value.verdicts, key=lambda one: int(one.claim))
    return BatchVerdicts(tuple((_CODES[one.verdict], one.reason) for one in by_number))
