"""Explained: how one question came to its hits and its scores, as a person reads it step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import listing, plain_table, texts, title
from karat.report._numbers import number
from karat.report._screen import as_text, put
from karat.report.found import place_of, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.explanation import Explanation, FusedHit, LegHit, LegPart

_SNIPPET = 160
_TERMS = 6


def show(explanation: Explanation, stream: TextIO) -> None:
    """Write the steps to a stream."""
    put(lambda width: _blocks(explanation), stream)


def render(explanation: Explanation, *, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(explanation), width=width)


def as_json(explanation: Explanation) -> str:
    """One JSON object with every step."""
    e = explanation
    steps: dict[str, Any] = {
        "question": {"id": e.question.id, "text": e.question.text, "kind": e.question.kind},
        "system": e.system,
        "k": e.k,
        "queries": e.queries,
        "changes": e.changes,
        "legs": {name: [_leg_hit(hit) for hit in hits] for name, hits in e.legs},
        "fusion": e.fusion,
        "fused": [_fused_hit(hit, [name for name, _ in e.legs]) for hit in e.fused],
        "hits": [
            {"rank": h.rank, "score": h.score, "holds": h.new, "holds_again": h.again, **plain(h.chunk)} for h in e.hits
        ],
        "gold": [
            {"unit": u.label, "grade": u.grade, "chunks": u.chunks, "rank": u.rank, "legs": dict(u.ranks), "why": u.why}
            for u in e.units
        ],
        "measures": [{"measure": m.measure, "value": m.value, "reason": m.reason} for m in e.measures],
        "notes": e.notes,
        "seconds": dict(e.seconds),
    }
    return json.dumps(steps, ensure_ascii=False, indent=2)


def _leg_hit(hit: LegHit) -> dict[str, Any]:
    return {"rank": hit.rank, "id": hit.chunk, "score": hit.score, "made_of": dict(hit.made_of)}


def _fused_hit(hit: FusedHit, legs: list[str]) -> dict[str, Any]:
    parts = {
        leg: {"rank": p.rank, "score": p.score, "normalised": p.normalised, "contribution": p.contribution}
        for leg, p in zip(legs, hit.parts, strict=True)
    }
    return {"rank": hit.rank, "id": hit.chunk, "score": hit.score, "legs": parts}


def _blocks(e: Explanation) -> Iterator[RenderableType]:
    yield listing(*_head(e))
    for name, hits in e.legs:
        many = "nothing found" if not hits else "one hit" if len(hits) == 1 else f"its first {len(hits)}"
        yield title(f"{clean(name)}: {many}")
        yield from _leg(hits)
    if e.fusion is not None:
        yield title(f"Fusion by {clean(e.fusion)}: rank and score in each leg, normalised, what it contributes")
        yield _fusion(e)
    yield title(f"Result: the first {e.k} beside the gold")
    yield from _hits(e)
    yield title("Gold")
    yield from _gold(e)
    yield title("Measures")
    yield listing(*((m.measure, _value(m.value, m.reason)) for m in e.measures))
    yield from texts([f"\n{clean(note)}" for note in e.notes])


def _head(e: Explanation) -> Iterator[tuple[str, str]]:
    kind = f" ({clean(e.question.kind)})" if e.question.kind else ""
    yield "question", f"{clean(e.question.id)}{kind}: {clean(e.question.text)}"
    yield from (("answer", clean(answer)) for answer in e.question.answers[:1])
    yield "system", f"{clean(e.system)}, k={e.k}"
    if e.seconds:
        steps = ", ".join(f"{clean(step)} {spent * 1000:.1f} ms" for step, spent in e.seconds)
        yield "time", f"{sum(spent for _, spent in e.seconds) * 1000:.1f} ms ({steps})"
    yield from (("rewritten", clean(change)) for change in e.changes)
    if len(e.queries) > 1:
        yield "searched", clean(" | ".join(e.queries))


def _leg(hits: tuple[LegHit, ...]) -> Iterator[RenderableType]:
    if not hits:
        return
    table = plain_table("", "chunk", "score", "made of", right=(0, 2))
    for hit in hits:
        shown = sorted((part for part in hit.made_of if part[1]), key=lambda part: -abs(part[1]))
        terms = " + ".join(f"{clean(term, 24)} {weight:.3f}" for term, weight in shown[:_TERMS])
        rest = f" + {len(shown) - _TERMS} more" if len(shown) > _TERMS else ""
        table.add_row(*texts([str(hit.rank), clean(hit.chunk, 60), f"{hit.score:.4f}", terms + rest]))
    if not any(len(hit.made_of) > 1 for hit in hits):
        table.columns.pop()
    yield table


def _fusion(e: Explanation) -> RenderableType:
    table = plain_table("", "chunk", *(clean(name, 40) for name, _ in e.legs), "fused", right=(0, 2 + len(e.legs)))
    for hit in e.fused:
        table.add_row(*texts([str(hit.rank), clean(hit.chunk, 60), *map(_part, hit.parts), f"{hit.score:.4f}"]))
    return table


def _part(part: LegPart) -> str:
    found = "not found" if part.rank is None else f"{part.rank}. {part.score:.4f}"
    return f"{found} → {part.normalised:.4f} → {part.contribution:.4f}"


def _hits(e: Explanation) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    if not e.hits:
        yield Text("Nothing was found.")
    for hit in e.hits:
        mark = "✓" if hit.new else "✗"
        head = Text(f"{mark} {hit.rank}. {clean(hit.chunk.id, 80)}", style="green" if hit.new else "")
        head.append(f"  {hit.score:.4f}  {place_of(hit.chunk)}".rstrip(), style="dim")
        yield head
        for label in hit.new:
            yield Padding(Text(f"holds {clean(label, 100)}"), (0, 0, 0, 5))
        for label in hit.again:
            yield Padding(Text(f"holds again, which counts once: {clean(label, 80)}"), (0, 0, 0, 5))
        yield Padding(Text(clean(" ".join(hit.chunk.text.split()), _SNIPPET), style="dim"), (0, 0, 0, 5))


def _gold(e: Explanation) -> Iterator[RenderableType]:
    if not e.units:
        unanswerable = "" if e.question.answerable else ", and is marked unanswerable"
        yield from texts([f"The question has no gold{unanswerable}: its measures are undefined."])
        return
    for unit in e.units:
        mark = "✓" if unit.rank is not None and unit.rank <= e.k else "✗"
        grade = "" if unit.grade == 1 else f" (grade {unit.grade})"
        held = f"held by {unit.chunks:,} chunk{'s' if unit.chunks != 1 else ''}"
        where = ", ".join(f"{clean(name)} {_rank(rank)}" for name, rank in unit.ranks)
        result = f"rank {unit.rank} in the result" if unit.rank is not None else "not in the result"
        why = f"; {clean(unit.why)}" if unit.why else ""
        yield listing((mark, f"{clean(unit.label, 120)}{grade}: {held}; {result} ({where}){why}"))


def _rank(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"


def _value(value: float | None, reason: str | None) -> str:
    return number(value) if value is not None else f"undefined: {clean(reason or 'no reason given')}"
