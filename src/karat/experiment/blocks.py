"""What needs no endpoint, done block by block where there is a pool: answers, claims, measures of answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import MeasureResult
from karat.experiment.block_stages import (
    AnswerBlock,
    JudgeBlock,
    ScoreBlock,
    answer_of,
    answers_to,
    claims_by,
    plain_table,
    results_of,
    verdicts_by,
)
from karat.measures.entailment import LEXICAL, MODEL
from karat.measures.entailment.judging import BatchVerdicts, ClaimBatch, ClaimJudge, SplitText
from karat.pool import BlockPool, Blocks, PoolChoice, open_pool

if TYPE_CHECKING:
    from karat.answer import Answerer, AnswererSettings
    from karat.core.answered import AnswerTable
    from karat.core.asked import AnswerRequest
    from karat.core.measure import Measure
    from karat.core.models import Models
    from karat.core.types import Answer
    from karat.models import EmbedderSettings

JUDGED = 1_024
"""Texts or claims in a block: as many as a model of this machine reads together, so that it reads the same ones."""
ANSWERED = 512
"""Requests in a block: a multiple of what `extractive` embeds together."""
SCORED = 512
"""Questions in a block, of all systems."""


def block_pool(pool: PoolChoice, folder: Path | None = None) -> BlockPool | None:
    """The pool that a function is called with, for blocks that stand in a folder; None where it is called with none."""
    return None if pool is None else BlockPool(open_pool(pool), folder)


@dataclass(frozen=True)
class BlockWork:
    """A pool for blocks, and the embedder that its workers make; None: none that they could."""

    pool: BlockPool
    embedder: EmbedderSettings | None

    @classmethod
    def of(cls, pool: BlockPool, embedder: EmbedderSettings) -> BlockWork:
        """Blocks for a pool, whose workers make the embedder unless the process that leads is to embed alone."""
        return cls(pool, None if embedder.is_made_once(is_cluster=pool.pool.is_cluster) else embedder)

    def _embedder(self, models: Models) -> dict[str, Any]:
        """The embedder as the settings of a stage say it, with what vectors it has to make."""
        assert self.embedder is not None
        assert models.embedder is not None
        return {"embedder": self.embedder.plain(), "vectors": models.embedder().fingerprint}

    def answerer(self, answerer: Answerer, settings: AnswererSettings, models: Models) -> Answerer:
        """The same answerer by blocks, where workers can make it; these models are what it asks."""
        if self.embedder is None or not getattr(answerer, "is_portable", False):
            return answerer
        plain = {"answerer": settings.plain(), "fingerprint": answerer.fingerprint, **self._embedder(models)}
        return _BlockAnswerer(answerer, plain, self.pool)

    def claim_judge(self, judge: ClaimJudge, named: str) -> ClaimJudge:
        """The same judge of claims by blocks; a model is loaded once on a machine."""
        if named == MODEL or (named != LEXICAL and not self.pool.pool.is_cluster):
            return judge
        return _BlockJudge(judge, named, self.pool)

    def __call__(self, answered: AnswerTable, measures: Sequence[Measure]) -> dict[str, MeasureResult]:
        """What measures give that look at the texts of each question alone, by name; the others are not in it."""
        able = [measure for measure in measures if self._may_score(measure)]
        systems = range(len(answered.systems))
        blocks = Blocks(len(answered.questions), SCORED, lambda start, end: plain_table(here_table(start, end)))
        if not able or len(blocks) < 2:
            return {}

        def here_table(start: int, end: int) -> AnswerTable:
            return answered.select(systems, range(start, end))

        settings: dict[str, Any] = {"measures": [measure.name for measure in able], "embedder": None}
        if any(measure.needs for measure in able):
            settings |= self._embedder(answered.models)
        task = ScoreBlock.task(settings, "computing measures")
        joined = [MeasureResult(np.full(len(answered), np.nan), {}, failed={}, details={}) for _ in able]
        for number, reply in enumerate(
            self.pool.replies(
                task, blocks, lambda start, end: results_of(able, here_table(start, end)), answered.models.progress
            )
        ):
            first, end = blocks.bounds(number)
            grid = np.arange(len(answered)).reshape(len(answered.systems), -1)[:, first:end].ravel().tolist()
            for result, values in zip(joined, reply, strict=True):
                result.values[grid] = values["values"]
                for name in ("undefined", "failed", "details"):
                    getattr(result, name).update((grid[pair], what) for pair, what in values[name])
        floored = (replace(one, floors=m.floors(answered, one.values)) for m, one in zip(able, joined, strict=True))
        return {measure.name: result for measure, result in zip(able, floored, strict=True)}

    def _may_score(self, measure: Measure) -> bool:
        """Whether workers know a measure and have what it asks."""
        spec = measure.spec
        asks = not measure.needs or (measure.needs == ("embedder",) and self.embedder is not None)
        ours = spec.function.__module__.startswith("karat.measures.")
        return spec.stage == "answer" and ours and asks and not measure.relations


class _BlockAnswerer:
    """An answerer whose answers come in blocks."""

    def __init__(self, answerer: Answerer, settings: dict[str, Any], pool: BlockPool) -> None:
        self.name, self.fingerprint = answerer.name, answerer.fingerprint
        self._answerer, self._settings, self._pool = answerer, settings, pool

    def answer(self, asked: Sequence[AnswerRequest], done: Callable[[AnswerRequest, Answer], None]) -> None:
        blocks = Blocks(len(asked), ANSWERED, lambda start, end: list(map(asdict, asked[start:end])))
        task = AnswerBlock.task(self._settings, f"answering by {self.name}")
        replies = self._pool.replies(task, blocks, lambda start, end: answers_to(self._answerer, asked[start:end]))
        for number, reply in enumerate(replies):
            for one, values in zip(asked[slice(*blocks.bounds(number))], reply, strict=True):
                done(one, answer_of(values, one.id))


class _BlockJudge:
    """A judge of claims whose verdicts come in blocks."""

    def __init__(self, judge: ClaimJudge, named: str, pool: BlockPool) -> None:
        self.name, self.prompt, self.most, self.tasks = judge.name, judge.prompt, judge.most, judge.tasks
        self._judge, self._pool = judge, pool
        self._settings = {"judge": named, "judged_by": f"{judge.name} {judge.prompt}"}

    def split(self, texts: Sequence[tuple[str, str]]) -> list[SplitText]:
        """The claims of each (question, text)."""
        blocks = Blocks(len(texts), JUDGED, lambda start, end: {"split": texts[start:end]})
        said = self._said("splitting into claims", blocks, lambda start, end: claims_by(self._judge, texts[start:end]))
        return [SplitText(tuple(claims), error) for claims, error in said]

    def judge(self, batches: Sequence[ClaimBatch]) -> list[BatchVerdicts]:
        """The verdicts on the claims of each batch."""
        ends = list(accumulate(len(batch.claims) for batch in batches))
        parts = partial(_claims_between, batches, ends)
        blocks = Blocks(
            ends[-1] if ends else 0, JUDGED, lambda start, end: {"judge": list(map(asdict, parts(start, end)))}
        )
        said = iter(
            self._said("judging claims", blocks, lambda start, end: verdicts_by(self._judge, parts(start, end)))
        )
        return [_verdicts([next(said) for _ in batch.claims]) for batch in batches]

    def notes(self) -> list[str]:
        """What a reader should know of how it judged."""
        return self._judge.notes()

    def _said(self, label: str, blocks: Blocks, here: Callable[[int, int], Any]) -> list[Any]:
        said: list[Any] = []
        before = getattr(self._judge, "cut", 0)
        cut = 0
        for reply in self._pool.replies(JudgeBlock.task(self._settings, label), blocks, here):
            said += reply["said"]
            cut += reply["cut"]
        if cut:
            self._judge.cut = before + cut  # type: ignore[attr-defined]
        return said


def _claims_between(batches: Sequence[ClaimBatch], ends: Sequence[int], start: int, end: int) -> list[ClaimBatch]:
    """The claims from one number to another, numbered over all batches."""
    parts = []
    for number in range(bisect_right(ends, start), len(batches)):
        batch, first = batches[number], ends[number] - len(batches[number].claims)
        if first >= end:
            break
        parts.append(replace(batch, claims=batch.claims[max(0, start - first) : end - first]))
    return parts


def _verdicts(said: Sequence[tuple[int | None, str]]) -> BatchVerdicts:
    """What was said of the claims of a batch; where one failed, all did."""
    failed = next((reason for verdict, reason in said if verdict is None), None)
    if failed is not None:
        return BatchVerdicts(error=failed)
    return BatchVerdicts(tuple((verdict, reason) for verdict, reason in said if verdict is not None))
