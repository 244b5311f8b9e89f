"""Drafts: questions on their way into a test set, what became of each, and how the chunks were chosen. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

from karat.core.docs import Chunk
from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.core.types import Question


@dataclass(frozen=True, slots=True)
class Fragment:
    """A chunk that a question is asked about: its row in the index, and the language it is written in ("en")."""

    row: int
    chunk: Chunk
    language: str


@dataclass(frozen=True)
class Draft:
    """A question before it is accepted. `quotes` are what holds the answer, one for each fragment, word for word.

    An unanswerable draft has no answer and no quotes, and its fragments are what it pretends to be about. `source` is
    how it was made: `offline/definition`, or a kind's prompt with its version, `literal/1`.
    """

    text: str
    kind: str
    fragments: tuple[Fragment, ...]
    _: KW_ONLY
    answer: str | None = None
    quotes: tuple[str, ...] = ()
    language: str = ""
    answerable: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    model: str | None = None


@dataclass(frozen=True)
class Rejected:
    """A draft that was not accepted, by one reason (the name of a filter, or of what went wrong), and in words.

    `draft` None: the model gave nothing that could be read.
    """

    reason: str
    detail: str
    kind: str
    _: KW_ONLY
    rows: tuple[int, ...]
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A chunk that no question was asked about, and why: `short`, `near_duplicate`, `boilerplate`, `not_drawn` ..."""

    row: int
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Sampled:
    """Chunks drawn to be asked about, in the order in which they are asked, and every other with its reason.

    `reserve` are further chunks, in order, to turn to where one of the first gives no accepted question.
    """

    rows: tuple[int, ...]
    left_out: tuple[LeftOut, ...] = ()
    reserve: tuple[int, ...] = ()
    seed: int = 0


@dataclass(frozen=True, repr=False, kw_only=True)
class Generated(NotebookView):
    """Questions that were made and accepted, what was rejected, and how many of each kind were wanted."""

    questions: tuple[Question, ...]
    rejected: tuple[Rejected, ...]
    sampled: Sampled
    wanted: Mapping[str, int]  # kind -> questions wanted
    drafts: Mapping[str, Draft] = field(default_factory=dict)  # question id -> what it was made from
    notes: tuple[str, ...] = ()

    def _line(self) -> str:
        return f"{plural(len(self.questions), 'question')}, {len(self.rejected):,} rejected"

    def _table(self) -> Table:
        rows = (
            (kind, wanted, sum(q.kind == kind for q in self.questions), sum(r.kind == kind for r in self.rejected))
            for kind, wanted in self.wanted.items()
        )
        return ("kind", "wanted", "accepted", "rejected"), rows
