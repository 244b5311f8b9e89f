"""Check: the doctor over a test set and an index on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.core.progress import shown_in_notebook

if TYPE_CHECKING:
    from karat.match import Pages
    from karat.results.checkup import Checkup
    from karat.systems.index import Index


@shown_in_notebook("progress")
def check(
    testset: Any,
    index: str | os.PathLike[str] | Index,
    *,
    results: Any = None,
    match: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
    only: Sequence[str] = (),
    audit: bool = True,
    columns: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Checkup:
    """What is wrong with a test set or with the index it is asked of, and the highest scores any ranking could reach.

    Every byte of the index is compared with its checksum first. `results` of a system over this index are looked at
    as well, where given. `only` names some of the checks. With `audit`, and all checks, the questions are audited too.
    """
    from karat.experiment.audit import audit as examine_questions
    from karat.experiment.audit import reading_notes
    from karat.files import as_runs, as_testset
    from karat.systems.index import Index
    from karat.testset.checkup import check as examine

    say = progress or (lambda step: None)
    say("reading the test set")
    questions, taken = as_testset(testset, columns=columns or {})
    say("verifying the index")
    opened = index if isinstance(index, Index) else Index.open(index, verify=True)
    runs, results_taken = as_runs(results, columns=columns or {}) if results is not None else ([], [])
    found = examine(
        questions, opened.chunks, opened.docs, problems=opened.problems, runs=runs, by=match, page_offset=page_offset,
        pages=pages, only=only, progress=say,
    )  # fmt: skip
    notes = reading_notes(questions, taken)
    notes += [f"{one.place}: {note}" for one in results_taken for note in one.notes]
    audited = None
    if audit and not only:
        audited = examine_questions(
            questions, opened, match=match, page_offset=page_offset, pages=pages, local=True, progress=say
        )
    return replace(found, notes=(*notes, *found.notes), audit=audited)
