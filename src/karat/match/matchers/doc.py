"""doc: the hit comes from the gold document. A document is compared whole; a chunk id names one less its suffix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._files import FileNames
from karat.match._matcher import (
    Keys,
    Matcher,
    MatchInputs,
    Rule,
    best_share,
    column,
    column_or_none,
    ids_of,
    plain_id,
    sample,
    share_matching,
    unknown_document,
)

_SUFFIX = re.compile(
    r"(?:::?(?:chunk|passage|part)[-_:]?\d+|#(?:chunk[-_]?)?\d+|[_-](?:chunk|passage|part)[-_]?\d+)$", re.I
)


def document_of(identifier: str) -> str:
    """A chunk id without its suffix (`::chunk-3`, `#12`, `_chunk_0`); one that is nothing but a suffix stays whole.

    >>> document_of("guide.pdf::chunk-3"), document_of("a#12"), document_of("doc_34_chunk_0"), document_of("d-7")
    ('guide.pdf', 'a', 'doc_34', 'd-7')
    """
    whole = identifier.strip()
    return _SUFFIX.sub("", whole) or whole


def _name(gold: Gold) -> str | None:
    """The document of an entry: the one it names, else what its id says of it."""
    if gold.doc is not None and gold.doc.strip():
        return gold.doc.strip()
    identifier = plain_id(gold)
    return document_of(identifier) if identifier else None


def _prepare(inputs: MatchInputs) -> Rule:
    named = {name for g in inputs.golds if (name := _name(g))}
    files = FileNames([Gold(doc=name) for name in sorted(named)], inputs.runs)

    def gold_key(gold: Gold) -> str | None:
        name = _name(gold)
        return None if name is None else files.of(name)

    def of_id(identifier: str) -> str:
        whole = identifier.strip()
        return files.of(whole if whole in named else document_of(whole))

    def hit_keys(run: Run) -> Sequence[Keys]:
        docs = column_or_none(run, "doc")
        compared = {doc: files.of(doc) for doc in set(docs) if doc is not None}
        return [compared[d] if d is not None else of_id(i) for d, i in zip(docs, run.doc_list, strict=True)]

    return gold_key, hit_keys


def _fits(inputs: MatchInputs) -> str | None:
    """Only gold that names documents: chunk ids in the gold are a stricter unit, never loosened unasked."""
    if any(g.doc is not None and plain_id(replace(g, doc=None)) is None for g in inputs.golds):
        return "the gold names documents"
    ids = ids_of(inputs.golds)
    if share_matching(_SUFFIX.search, ids) > 0:
        return None
    if best_share(_SUFFIX.search, inputs.runs) > 0.5:
        return "the gold names documents and the hits carry chunk suffixes"
    known = {i.strip() for i in ids}
    if any(str(doc).strip() in known for run in inputs.runs for doc in sample(column(run, "doc") or ())):
        return "the ids of the gold are no chunk ids: they are read as the documents that chunks come from"
    return None


matcher = Matcher(
    "doc",
    unit="document",
    summary="the hit comes from the gold document; a hit that names none has the chunk suffix of its id stripped",
    strictness=60,
    prepare=_prepare,
    fits=_fits,
    why=unknown_document,
    larger=True,
)
