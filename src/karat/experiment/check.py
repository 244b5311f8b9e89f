"""Check: a test set, and the index it is asked of, looked at for faults before any score is believed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.core.progress import shown_in_notebook
from karat.experiment.settings import takes_settings

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.match import Pages
    from karat.results.evaluation import InputInfo
    from karat.results.testset_check import TestSetCheck
    from karat.retrieve.engines.dense import DenseEngine
    from karat.systems.index import Index


@shown_in_notebook("progress")
@takes_settings()
def check(
    testset: Any,
    index: str | os.PathLike[str] | Index | None = None,
    *,
    results: Any = None,
    match: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> TestSetCheck:
    """What is wrong with a test set, whoever made it, what it covers, and what differences it can show.

    With an index also whether its chunks hold the gold, if not why, and the highest scores any ranking of them could
    reach; every byte of it is compared with its checksum first. `results` over this index are looked at where given.
    `only` and `skip` name checks. No model and no endpoint is asked: where one made the vectors of the index, karat's
    own embedder stands in.
    """
    from karat.files import as_runs, as_testset
    from karat.systems.index import Index
    from karat.testset.check import CheckContext
    from karat.testset.check_testset import check_testset

    notify = progress or (lambda step: None)
    notify("reading the test set")
    questions, taken = as_testset(testset, columns=columns or {})
    runs, results_taken = as_runs(results, columns=columns or {}) if results is not None else ([], [])
    notes = [
        *_reading_notes(questions, taken),
        *(f"{one.place}: {note}" for one in results_taken for note in one.notes),
    ]
    context = CheckContext(questions, runs=runs)
    if index is not None:
        notify("verifying the index")
        opened = index if isinstance(index, Index) else Index.open(index, verify=True)
        bm25, dense = opened.engine("bm25") if "bm25" in opened.engines else None, _own_dense(opened)
        if bm25 is None:
            notes.append("the index has no engine bm25: BM25 as karat builds it was asked instead.")
        if dense is None:
            notes.append("the dense engine of the index was not asked: karat's own embedder was instead.")
        context = CheckContext(
            questions, opened.chunks, opened.docs, problems=opened.problems, runs=runs, by=match,
            page_offset=page_offset, pages=pages, index_bm25=bm25, index_dense=dense,
        )  # fmt: skip
    checked = check_testset(context, only=only, skip=skip, progress=notify)
    return replace(checked, notes=(*notes, *checked.notes))


def _reading_notes(questions: TestSet, taken: InputInfo | None) -> list[str]:
    """What is to be known of how the test set was read, and as which version it is frozen."""
    read = [note for note in (taken.notes if taken is not None else ()) if note != questions.changed]
    if questions.changed is not None:
        return [f"{questions.name} is {questions.changed}.", *read]
    return [*([f"{questions.name} is frozen as version {questions.version}."] if questions.version else ()), *read]


def _own_dense(opened: Index) -> DenseEngine | None:
    """The dense engine of an index if karat's own embedder, which is always there, made its vectors."""
    from karat.models import EmbedderSettings

    named = opened.embedder
    return usable_dense(opened) if named is not None and named.name == EmbedderSettings().name else None


def usable_dense(opened: Index) -> DenseEngine | None:
    """The dense engine of an index if the embedder that made its vectors is at hand."""
    from karat.core.errors import KaratError
    from karat.retrieve.engines.dense import DenseEngine

    dense = opened.engine("dense") if "dense" in opened.engines else None
    if not isinstance(dense, DenseEngine):
        return None
    try:
        return dense if dense.embedder else None
    except KaratError:  # another version of it
        return None
