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
    made: Generated, chunks: Chunks, testset: TestSet, *, spent: str | None = None, output: str | None = None
) -> Document:
    """What came of making a test set; `spent` is what the model took, `output` where the questions are."""
    reasons = Counter(one.kind for one in made.rejected)
    rows = [(kind, made.wanted[kind], count, reasons[kind]) for kind, count in accepted(made).items()]
    quiet = Detail.QUIET
    return Document(
        "Generated test set",
        [
            facts(_facts(made, testset, spent, output), detail=quiet),
            Heading("Questions by kind", detail=quiet),
            Table("", [Column("kind"), *count_columns("wanted", "accepted", "rejected")], rows, detail=quiet),
            Heading(f"Rejected drafts: {len(made.rejected):,}", detail=quiet),
            facts(((reason, f"{count:,}") for reason, count in rejected(made).items()), detail=quiet),
            Listing([_rejected(one, chunks) for one in made.rejected], detail=Detail.FULL),
            Heading("Sample"),
            *_sample(made, chunks),
            Heading("Questions"),
            Listing([ListItem(one.id, one.text) for one in _spread(made)], most=_kinds(made)),
            Heading("Worth knowing", detail=quiet),
            *(Text(note, detail=quiet) for note in made.notes),
        ],
    )


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
    drafts = f"{tried(made):,} draft{' was' if tried(made) == 1 else 's were'} tried"
    if made.questions:
        return f"{plural(len(made.questions), 'question')} of {sum(made.wanted.values()):,} wanted: {drafts}."
    return (
        f"no question was made: {f'{drafts}, and none passed' if made.rejected else 'no chunk is left to ask about'}."
    )


def _facts(made: Generated, testset: TestSet, spent: str | None, output: str | None) -> Iterator[tuple[str, str]]:
    yield "made", verdict(made)
    if output is not None:
        yield "test set", f"{output}: {plural(len(testset), 'question')}, digest {testset.digest[:12]}"
    if spent is not None:
        yield "model", spent


def _sample(made: Generated, chunks: Chunks) -> Iterator[Block]:
    sampled = made.sampled
    docs = len({chunks[row].doc for row in sampled.rows})
    whole = len({chunk.doc for chunk in chunks})
    drawn = f"{len(sampled.rows):,} of {len(chunks):,} chunks, from {docs:,} of {whole:,} documents"
    reasons = Counter(one.reason for one in sampled.left_out)
    left = [(reason, f"{count:,} left out") for reason, count in sorted(reasons.items())]
    yield facts([("drawn", f"{drawn} (seed {sampled.seed})"), *left])
    named = [one for one in sampled.left_out if one.reason != _NOT_DRAWN]
    texts = [f"{one.reason}: {one.detail}" if one.detail else one.reason for one in named]
    yield Listing([ListItem(chunks[one.row].id, text) for one, text in zip(named, texts, strict=True)], most=_FEW)


def _rejected(one: Rejected, chunks: Chunks) -> ListItem:
    about = ", ".join(chunks[row].id for row in one.rows)
    asked = f' "{one.draft.text}"' if one.draft is not None else ""
    return ListItem(f"{one.kind} {one.reason}", f"{about}:{asked} {one.detail}")


def _spread(made: Generated) -> list[Question]:
    """The first question of each kind, then all others."""
    first = list({one.kind: one for one in reversed(made.questions)}.values())[::-1]
    return [*first, *(one for one in made.questions if one not in first)]


def _kinds(made: Generated) -> int:
    return min(len({one.kind for one in made.questions}), 2 * _FEW)
