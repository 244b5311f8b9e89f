"""Retrieved: what a system retrieved for some questions, with every step on the way to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.fuse import FUSIONS, FusedParts
from karat.systems.chunk_columns import ChunkColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Chunk, Chunks
    from karat.core.ranked import Ranked
    from karat.core.run import Run
    from karat.match import Pages
    from karat.retrieve.rewrite import Rewritten
    from karat.systems.candidates import Candidates
    from karat.systems.settings import SystemSettings

    Seconds = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """What a system retrieved for some questions, with every step on the way to it.

    `legs` is what each engine that was consulted returned, `candidates` are theirs together where they were fused;
    `ranked` is the result, best first. `seconds` has a number a question for each step. `failed` are questions without
    a result, by number, with the reason: a store, or a model that rewrites or reranks, was asked in vain.
    """

    settings: SystemSettings
    chunks: Chunks
    ranked: Ranked
    legs: Mapping[str, Ranked]
    candidates: Candidates | None = None
    rewritten: tuple[Rewritten, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, Seconds] = field(default_factory=dict)
    failed: Mapping[int, str] = field(default_factory=dict)
    columns: dict[Pages, ChunkColumns] = field(default_factory=dict, repr=False, compare=False)  # of `chunks`

    @cached_property
    def parts(self) -> FusedParts | None:
        """How the fusion put the legs together, where there was one."""
        fusion, fused = FUSIONS.get(self.settings.fusion), self.candidates
        return None if fused is None else fusion.parts(fused.legs, **self.settings.fusion_settings)

    @property
    def total_seconds(self) -> list[float | None]:
        """The seconds of each question, all steps together; None of one that was not timed."""
        total = np.sum(list(self.seconds.values()), axis=0).tolist()
        return [spent if spent == spent else None for spent in total]

    def top(self, k: int) -> Retrieved:
        """The same with the first k hits of each question."""
        return replace(self, ranked=self.ranked.top(k))

    def hits(self, question: int) -> list[tuple[float, Chunk]]:
        """Score and chunk of each hit of a question, best first."""
        rows, scores = self.ranked.of(question)
        return [(score, self.chunks[row]) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    @property
    def whole(self) -> Ranked:
        """All that was ranked, however little `ranked` keeps: what was fused is fused again, which is soon done."""
        if self.settings.rerank is not None:
            return self.ranked
        return next(iter(self.legs.values())) if self.candidates is None else self.candidates.ranked(self.settings)

    def run(self, name: str, question_ids: Sequence[str], pages: Pages = "physical") -> Run:
        """The hits as a run that can be scored and written; what failed is a failed row in it."""
        columns = self.columns.setdefault(pages, ChunkColumns(self.chunks, pages))
        return columns.run(name, question_ids, self.ranked, self.failed)
