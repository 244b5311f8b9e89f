"""Checkup: what is wrong with a test set, or with the index it is asked of, before any score is believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose.ceilings import CUTS, ceilings
from karat.results.checkup import Checkup, GoldCoverage
from karat.testset.check import CHECKS, CheckContext, run

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc, Problem
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.match import Pages, Resolution


def check(
    testset: TestSet,
    chunks: Chunks,
    docs: Sequence[Doc] | None = None,
    *,
    problems: Sequence[Problem] = (),
    runs: Sequence[Run] = (),
    by: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
    cuts: Sequence[int] = CUTS,
    only: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Checkup:
    """Every check over a test set and the chunks of an index, gravest findings first.

    `docs` are the documents the chunks were cut from: with them quotes are found where chunks split them, and pages
    that hold no text are known. `problems` are the files that could not be read; `runs` results over this index.
    `only` names some checks. A check that fails is itself a finding, and the others go on.
    """
    notify = progress or (lambda step: None)
    context = CheckContext(
        testset=testset, chunks=chunks, docs=docs, problems=tuple(problems), runs=tuple(runs), by=by,
        page_offset=page_offset, pages=pages,
    )  # fmt: skip
    chosen = [CHECKS.get(name) for name in only] or list(CHECKS)
    notify("resolving the gold")
    resolution = context.resolution
    findings = run(chosen, context, notify)
    notify("working out the ceilings")
    kinds = Counter(kind for u, kind in enumerate(resolution.kinds) if resolution.relevant[u])
    return Checkup(
        testset=testset.name,
        questions=len(testset),
        chunks=len(chunks),
        docs=files_of(chunks, docs),
        reach=reach_of(resolution),
        kinds=dict(sorted(kinds.items())),
        findings=findings,
        ceilings=ceilings(resolution, cuts),
        notes=resolution.notes,
    )


def files_of(chunks: Chunks, docs: Sequence[Doc] | None) -> int:
    """How many files the chunks are of."""
    return len({doc.part_of or doc.id for doc in docs} if docs is not None else {chunk.doc for chunk in chunks})


def reach_of(resolution: Resolution) -> GoldCoverage:
    """How much of the relevant gold some chunk holds."""
    of, reached = resolution.units.question[resolution.relevant], resolution.reached[resolution.relevant]
    size = len(resolution.testset)
    wanted, held = np.bincount(of, minlength=size), np.bincount(of[reached], minlength=size)
    has = wanted > 0
    return GoldCoverage(
        units=len(of),
        reached=int(reached.sum()),
        questions=int(has.sum()),
        whole=int((has & (held == wanted)).sum()),
        without=int((has & (held == 0)).sum()),
    )
