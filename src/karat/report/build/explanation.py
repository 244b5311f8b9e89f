"""Explanation: how one question came to its hits and its scores, step by step; and the hits of one search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import clean, excerpt, number, plural
from karat.report.document import Block, Cell, Column, Document, Heading, Listing, ListItem, Table, Text, facts

if TYPE_CHECKING:
    from karat.core.docs import Chunk
    from karat.results.explanation import EngineContribution, Explanation, GoldUnitTrace, JudgedHit, LegHit

_FOUND, _HELD = 240, 160  # characters shown of a hit's text
_TERMS = 6


def hits_document(hits: Sequence[tuple[float, Chunk]], notes: Sequence[str] = (), *, full: bool = False) -> Document:
    """Hits, best first; `full` shows their whole texts."""
    items = []
    for rank, (score, chunk) in enumerate(hits, 1):
        text = " ".join(chunk.text.split()) if full else excerpt(chunk.text, _FOUND)
        under = (chunk.title, text) if chunk.title else (text,)
        items.append(ListItem(f"{rank}.", f"{clean(chunk.id, 80)}  {score:.4f}  {place_of(chunk)}".rstrip(), under))
    block: Block = Listing(items) if items else Text("Nothing found: no chunk has anything in common with the query.")
    return Document("Hits", [*map(Text, notes), block])


def place_of(chunk: Chunk) -> str:
    """Where a chunk stands, in words: page, printed page where it differs, url."""
    parts = []
    if chunk.pages:
        parts.append(("page " if len(chunk.pages) == 1 else "pages ") + _range([str(p) for p in chunk.pages]))
        if chunk.labels and list(chunk.labels) != [str(p) for p in chunk.pages]:
            parts.append("printed " + _range(list(chunk.labels)))
    if chunk.url:
        parts.append(clean(chunk.url, 80))
    return ", ".join(parts)


def _range(values: Sequence[str]) -> str:
    return clean(values[0] if len(values) == 1 else f"{values[0]}-{values[-1]}")


def document(explanation: Explanation) -> Document:
    """Every step, from the query to the measures."""
    e = explanation
    blocks: list[Block] = [facts(_question(e))]
    for name, hits in e.legs:
        many = "nothing found" if not hits else "one hit" if len(hits) == 1 else f"its first {len(hits)}"
        blocks += [Heading(f"{name}: {many}"), _leg(hits)] if hits else [Text(f"{name}: {many}")]
    if e.fusion is not None:
        title = f"Fusion by {e.fusion}: rank and score by each engine, normalised, what it contributes"
        columns = [Column(""), Column("chunk"), *(Column(name) for name, _ in e.legs), Column("fused", "score")]
        rows = [[str(hit.rank), hit.chunk, *map(_part, hit.parts), f"{hit.score:.4f}"] for hit in e.fused]
        blocks += [Heading(title), Table("", columns, rows)]
    blocks += [Heading(f"Result: the first {e.k} beside the gold")]
    blocks.append(Listing([_hit(hit) for hit in e.hits]) if e.hits else Text("Nothing was found."))
    blocks += [Heading("Gold"), *_gold(e), Heading("Measures")]
    blocks.append(facts((m.measure, _measured(m.value, m.reason)) for m in e.measures))
    return Document(f"Question {e.question.id}", [*blocks, *map(Text, e.notes)])


def _question(e: Explanation) -> Iterator[tuple[str, str]]:
    kind = f" ({e.question.kind})" if e.question.kind else ""
    yield "question", f"{e.question.id}{kind}: {e.question.text}"
    yield from (("answer", answer) for answer in e.question.answers[:1])
    yield "system", f"{e.system}, k={e.k}"
    if e.seconds:
        steps = ", ".join(f"{step} {spent * 1000:.1f} ms" for step, spent in e.seconds)
        yield "time", f"{sum(spent for _, spent in e.seconds) * 1000:.1f} ms ({steps})"
    yield from (("rewritten", change) for change in e.changes)
    if len(e.queries) > 1:
        yield "searched", " | ".join(e.queries)


def _leg(hits: Sequence[LegHit]) -> Table:
    rows: list[list[Cell]] = []
    for hit in hits:
        parts = sorted((part for part in hit.made_of if part[1]), key=lambda part: -abs(part[1]))
        terms = " + ".join(f"{clean(term, 24)} {weight:.3f}" for term, weight in parts[:_TERMS])
        rest = f" + {len(parts) - _TERMS} more" if len(parts) > _TERMS else ""
        rows.append([str(hit.rank), hit.chunk, f"{hit.score:.4f}", terms + rest])
    columns = [Column("", "count"), Column("chunk"), Column("score", "score"), Column("made of")]
    several = 4 if any(len(hit.made_of) > 1 for hit in hits) else 3
    return Table("", columns[:several], [row[:several] for row in rows])


def _part(part: EngineContribution) -> str:
    place = "not found" if part.rank is None else f"{part.rank}. {part.score:.4f}"
    return f"{place} → {part.normalised:.4f} → {part.contribution:.4f}"


def _hit(hit: JudgedHit) -> ListItem:
    head = f"{'✓' if hit.new else '✗'} {hit.rank}."
    holds = [f"holds {clean(label, 100)}" for label in hit.new]
    holds += [f"holds again, which counts once: {clean(label, 80)}" for label in hit.again]
    name = f"{clean(hit.chunk.id, 80)}  {hit.score:.4f}  {place_of(hit.chunk)}".rstrip()
    return ListItem(head, name, (*holds, excerpt(hit.chunk.text, _HELD)))


def _gold(e: Explanation) -> Iterator[Block]:
    if e.units:
        yield Listing([_unit(e, unit) for unit in e.units])
    else:
        unanswerable = "" if e.question.answerable else ", and is marked unanswerable"
        yield Text(f"The question has no gold{unanswerable}: its measures are undefined.")


def _unit(e: Explanation, unit: GoldUnitTrace) -> ListItem:
    mark = "✓" if unit.rank is not None and unit.rank <= e.k else "✗"
    grade = "" if unit.grade == 1 else f" (grade {unit.grade})"
    where = ", ".join(f"{name} {'not found' if rank is None else f'rank {rank}'}" for name, rank in unit.ranks)
    result = f"rank {unit.rank} in the result" if unit.rank is not None else "not in the result"
    why = f"; {unit.why}" if unit.why else ""
    chunks = f"held by {plural(unit.chunks, 'chunk')}"
    return ListItem(mark, f"{clean(unit.label, 120)}{grade}: {chunks}; {result} ({where}){why}")


def _measured(value: float | None, reason: str | None) -> str:
    return number(value) if value is not None else f"undefined: {reason or 'no reason given'}"
