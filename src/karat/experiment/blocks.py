"""What needs no endpoint, done block by block where there is a pool: answers, claims, measures of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.experiment.block_stages import AnswerBlock, answer_of, answers_to, plain_request
from karat.pool import BlockPool, Blocks

if TYPE_CHECKING:
    from karat.answer import Answerer, AnswererSettings
    from karat.core.asked import AnswerRequest
    from karat.core.types import Answer
    from karat.models import EmbedderSettings

ANSWERED = 512
"""Requests in a block: a multiple of what `extractive` embeds together."""


@dataclass(frozen=True)
class BlockWork:
    """A pool for blocks, and the embedder that its workers make; None: none that they could."""

    pool: BlockPool
    embedder: EmbedderSettings | None

    @classmethod
    def of(cls, pool: BlockPool, embedder: EmbedderSettings) -> BlockWork:
        """Endpoints that embed are asked from one place, and a folder of a model is loaded once on a machine."""
        is_alone = embedder.address is not None or (embedder.folder is not None and not pool.pool.is_cluster)
        return cls(pool, None if is_alone else embedder)

    @property
    def _models(self) -> dict[str, Any]:
        return {"embedder": None if self.embedder is None else self.embedder.plain()}

    def answerer(self, answerer: Answerer, settings: AnswererSettings) -> Answerer:
        """The same answerer by blocks, where workers can make it."""
        if self.embedder is None or not getattr(answerer, "is_portable", False):
            return answerer
        plain = {"answerer": settings.plain(), "fingerprint": answerer.fingerprint, **self._models}
        return _BlockAnswerer(answerer, plain, self.pool)


class _BlockAnswerer:
    """An answerer whose answers come in blocks."""

    def __init__(self, answerer: Answerer, settings: dict[str, Any], pool: BlockPool) -> None:
        self.name, self.fingerprint = answerer.name, answerer.fingerprint
        self._answerer, self._settings, self._pool = answerer, settings, pool

    def answer(self, asked: Sequence[AnswerRequest], done: Callable[[AnswerRequest, Answer], None]) -> None:
        blocks = Blocks(len(asked), ANSWERED, lambda start, end: list(map(plain_request, asked[start:end])))
        task = AnswerBlock.task(self._settings, f"answering by {self.name}")
        replies = self._pool.replies(task, blocks, partial(answers_to, self._answerer))
        for number, reply in enumerate(replies):
            for one, values in zip(asked[slice(*blocks.bounds(number))], reply, strict=True):
                done(one, answer_of(values, one.id))
