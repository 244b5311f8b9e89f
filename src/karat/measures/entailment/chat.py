"""A chat model as judge of claims: one call splits a text, one holds up to twenty claims against a premise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL
from karat.core.text.words import plural
from karat.measures.entailment.judging import BatchVerdicts, ClaimBatch, ClaimTask, SplitText, digest_of
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._claims import Complete, distinct_claims
from karat.measures.judge._runner import JudgeModel

if TYPE_CHECKING:
    from karat.core.models import Models, Prompt

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
        asked = [
            prompts.split(self._short(question, prompts.QUESTION_CHARS), self._short(text), purpose, 0)
            for question, text in texts
        ]
        replies = self._model.ask(asked, Claims, step="claims")
        return [
            SplitText(error=reply.error) if reply.value is None else SplitText(distinct_claims(reply.value.claims))
            for reply in replies
        ]

    def judge(self, batches: Sequence[ClaimBatch]) -> list[BatchVerdicts]:
        """What the model says of the claims of each batch, in one call a batch."""
        from karat.measures.judge import _schemas

        schemas = {"entail": _schemas.Verdicts, "support": _schemas.GradedVerdicts}
        found: dict[int, BatchVerdicts] = {}
        for task in dict.fromkeys(batch.task for batch in batches):
            places = [place for place, batch in enumerate(batches) if batch.task == task]
            replies = self._model.ask(
                [self._prompt(batches[place]) for place in places],
                schemas.get(task, _schemas.SentenceMarks),
                [Complete(len(batches[place].claims), None) for place in places],
                step="verdicts",
            )
            found |= {place: _verdicts(reply) for place, reply in zip(places, replies, strict=True)}
        return [found[place] for place in range(len(batches))]

    def notes(self) -> list[str]:
        """How many texts were longer than what the model is shown."""
        if not self._cut:
            return []
        return [f"{plural(self._cut, 'text')} that claims were held against or taken from had to be cut for the judge."]

    def _prompt(self, batch: ClaimBatch) -> Prompt:
        purpose, premise = self._model.purpose("verdicts"), batch.premise
        question = self._short(premise.question, prompts.QUESTION_CHARS)
        if batch.task == "relevant":
            return prompts.mark(batch.claims, self._short(premise.texts[0], prompts.QUESTION_CHARS), None, purpose)
        if batch.task == "used":
            return prompts.mark(batch.claims, question, self._short(premise.texts[0]), purpose)
        texts, cut = prompts.within(premise.texts, prompts.CONTEXT_CHARS, "context")
        self._cut += len(cut)
        if question:
            texts = [f"Question: {question}\nAnswer: {text}" for text in texts]
        return prompts.verify(batch.claims, texts, purpose, 0, partial=batch.task == "support")

    def _short(self, text: str, most: int = prompts.TEXT_CHARS) -> str:
        self._cut += len(text) > most
        return text[:most]


def _verdicts(reply: Any) -> BatchVerdicts:
    if reply.value is None:
        return BatchVerdicts(error=reply.error)
    by_number = sorted(reply.value.verdicts, key=lambda one: int(one.claim))
    return BatchVerdicts(tuple((_CODES[one.verdict], one.reason) for one in by_number))
