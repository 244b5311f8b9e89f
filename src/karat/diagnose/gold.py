"""The doctor: what is wrong with a test set, or with the index it is asked of, before any score is believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose.ceilings import CUTS, ceilings
from karat.diagnose.check import CHECKS, Case, Check
from karat.results.checkup import SEVERITIES, Checkup, Finding, Reach

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
    say = progress or (lambda step: None)
    case = Case(testset, chunks, docs, tuple(problems), tuple(runs), by, page_offset, pages)
    chosen = [CHECKS.get(name) for name in only] or list(CHECKS)
    say("resolving the gold")
    resolution = case.resolution
    findings: list[tuple[int, int, Finding]] = []
    for made in sorted(chosen, key=lambda c: (c.order, c.name)):
        say(made.name.replace("_", " "))
        findings += [(SEVERITIES.index(f.severity), made.order, f) for f in _found(made, case)]
    findings.sort(key=lambda found: found[:2])
    say("working out the ceilings")
    kinds = Counter(kind for u, kind in enumerate(resolution.kinds) if resolution.relevant[u])
    files = {doc.part_of or doc.id for doc in docs} if docs is not None else {chunk.doc for chunk in chunks}
    return Checkup(
        testset.name,
        len(testset),
        len(chunks),
        len(files),
        reach_of(resolution),
        dict(sorted(kinds.items())),
        tuple(finding for _, _, finding in findings),
        ceilings(resolution, cuts),
        resolution.notes,
    )


def _found(made: Check, case: Case) -> list[Finding]:
    """What a check finds; if it fails, that."""
    try:
        return list(made.find(case))
    except MemoryError:
        raise
    except Exception as error:
        return [
            Finding(
                made.name,
                "broken",
                f"the check {made.name} failed",
                f"{type(error).__name__}: {error}. This is a mistake in the check, not in your data; nothing is known "
                "of what it looks for.",
                remedy="Report it with --debug's traceback." if made.find.__module__.startswith("karat.") else "",
            )
        ]


def reach_of(resolution: Resolution) -> Reach:
    """How much of the relevant gold some chunk holds."""
    of, reached = resolution.units.question[resolution.relevant], resolution.reached[resolution.relevant]
    size = len(resolution.testset)
    wanted, held = np.bincount(of, minlength=size), np.bincount(of[reached], minlength=size)
    has = wanted > 0
    return Reach(
        len(of),
        int(reached.sum()),
        int(has.sum()),
        int((has & (held == wanted)).sum()),
        int((has & (held == 0)).sum()),
    )
