"""Sample: chunks to ask about, spread over documents or where a test set asks little, and those left out."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from karat.core.docs import Chunks, Doc
from karat.core.errors import UsageError
from karat.core.text import tokenise
from karat.core.types import Question, TestSet
from karat.corpus import Docs
from karat.match import resolve
from karat.results.drafts import LeftOut, Sampled

LEAST_TOKENS = 40
# how likely a chunk is drawn beside one of a document that no question is about
_DOC_ASKED, _SECTION_ASKED, _CHUNK_ASKED = 1e-8, 1e-10, 1e-12
_SECTION = "section"  # where a chunk's meta names its section


def sample(
    chunks: Chunks,
    n: int,
    *,
    seed: int = 0,
    least_tokens: int = LEAST_TOKENS,
    wanted_docs: Collection[str] | None = None,
    weights: Mapping[int, float] | None = None,
    sections: Sequence[str | None] | None = None,
) -> Sampled:
    """Draw `n` chunks, and the order in which others follow.

    A document's share grows with the square root of its size: a handbook does not drown notices, and a notice of one
    chunk is not asked about as often as the handbook. The same holds of sections within a document; one without
    sections is cut into stretches. `weights` make rows more or less likely (1 where none is given, 0 leaves a row
    out). `sections` are those of all rows, where more is known than the chunks say.
    """
    if n < 1:
        raise UsageError(f"--samples {n}: at least one chunk has to be asked about.")
    out, named = _unfit(chunks, least_tokens, wanted_docs, weights or {})
    fit = [row for row in range(len(chunks)) if row not in out]
    sections = [own or other for own, other in zip(sections or [None] * len(chunks), named, strict=True)]
    order = _spread(chunks, fit, weights or {}, sections, seed)
    drawn, reserve = order[:n], order[n:]
    out.update({row: LeftOut(row, "not_drawn") for row in reserve})
    return Sampled(tuple(drawn), tuple(out[row] for row in sorted(out)), tuple(reserve), seed)


def _unfit(
    chunks: Chunks, least_tokens: int, wanted_docs: Collection[str] | None, weights: Mapping[int, float]
) -> tuple[dict[int, LeftOut], list[str | None]]:
    """Rows that are not to be asked about, each with its reason; and the section that each other chunk names."""
    from karat.core.text.boilerplate import boilerplate, repeated_lines
    from karat.testset.near_duplicates import near_duplicates

    out: dict[int, LeftOut] = {}
    repeated = repeated_lines(chunks.texts)
    wanted = None if wanted_docs is None else frozenset(wanted_docs)
    names: dict[str, str] = {}  # each once, however many chunks name it
    sections: list[str | None] = [None] * len(chunks)
    for row, doc in enumerate(chunks.column("doc")):
        if wanted is not None and doc not in wanted:
            out[row] = LeftOut(row, "other_document")
            continue
        if weights.get(row, 1.0) <= 0:
            out[row] = LeftOut(row, "covered", "there are questions about it")
            continue
        chunk = chunks[row]
        size = chunk.tokens if chunk.tokens is not None else len(tokenise(chunk.text, "words"))
        if size < least_tokens:
            out[row] = LeftOut(row, "short", f"{size} tokens, fewer than {least_tokens}")
        elif why := boilerplate(chunk.text, repeated):
            out[row] = LeftOut(row, "boilerplate", why)
        elif name := chunk.meta.get(_SECTION) or chunk.title:
            sections[row] = names.setdefault(name, name)
    out.update(near_duplicates(chunks, [row for row in range(len(chunks)) if row not in out]))
    return out, sections


def _spread(
    chunks: Chunks,
    rows: Sequence[int],
    weights: Mapping[int, float],
    sections: Sequence[str | None],
    seed: int,
) -> list[int]:
    """The rows in an order of which any beginning is spread over documents and sections."""
    rng = np.random.default_rng([seed, len(chunks)])
    luck = rng.random(len(chunks)).tolist()
    docs, spans = chunks.column("doc"), chunks.column("span")
    by_doc: dict[str, list[int]] = {}
    for row in rows:
        by_doc.setdefault(docs[row], []).append(row)
    queues = []
    for held in by_doc.values():
        held.sort(key=lambda row: (begins(spans[row]), row))
        parts = _sections(held, sections)
        lots = [sorted(part, key=lambda row: (_lot(luck[row], weights.get(row, 1.0)), row)) for part in parts]
        queues.append(_interleaved(lots, weights, rng))
    return _interleaved(queues, weights, rng)


def _lot(luck: float, weight: float) -> float:
    """A number that is lower the sooner a row comes: twice the weight, twice as likely to be before another."""
    return float(-np.log1p(-luck) / weight)


def _interleaved(queues: Sequence[Sequence[int]], weights: Mapping[int, float], rng: np.random.Generator) -> list[int]:
    """Queues as one, each coming up as often as the root of its weight says, from a place drawn by lot."""
    due: list[tuple[float, int, int]] = []
    for number, queue in enumerate(queues):
        pace = float(np.sqrt(sum(weights.get(row, 1.0) for row in queue)))
        begin = float(rng.random())
        due += [((turn + begin) / pace, number, row) for turn, row in enumerate(queue)]
    return [row for _, _, row in sorted(due, key=lambda one: one[:2])]


def _sections(rows: Sequence[int], sections: Sequence[str | None]) -> list[list[int]]:
    """The rows of a document, in its order, by section; by stretches of it where no section is known."""
    named: dict[str | None, list[int]] = {}
    for row in rows:
        named.setdefault(sections[row], []).append(row)
    if len(named) > 1:
        return list(named.values())
    (whole,) = named.values()
    count = max(1, round(len(whole) ** 0.5))
    ends = list(accumulate(len(part) for part in np.array_split(np.arange(len(whole)), count)))
    return [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def begins(span: tuple[int, int] | None) -> int:
    """Where a chunk with a span begins in its document; 0 where nobody knows."""
    return span[0] if span is not None else 0


def sections_of(chunks: Chunks, docs: Sequence[Doc] | None) -> list[str | None]:
    """For each row the title of the section that its beginning stands in; None where documents say nothing of it.

    Sections are those of the highest level of which a document has several.
    """
    starts: dict[str, tuple[list[int], list[str]]] = {}
    for doc in docs.outlined() if isinstance(docs, Docs) else docs or ():
        count = Counter(section.level for section in doc.sections)
        level = min((level for level, number in count.items() if number > 1), default=None)
        chosen = sorted((s.start, s.level, s.title) for s in doc.sections if level is not None and s.level <= level)
        if chosen:
            starts[doc.id] = [start for start, _, _ in chosen], [title for _, _, title in chosen]
    sections: list[str | None] = []
    for doc_id, span in zip(chunks.column("doc"), chunks.column("span"), strict=True) if starts else ():
        edges, titles = starts.get(doc_id, ([], []))
        place = -1 if span is None else bisect_right(edges, span[0]) - 1
        sections.append(titles[place] if place >= 0 else None)
    return sections or [None] * len(chunks)


@dataclass(frozen=True)
class AskedRows:
    """What questions are about: the rows that each kind asks about, all of them, and gold not found."""

    by_kind: dict[str, frozenset[int]]
    rows: frozenset[int]
    missing: int = 0
    notes: tuple[str, ...] = ()


def asked_rows(questions: Sequence[Question], chunks: Chunks, docs: Sequence[Doc] | None = None) -> AskedRows:
    """Which chunks the gold of questions stands in."""
    if not any(one.gold for one in questions):
        return AskedRows({}, frozenset())
    resolved = resolve(TestSet(questions), chunks, docs)
    by_kind: dict[str, frozenset[int]] = {}
    for unit, rows in enumerate(resolved.holders):
        kind = questions[int(resolved.units.question[unit])].kind or ""
        by_kind[kind] = by_kind.get(kind, frozenset()).union(rows.tolist())
    missing = len(resolved.unresolved)
    entries = f"{missing:,} gold {'entry' if missing == 1 else 'entries'} of the existing questions"
    note = f"{entries} cannot be found in this index: what they are about counts as not asked yet."
    return AskedRows(by_kind, frozenset().union(*by_kind.values()), missing, (note,) if missing else ())


def gap_weights(chunks: Chunks, covered: frozenset[int], sections: Sequence[str | None]) -> dict[int, float]:
    """How likely each row is drawn: most where no question is about its document, then its section, then the chunk."""
    doc_of = chunks.column("doc")
    docs = {doc_of[row] for row in covered}
    parts = {(doc_of[row], sections[row]) for row in covered if sections[row] is not None}
    weights = {}
    for row, doc in enumerate(doc_of):
        if row in covered:
            weights[row] = _CHUNK_ASKED
        elif (doc, sections[row]) in parts:
            weights[row] = _SECTION_ASKED
        elif doc in docs:
            weights[row] = _DOC_ASKED
        else:
            weights[row] = 1.0
    return weights
