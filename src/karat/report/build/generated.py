"""Generated test set: questions by kind, why drafts were rejected, the sample, the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report.document import (
    Block,
    Column,
    Detail,
    Document,
    Heading,
    Listing,
    ListItem,
    Table,
    Text,
    count_columns,
    facts,
)

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.types import Question, TestSet
    from karat.results.drafts import Generated, Rejected

_FEW = 5  # questions and chunks shown unless all are asked for
_NOT_DRAWN = "not_drawn"


def document(
    generated: Generated, chunks: Chunks, testset: TestSet, *, spent: str | None = None, output: str | None = None
) -> Document:
    """What came of making a test set; `spent` is what the model took, `output` where the questions are."""
    reasons = Counter(one.kind for one in generated.rejected)
    rows = [(kind, generated.wanted[kind], count, reasons[kind]) for kind, count in accepted(generated).items()]
    quiet = Detail.QUIET
    return Document(
        "Generated test set",
        [
            facts(_facts(generated, testset, spent, output), detail=quiet),
            Heading("Questions by kind", detail=quiet),
            Table("", [Column("kind"), *count_columns("wanted", "accepted", "rejected")], rows, detail=quiet),
            Heading(f"Rejected drafts: {len(generated.rejected):,}", detail=quiet),
            facts(((reason, f"{count:,}") for reason, count in rejected(generated).items()), detail=quiet),
            Listing([_rejected(one, chunks) for one in generated.rejected], detail=Detail.FULL),
            Heading("Sample"),
            *_sample(generated, chunks),
            Heading("Questions"),
            Listing([ListItem(one.id, one.text) for one in _spread(generated)], most=_kinds(generated)),
            Heading("Worth knowing", detail=quiet),
            *(Text(note, detail=quiet) for note in generated.notes),
        ],
    )


def accepted(generated: Generated) -> dict[str, int]:
    """New questions of each kind that was wanted."""
    count = Counter(one.kind for one in generated.questions)
    return {kind: count[kind] for kind in generated.wanted}


def rejected(generated: Generated) -> dict[str, int]:
    """Drafts rejected by each reason, the commonest first."""
    return dict(sorted(Counter(one.reason for one in generated.rejected).items(), key=lambda pair: (-pair[1], pair[0])))


def tried(generated: Generated) -> int:
    """Drafts that were tried: each is a question now, or rejected."""
    return len(generated.questions) + len(generated.rejected)


def verdict(generated: Generated) -> str:
    """One sentence: how many questions there are of those wanted."""
    drafts = f"{tried(generated):,} draft{' was' if tried(generated) == 1 else 's were'} tried"
    if generated.questions:
        return f"{plural(len(generated.questions), 'question')} of {sum(generated.wanted.values()):,} wanted: {drafts}."
    why = f"{drafts}, and none passed" if generated.rejected else "no chunk is left to ask about"
    return f"no question was made: {why}."


def _facts(generated: Generated, testset: TestSet, spent: str | None, output: str | None) -> Iterator[tuple[str, str]]:
    yield "made", verdict(generated)
    if output is not None:
        yield "test set", f"{output}: {plural(len(testset), 'question')}, digest {testset.digest[:12]}"
    if spent is not None:
        yield "model", spent


def _sample(generated: Generated, chunks: Chunks) -> Iterator[Block]:
    sampled = generated.sampled
    doc_of = chunks.column("doc")
    docs, whole = len({doc_of[row] for row in sampled.rows}), len(set(doc_of))
    drawn = f"{len(sampled.rows):,} of {len(chunks):,} chunks, from {docs:,} of {whole:,} documents"
    reasons = Counter(one.reason for one in sampled.left_out)
    left = [(reason, f"{count:,} left out") for reason, count in sorted(reasons.items())]
    yield facts([("drawn", f"{drawn} (seed {sampled.seed})"), *left])
    named = [one for one in sampled.left_out if one.reason != _NOT_DRAWN]
    texts = [f"{one.reason}: {one.detail}" if one.detail else one.reason for one in named]
    yield Listing([ListItem(chunks.ids[one.row], text) for one, text in zip(named, texts, strict=True)], most=_FEW)


def _rejected(one: Rejected, chunks: Chunks) -> ListItem:
    about = ", ".join(chunks[row].id for row in one.rows)
    asked = f' "{one.draft.text}"' if one.draft is not None else ""
    return ListItem(f"{one.kind} {one.reason}", f"{about}:{asked} {one.detail}")


def _spread(generated: Generated) -> list[Question]:
    """The first question of each kind, then all others."""
    first = list({one.kind: one for one in reversed(generated.questions)}.values())[::-1]
    return [*first, *(one for one in generated.questions if one not in first)]


def _kinds(generated: Generated) -> int:
    return min(len({one.kind for one in generated.questions}), 2 * _FEW)
