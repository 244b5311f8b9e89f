"""Audit: how good a test set is: what is wrong with its questions, what they cover, and what they can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.docs import Chunks
from karat.core.errors import KaratError
from karat.results.audit import Audit
from karat.testset.attained import attained, detectable_by, kind_rows, language_rows
from karat.testset.check import AUDIT_CHECKS, CheckContext, run
from karat.testset.checkup import files_of
from karat.testset.topics import coverage_of

if TYPE_CHECKING:
    from karat.core.docs import Doc
    from karat.core.models import EmbeddingModel, Models
    from karat.core.types import TestSet
    from karat.match import Pages
    from karat.retrieve import Engine
    from karat.testset.check._context import Vectors

NO_CORPUS = "no index was given"


def audit(
    testset: TestSet,
    chunks: Chunks | None,
    docs: Sequence[Doc] | None = None,
    *,
    models: Models | None = None,
    seed: int = 0,
    by: str = "auto",
    pages: Pages = "physical",
    page_offset: int = 0,
    engines: Mapping[str, Engine] | None = None,
    vectors: Vectors | None = None,
    only: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """How good a test set is: what is wrong with its questions, what they cover, and what they can tell.

    Without `chunks` only what needs no corpus is looked at. `engines` are those of an index (`bm25`, `dense`), and
    `vectors` those of its chunks; without them they are built here, with the embedder of `models` or karat's own.
    `only` names some of the checks. A check that fails is itself a finding, and the others go on.
    """
    notify = progress or (lambda step: None)
    chosen = [AUDIT_CHECKS.get(name) for name in only] or list(AUDIT_CHECKS)
    notes: list[str] = []
    context = CheckContext(
        testset=testset, chunks=chunks if chunks is not None else Chunks([]), docs=docs, by=by, pages=pages,
        page_offset=page_offset, seed=seed, engines=engines or {}, vectors=vectors,
    )  # fmt: skip
    context = _searchable(context, models, notes, notify)
    known = context.has_corpus
    missing = NO_CORPUS if chunks is None else "the index is empty"
    left_out = {one.name: missing for one in chosen if one.corpus and not known}
    findings = run([one for one in chosen if one.name not in left_out], context, notify)
    notify("counting")
    return Audit(
        testset=testset.name,
        digest=testset.digest,
        questions=len(testset),
        chunks=len(chunks) if chunks is not None else None,
        docs=files_of(chunks, docs) if chunks is not None else None,
        findings=findings,
        kinds=kind_rows(context),
        languages=language_rows(context),
        attained=attained(context),
        coverage=coverage_of(context) if known else None,
        detectable=detectable_by(context),
        left_out=left_out,
        notes=(*notes, *(context.resolution.notes if known else ())),
    )


def _searchable(
    context: CheckContext, models: Models | None, notes: list[str], notify: Callable[[str], None]
) -> CheckContext:
    """The context with engines and vectors; what cannot be embedded is left out, and that is noted."""
    given, engines, vectors = bool(context.engines), dict(context.engines), context.vectors
    texts = [f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text for chunk in context.chunks]
    if "bm25" not in engines and texts:
        from karat.retrieve import ENGINES

        notify("indexing words")
        engines["bm25"] = ENGINES.get("bm25").build(texts, {}, lambda what, done, total: None)
        if given:
            notes.append("the index has no engine bm25: BM25 as karat builds it was asked instead.")
    if "dense" not in engines and given:
        notes.append("the dense engine of the index was not asked: the vectors of karat's own embedder were instead.")
    try:
        notify("embedding")
        embedder = _embedder(engines.get("dense"), models)
        asked = embedder.embed([question.text for question in context.questions], "query")
        if vectors is None and texts:
            vectors = embedder.embed(texts, "passage")
    except KaratError as error:
        notes.append(f"nothing was embedded: {error} What needs embeddings is left out.")
        engines.pop("dense", None)
        return replace(context, engines=engines, vectors=None)
    return replace(context, engines=engines, vectors=vectors, question_vectors=asked)


def _embedder(dense: Engine | None, models: Models | None) -> EmbeddingModel:
    """What made the vectors of the index; else the one that was given, else karat's own."""
    own: EmbeddingModel | None = getattr(dense, "embedder", None)
    if own is not None:
        return own
    if models is not None and models.embedder is not None:
        return models.embedder()
    from karat.models import EmbedderSettings, embedder_named

    return embedder_named(EmbedderSettings())
