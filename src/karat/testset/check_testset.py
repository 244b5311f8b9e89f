"""Check a test set: every fault of its questions and its gold, what it covers, and what differences it can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from karat.core.docs import Chunks, Doc
from karat.core.registry import entry_points
from karat.corpus import Docs
from karat.diagnose.ceilings import ceilings
from karat.match import Resolution
from karat.results.testset_check import GoldCoverage, TestSetCheck
from karat.testset.attained import attained, detectable_by, kind_rows, language_rows
from karat.testset.check import CHECKS, CheckContext, run
from karat.testset.topics import coverage_of

NO_INDEX = "no index was given"
OLD_GROUP = "karat.audits"  # of entry points, until 0.3.0


def check_testset(
    context: CheckContext,
    *,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    progress: Callable[[str], None] = lambda step: None,
) -> TestSetCheck:
    """Every check over a test set and the chunks of an index, gravest findings first.

    Without an index the checks that need one are named as not run. `only` and `skip` name checks; with `only` there are
    no tables. A check that fails is itself a finding, and the others go on.
    """
    skipped = {CHECKS.get(name).name for name in skip}
    chosen = [one for one in ([CHECKS.get(name) for name in only] or CHECKS) if one.name not in skipped]
    testset, chunks = context.testset, context.index_chunks
    not_run = {one.name: NO_INDEX for one in chosen if one.needs_index and chunks is None}
    not_run |= {one.name: f"plug-ins of {OLD_GROUP} belong to karat.checks now" for one in entry_points(OLD_GROUP)}
    result = TestSetCheck(testset=testset.name, digest=testset.digest, questions=len(testset), not_run=not_run)
    if chunks is not None:
        progress("resolving the gold")
        resolution = context.resolution
        matchers = Counter(kind for u, kind in enumerate(resolution.kinds) if resolution.relevant[u])
        result = replace(
            result, chunks=len(chunks), docs=_files(chunks, context.docs), reach=_reach(resolution),
            matchers=dict(sorted(matchers.items())), notes=resolution.notes,
        )  # fmt: skip
    result = replace(result, findings=run([one for one in chosen if one.name not in not_run], context, progress))
    if chunks is not None:
        progress("working out the ceilings")
        result = replace(result, ceilings=ceilings(context.resolution))
    if only:
        return result
    progress("counting")
    return replace(
        result, kinds=kind_rows(context), languages=language_rows(context), attained=attained(context),
        coverage=coverage_of(context) if context.has_corpus else None, detectable=detectable_by(context),
    )  # fmt: skip


def _files(chunks: Chunks, docs: Sequence[Doc] | None) -> int:
    """How many documents there are, those without a chunk included, which alone are read."""
    names = set(chunks.column("doc"))
    if docs is not None:
        known = names | set(chunks.ids)
        ids = docs.ids if isinstance(docs, Docs) else (doc.id for doc in docs)
        without_chunk = [docs[row] for row, id_ in enumerate(ids) if id_ not in known]
        names |= {doc.part_of or doc.id for doc in without_chunk}
    return len(names)


def _reach(resolution: Resolution) -> GoldCoverage:
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
