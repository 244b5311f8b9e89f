"""Audit: a test set and an index on disk, looked at for what the questions are worth."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.core.progress import shown_in_notebook

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.match import Pages
    from karat.results.audit import Audit
    from karat.results.evaluation import InputInfo
    from karat.retrieve import Engine
    from karat.systems.index import Index

NO_INDEX = "-"


@shown_in_notebook("progress")
def audit(
    testset: Any,
    index: str | os.PathLike[str] | Index | None = None,
    *,
    match: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
    only: Sequence[str] = (),
    seed: int = 0,
    local: bool = False,
    columns: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """How good a test set is, whoever made it: faulty questions, what they cover, and what they can tell.

    No model is asked. Without an index (None or "-") only what needs no corpus is looked at, and that is said. `only`
    names some of the checks. With `local` no endpoint is asked and no large model loaded: where one made the vectors of
    the index, karat's own embedder stands in.
    """
    from karat.files import as_testset
    from karat.systems.index import Index
    from karat.testset.audit import audit as examine

    say = progress or (lambda step: None)
    say("reading the test set")
    questions, taken = as_testset(testset, columns=columns or {})
    told = reading_notes(questions, taken)
    if index is None or index == NO_INDEX:
        found = examine(questions, None, seed=seed, only=only, progress=say)
        return replace(found, notes=(*told, *found.notes))
    opened = index if isinstance(index, Index) else Index.open(index)
    say("loading the index")
    engines: dict[str, Engine] = {name: opened.engine(name) for name in ("bm25", "dense") if name in opened.engines}
    if local and not _is_own(engines.get("dense")):
        engines.pop("dense", None)
    found = examine(
        questions, opened.chunks, opened.docs, seed=seed, by=match, pages=pages, page_offset=page_offset,
        engines=engines, vectors=_vectors(opened, engines), only=only, progress=say,
    )  # fmt: skip
    return replace(found, notes=(*told, *found.notes))


def reading_notes(questions: TestSet, taken: InputInfo | None) -> list[str]:
    """What is to be known of how the test set was read, and as which version it is frozen."""
    read = [note for note in (taken.notes if taken is not None else ()) if note != questions.changed]
    if questions.changed is not None:
        return [f"{questions.name} is {questions.changed}.", *read]
    return [*([f"{questions.name} is frozen as version {questions.version}."] if questions.version else ()), *read]


def _is_own(dense: Engine | None) -> bool:
    """Whether the vectors of an index were made by karat's own embedder, which is always there."""
    from karat.models import EmbedderSettings

    return dense is not None and dense.settings["embedder"]["name"] == EmbedderSettings().name


def _vectors(opened: Index, engines: Mapping[str, Engine]) -> Any:
    """The vectors of the chunks as the index holds them, one a row; None where it holds none that can be read."""
    import numpy as np

    from karat.models import text_digest
    from karat.retrieve.engines.dense import DenseEngine
    from karat.systems.index import searched

    dense = engines.get("dense")
    if not isinstance(dense, DenseEngine) or not len(dense.vectors):
        return None
    number = {digest.tobytes(): place for place, digest in enumerate(dense.digests)}
    titles = bool(opened.about["settings"].get("titles", True))
    made = np.zeros((len(opened.chunks), dense.vectors.shape[1]), np.float32)
    for row, chunk in enumerate(opened.chunks):
        place = number.get(text_digest(searched(chunk, titles)))
        if place is not None:
            made[row] = dense.vectors[place]
    return made
