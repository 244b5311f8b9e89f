"""Every check of the audit over a test set and the chunks it is asked of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from karat.core.docs import Chunks
from karat.core.errors import KaratError
from karat.results.audit import Audit
from karat.results.checkup import SEVERITIES, Finding
from karat.testset.audit._tables import kind_rows, language_rows
from karat.testset.audit._view import View
from karat.testset.audit.check import CHECKS, Check

if TYPE_CHECKING:
    from karat.core.docs import Doc
    from karat.core.means import Embeds, Means
    from karat.core.types import TestSet
    from karat.match import Pages
    from karat.retrieve import Engine
    from karat.testset.audit._view import Vectors

NO_CORPUS = "no index was given"


def audit(
    testset: TestSet,
    chunks: Chunks | None,
    docs: Sequence[Doc] | None = None,
    *,
    means: Means | None = None,
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
    `vectors` those of its chunks; without them they are built here, with the embedder of `means` or karat's own. `only`
    names some of the checks. A check that fails is itself a finding, and the others go on.
    """
    say = progress or (lambda step: None)
    chosen = [CHECKS.get(name) for name in only] or list(CHECKS)
    notes: list[str] = []
    view = _view(testset, chunks, docs, means, seed, by, pages, page_offset, engines, vectors, notes, say)
    left_out = {made.name: NO_CORPUS for made in chosen if made.corpus and not view.has_corpus}
    if chunks is not None and not view.has_corpus:
        left_out = dict.fromkeys(left_out, "the index is empty")
    findings: list[tuple[int, int, Finding]] = []
    for made in sorted(chosen, key=lambda c: (c.order, c.name)):
        if made.name not in left_out:
            say(made.name.replace("_", " "))
            findings += [(SEVERITIES.index(f.severity), made.order, f) for f in _found(made, view)]
    findings.sort(key=lambda found: found[:2])
    say("counting")
    known = view.has_corpus
    files = {doc.part_of or doc.id for doc in docs} if docs is not None else {chunk.doc for chunk in chunks or ()}
    return Audit(
        testset.name,
        testset.digest,
        len(testset),
        len(chunks) if chunks is not None else None,
        len(files) if chunks is not None else None,
        tuple(finding for _, _, finding in findings),
        kind_rows(view),
        language_rows(view),
        view.attained,
        view.coverage if known else None,
        view.detectable,
        left_out,
        (*notes, *(view.resolution.notes if known else ())),
    )


def _found(made: Check, view: View) -> list[Finding]:
    """What a check finds; if it fails, that."""
    try:
        return list(made.find(view))
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
                remedy="Report it with the command and the version of karat.",
            )
        ]


def _view(
    testset: TestSet,
    chunks: Chunks | None,
    docs: Sequence[Doc] | None,
    means: Means | None,
    seed: int,
    by: str,
    pages: Pages,
    page_offset: int,
    engines: Mapping[str, Engine] | None,
    vectors: Vectors | None,
    notes: list[str],
    say: Callable[[str], None],
) -> View:
    """What the checks see; what cannot be embedded is left out, and that is noted."""
    held = chunks if chunks is not None else Chunks([])
    built = dict(engines or {})
    texts = [f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text for chunk in held]
    if "bm25" not in built and len(held):
        from karat.retrieve import ENGINES

        say("indexing words")
        built["bm25"] = ENGINES.get("bm25").build(texts, {}, lambda what, done, total: None)
        if engines:
            notes.append("the index has no engine bm25: BM25 as karat builds it was asked instead.")
    if "dense" not in built and engines:
        notes.append("the dense engine of the index was not asked: the vectors of karat's own embedder were instead.")
    asked: Vectors | None = None
    try:
        say("embedding")
        embedder = _embedder(built.get("dense"), means)
        asked = embedder.embed([question.text for question in testset.questions], "query")
        if vectors is None and len(held):
            vectors = embedder.embed(texts, "passage")
    except KaratError as error:
        notes.append(f"nothing was embedded: {error} What needs embeddings is left out.")
        asked, vectors = None, None
        built.pop("dense", None)
    return View(testset, held, docs, built, vectors, asked, seed, by, pages, page_offset)


def _embedder(dense: Engine | None, means: Means | None) -> Embeds:
    """What made the vectors of the index; else the one that was given, else karat's own."""
    made = getattr(dense, "embedder", None)
    if made is not None:
        found: Embeds = made
        return found
    if means is not None and means.embedder is not None:
        return means.embedder()
    from karat.models import EmbedderSettings, embedder_named

    return embedder_named(EmbedderSettings())
