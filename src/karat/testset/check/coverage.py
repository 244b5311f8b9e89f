"""Coverage: documents and topics of the corpus that nobody asks about, and documents that have it all."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import percent, plural
from karat.testset.check._check import SHOWN, CheckContext, Finding, check
from karat.testset.topics import coverage_of, is_thin

_MOST = 0.5  # share of the questions about one document from which they are concentrated
_UNASKED = 0.5  # share of the chunks in documents without any question from which the corpus is hardly covered


@check(51)
def coverage(context: CheckContext) -> Iterator[Finding]:
    """Documents and topics that nobody asks about."""
    covered = coverage_of(context)
    if not covered.questions:
        return
    thin = [row for row in covered.topics if row.thin]
    if thin:
        yield Finding(
            check="coverage",
            severity="warning",
            title=f"{plural(len(thin), 'topic')} of {len(covered.topics):,} {'is' if len(thin) == 1 else 'are'} "
            "thin or untouched",
            text="Fewer questions than chance would give them, were questions spread over the chunks. Nothing is "
            "known of how well retrieval works there.",
            numbers={"topics": len(covered.topics), "thin": len(thin), "chunks": sum(row.chunks for row in thin)},
            examples=tuple(
                f"{', '.join(row.words)}: {plural(row.chunks, 'chunk')}, {plural(row.questions, 'question')} "
                f"(about {row.expected:.0f} would be even)"
                for row in sorted(thin, key=lambda row: (row.questions - row.expected, row.words))[:SHOWN]
            ),
            remedy="Add questions on them: `karat testset make --extend --fill-gaps` does.",
        )
    total = sum(row.questions for row in covered.by_doc)
    empty = [row for row in covered.by_doc if not row.questions]
    large = [row for row in empty if is_thin(0, total * row.chunks / covered.chunks)]
    held = sum(row.chunks for row in empty) / covered.chunks
    if empty:
        grave = bool(large) or held >= _UNASKED
        yield Finding(
            check="coverage",
            severity="warning" if grave else "info",
            title=f"{plural(len(empty), 'document')} of {covered.docs:,} {'has' if len(empty) == 1 else 'have'} no "
            "question",
            text=f"They hold {percent(held, 0)} of the chunks."
            + (f" {len(large):,} of them would have some by chance." if large else ""),
            numbers={"documents": len(empty), "of": covered.docs, "large": len(large), "chunks": held},
            examples=tuple(
                f"{row.doc}: {plural(row.chunks, 'chunk')}"
                for row in [*large, *(r for r in empty if r not in large)][:SHOWN]
            ),
            remedy="Add questions on them, or leave documents out that nobody will ask about.",
        )
    first = covered.by_doc[0]
    share, size = first.questions / covered.questions, first.chunks / covered.chunks
    if covered.docs > 1 and share >= _MOST and share >= 1.5 * size:
        yield Finding(
            check="coverage",
            severity="warning",
            title=f"{percent(share, 0)} of the questions are about one document, {first.doc}",
            text=f"It holds {percent(size, 0)} of the chunks. The scores tell of this document for the most part.",
            numbers={"share": share, "chunks": size, "document": first.doc},
            remedy="Add questions on the other documents, or report this one apart.",
        )
