"""Generated: what came of making a test set: questions by kind, why drafts were rejected, the sample, the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import Cell, Row, grids, listing, texts, title
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core.docs import Chunks
    from karat.core.types import TestSet
    from karat.results.drafts import Generated, LeftOut, Rejected

_FEW = 5  # questions, rejected drafts and chunks shown unless all are asked for
_NOT_DRAWN = "not_drawn"


def show(
    made: Generated,
    chunks: Chunks,
    testset: TestSet,
    stream: TextIO,
    *,
    spent: str | None = None,
    output: str | None = None,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Write to a stream what came of it. `verbose` names every rejected draft and every chunk that was left out."""
    put(lambda width: _blocks(made, chunks, testset, width, spent, output, quiet, verbose), stream)


def render(made: Generated, chunks: Chunks, testset: TestSet, **how: Any) -> str:
    """The same as text."""
    settings: dict[str, Any] = {"spent": None, "output": None, "quiet": False, "verbose": False, **how}
    return as_text(lambda width: _blocks(made, chunks, testset, width, **settings))


def as_json(
    made: Generated, chunks: Chunks, testset: TestSet, *, spent: Mapping[str, Any] | None, output: str | None
) -> str:
    """One JSON object: counts, the sample, every rejected draft and every chunk left out, each with its reason."""
    import json

    told = {
        "output": output,
        "questions": len(testset),
        "new": len(made.questions),
        "digest": testset.digest,
        "wanted": dict(made.wanted),
        "accepted": accepted(made),
        "tried": tried(made),
        "rejected": rejected(made),
        "sample": [chunks[row].id for row in made.sampled.rows],
        "left_out": [
            {"chunk": chunks[one.row].id, "reason": one.reason, "detail": one.detail} for one in made.sampled.left_out
        ],
        "drafts_rejected": [
            {
                "kind": one.kind,
                "reason": one.reason,
                "detail": one.detail,
                "chunks": [chunks[row].id for row in one.rows],
                "question": None if one.draft is None else one.draft.text,
            }
            for one in made.rejected
        ],
        "model": None if spent is None else dict(spent),
        "notes": list(made.notes),
    }
    return json.dumps(told, ensure_ascii=False, indent=2)


def accepted(made: Generated) -> dict[str, int]:
    """New questions of each kind that was wanted."""
    count = Counter(one.kind for one in made.questions)
    return {kind: count[kind] for kind in made.wanted}


def rejected(made: Generated) -> dict[str, int]:
    """Drafts rejected by each reason, the commonest first."""
    return dict(sorted(Counter(one.reason for one in made.rejected).items(), key=lambda pair: (-pair[1], pair[0])))


def tried(made: Generated) -> int:
    """Drafts that were tried: each is a question now, or rejected."""
    return len(made.questions) + len(made.rejected)


def verdict(made: Generated) -> str:
    """One sentence: how many questions there are of those wanted."""
    wanted = sum(made.wanted.values())
    if not made.questions:
        return (
            f"no question was made: {_drafts(len(made.rejected))} tried, and none passed."
            if made.rejected
            else "no question was made: no chunk is left to ask about."
        )
    return f"{_questions(len(made.questions))} of {wanted:,} wanted: {_drafts(tried(made))} tried."


def _questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}"


def _drafts(count: int) -> str:
    return f"{count:,} draft{' was' if count == 1 else 's were'}"


def _blocks(
    made: Generated,
    chunks: Chunks,
    testset: TestSet,
    width: int,
    spent: str | None,
    output: str | None,
    quiet: bool,
    verbose: bool,
) -> Iterator[RenderableType]:
    yield listing(*_head(made, testset, spent, output))
    yield title("Questions by kind")
    yield from _by_kind(made, width)
    if made.rejected:
        yield title(f"Rejected drafts: {len(made.rejected):,}")
        yield listing(*((reason, f"{count:,}") for reason, count in rejected(made).items()))
        if verbose:
            yield listing(*(_one_rejected(one, chunks) for one in made.rejected))
    if not quiet:
        yield title("Sample")
        yield from _sample(made, chunks, verbose)
        if made.questions:
            yield title("Some of the questions" if not verbose else "Questions")
            yield listing(*((one.id, clean(one.text)) for one in _spread(made, verbose)))
    if made.notes:
        yield title("Worth knowing")
        yield from texts([clean(note) for note in made.notes])


def _head(made: Generated, testset: TestSet, spent: str | None, output: str | None) -> Iterator[tuple[str, str]]:
    yield "made", verdict(made)
    if output is not None:
        yield "test set", clean(f"{output}: {_questions(len(testset))}, digest {testset.digest[:12]}")
    if spent is not None:
        yield "model", clean(spent)


def _by_kind(made: Generated, width: int) -> Iterator[RenderableType]:
    reasons = {kind: Counter(one.reason for one in made.rejected if one.kind == kind) for kind in made.wanted}
    rows = [
        Row(clean(kind), [Cell(f"{n:,}") for n in (made.wanted[kind], number, reasons[kind].total())])
        for kind, number in accepted(made).items()
    ]
    yield from grids("kind", ["wanted", "accepted", "rejected"], rows, width)


def _sample(made: Generated, chunks: Chunks, verbose: bool) -> Iterator[RenderableType]:
    sampled = made.sampled
    docs = Counter(chunks[row].doc for row in sampled.rows)
    whole = len({chunk.doc for chunk in chunks})
    drawn = f"{len(sampled.rows):,} of {len(chunks):,} chunks, from {len(docs):,} of {whole:,} documents"
    yield listing(("drawn", f"{drawn} (seed {sampled.seed})"))
    count = Counter(one.reason for one in sampled.left_out)
    if count:
        yield listing(*((reason, f"{number:,} left out") for reason, number in sorted(count.items())))
    why = [one for one in sampled.left_out if one.reason != _NOT_DRAWN]
    shown = why if verbose else why[:_FEW]
    if shown:
        yield listing(*(_one_left_out(one, chunks) for one in shown))
    if len(shown) < len(why):
        yield from texts([f"and {len(why) - len(shown):,} more: -v names them all."])


def _one_left_out(one: LeftOut, chunks: Chunks) -> tuple[str, str]:
    return clean(chunks[one.row].id), clean(f"{one.reason}: {one.detail}" if one.detail else one.reason)


def _one_rejected(one: Rejected, chunks: Chunks) -> tuple[str, str]:
    about = ", ".join(chunks[row].id for row in one.rows)
    asked = f' "{one.draft.text}"' if one.draft is not None else ""
    return clean(f"{one.kind} {one.reason}"), clean(f"{about}:{asked} {one.detail}")


def _spread(made: Generated, verbose: bool) -> list[Any]:
    """All questions, or the first of each kind."""
    if verbose:
        return list(made.questions)
    first: dict[str | None, Any] = {}
    for one in made.questions:
        first.setdefault(one.kind, one)
    return list(first.values())[: 2 * _FEW]
