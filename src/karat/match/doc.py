"""doc: the hit comes from the gold document; a chunk suffix (`::chunk-3`, `#12`, `_chunk_0`) is stripped from ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._files import FileNames
from karat.match._matcher import Context, Keys, Matcher, column, ids_of, plain_id, share_matching

_SUFFIX = re.compile(
    r"(?:::?(?:chunk|passage|part)[-_:]?\d+|#(?:chunk[-_]?)?\d+|[_-](?:chunk|passage|part)[-_]?\d+)$", re.I
)


def document_of(identifier: str) -> str:
    """The id without its chunk suffix; an id that is nothing but a suffix stays whole.

    >>> document_of("guide.pdf::chunk-3"), document_of("a#12"), document_of("doc_34_chunk_0"), document_of("d-7")
    ('guide.pdf', 'a', 'doc_34', 'd-7')
    """
    whole = identifier.strip()
    return _SUFFIX.sub("", whole) or whole


def _gold_key(gold: Gold) -> str | None:
    name = gold.doc if gold.doc is not None else plain_id(gold)
    return document_of(name) if name else None


def _prepare(context: Context) -> tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]:
    named = [g for g in context.golds if g.doc is not None]
    if not named or all(column(run, "doc") is None for run in context.runs):
        return _gold_key, lambda run: [document_of(doc) for doc in run.doc_list]
    files = FileNames(named, context.runs, "documents")

    def gold_key(gold: Gold) -> str | None:
        return document_of(files.of(gold.doc)) if gold.doc is not None else _gold_key(gold)

    def hit_keys(run: Run) -> Sequence[Keys]:
        docs = column(run, "doc") or [None] * len(run)
        return [document_of(files.of(d) if d is not None else i) for d, i in zip(docs, run.doc_list, strict=True)]

    return gold_key, hit_keys


def _fits(context: Context) -> str | None:
    """Only gold that names documents: chunk ids in the gold are a stricter unit, never loosened unasked."""
    if any(g.doc is not None and g.page is None and g.quote is None and g.span is None for g in context.golds) and any(
        column(run, "doc") is not None for run in context.runs
    ):
        return "the gold names documents and the hits say which document they come from"
    gold_has = share_matching(_SUFFIX.search, ids_of(context.golds))
    hits_have = max((share_matching(_SUFFIX.search, run.docs) for run in context.runs), default=0.0)
    if gold_has == 0 and hits_have > 0.5:
        return "the gold names documents and the hits carry chunk suffixes"
    return None


matcher = Matcher(
    "doc",
    unit="document",
    summary="the hit comes from the gold document; chunk suffixes are stripped from ids",
    strictness=60,
    prepare=_prepare,
    fits=_fits,
)
