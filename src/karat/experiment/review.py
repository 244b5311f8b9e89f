"""Reviewing a test set: its questions one by one, with gold and what the audit says, and the decisions applied."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.testset.review import Review, review_path

if TYPE_CHECKING:
    from karat.core.docs import Chunk
    from karat.core.types import Question, TestSet
    from karat.experiment.index import Index
    from karat.match import Resolution

PathLike = str | os.PathLike[str]
KEYS = {
    "k": "keep", "d": "drop", "e": "edit the question", "a": "edit the answer", "n": "next undecided",
    "b": "back", "u": "undecided again", "q": "quit",
}  # fmt: skip
ORIGINAL = ".original"


@dataclass(frozen=True)
class Page:
    """A question as it is shown: with the chunks that hold its gold, and the checks of the audit it is named by."""

    number: int  # from 1
    question: Question  # as it stands, edits included
    stood: Question  # as it is in the test set
    verdict: str | None
    chunks: tuple[Chunk, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass
class Session:
    """A review under way: where it is, and how fast it goes."""

    review: Review
    at: int | None
    resolution: Resolution | None = None
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decided: int = 0
    begun: float = field(default_factory=time.monotonic)

    @property
    def page(self) -> Page | None:
        """What is to be shown now; None: everything is decided."""
        if self.at is None:
            return None
        stood = self.review.testset.questions[self.at]
        decision = self.review.decisions.get(stood.id)
        chunks: tuple[Chunk, ...] = ()
        if self.resolution is not None:
            rows = self.resolution.gold_rows(self.at).tolist()
            chunks = tuple(self.resolution.chunks[row] for row in rows)
        return Page(
            self.at + 1, self.review.shown(stood), stood, decision.verdict if decision else None, chunks,
            self.remarks.get(stood.id, ()),
        )  # fmt: skip

    @property
    def seconds_each(self) -> float | None:
        """Seconds for a decision, in this session; None before the first."""
        return (time.monotonic() - self.begun) / self.decided if self.decided else None

    def do(self, line: str, ask: Callable[[str, str], str | None]) -> bool:
        """Carry out one command; False: to quit. `ask` gets what to ask for and the text as it stands.

        A command is a letter of KEYS or its word; what follows an edit is the new text.
        """
        word, _, rest = line.strip().partition(" ")
        key = word.lower()[:1]
        if key == "q":
            return False
        assert self.at is not None
        question = self.review.testset.questions[self.at]
        if key in ("k", "d"):
            self._count(question)
            self.review.decide(question, "keep" if key == "k" else "drop")
            self.at = self.review.undecided_after(self.at)
        elif key in ("e", "a"):
            self._edit(question, key, rest.strip(), ask)
        elif key == "n":
            after = self.review.undecided_after(self.at)
            self.at = after if after is not None else (self.at + 1) % len(self.review.testset)
        elif key == "b":
            self.at = max(0, self.at - 1)
        elif key == "u":
            self.review.forget(question)
        else:
            raise UsageError(f"{line.strip()!r} is no command. There are {', '.join(KEYS)}.")
        return True

    def _edit(self, question: Question, key: str, text: str, ask: Callable[[str, str], str | None]) -> None:
        now = self.review.shown(question)
        stands = now.text if key == "e" else (now.answers or ("",))[0]
        given = text or ask("question" if key == "e" else "answer", stands)
        if not given or not given.strip():
            return
        self._count(question)
        if key == "e":
            self.review.edit(question, text=given)
        else:
            self.review.edit(question, answer=given)

    def _count(self, question: Question) -> None:
        self.decided += question.id not in self.review.decisions


def begin(
    testset: PathLike,
    index: PathLike | Index | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    start: str | None = None,
    say: Callable[[str], None] = lambda step: None,
) -> Session:
    """A review at the first question that is undecided, or at `start`, with what stood decided before.

    With an index the chunks that hold the gold are shown, and the audit knows more.
    """
    from karat.experiment.audit import audit
    from karat.experiment.index import Index
    from karat.files import read_testset
    from karat.match import resolve

    say("reading the test set")
    questions, _ = read_testset(testset, columns=columns)
    review = Review.of(questions, review_path(testset))
    at = review.undecided_after(-1)
    if start is not None:
        if start not in questions.ids:
            raise UsageError(f"no question has the id {start!r}.{did_you_mean(start, questions.ids)}")
        at = questions.ids.index(start)
    opened = None if index is None else index if isinstance(index, Index) else Index.open(index)
    resolution = None
    if opened is not None:
        say("finding the gold in the index")
        resolution = resolve(questions, opened.chunks, opened.docs)
    remarks: dict[str, tuple[str, ...]] = {}
    try:
        for found in audit(questions, opened, local=True, progress=say).findings:
            for qid in found.questions if found.severity != "info" else ():
                remarks[qid] = (*remarks.get(qid, ()), found.check)
    except KaratError as problem:
        say(f"no audit: {problem}")
    return Session(review, at, resolution, remarks)


@dataclass(frozen=True)
class Applied:
    """A review that was applied: the file, what is in it, and where the original is kept (None: where it was)."""

    path: Path
    testset: TestSet
    original: Path | None
    review: Review


def apply_review(
    testset: PathLike, *, output: PathLike | None = None, columns: Mapping[str, str] | None = None
) -> Applied:
    """Write the test set with all decisions applied, to `output`, or in place with a copy of the original beside it."""
    from karat.files import frozen_beside, read_testset, write

    source = Path(testset)
    questions, taken = read_testset(source, columns=columns)
    review = Review.of(questions, review_path(source))
    if not review.decisions:
        raise UsageError(f"nothing is decided about {source} yet. Review it: `karat review {source}`.")
    made = review.reviewed()
    if output is not None:
        target = Path(output)
        if target.exists():
            raise UsageError(f"{target} exists, and nothing is overwritten unasked. Name another file.")
        write(made, target, inputs=(source,))
        return Applied(target, made, None, review)
    frozen = frozen_beside(source)
    if frozen is not None:
        raise UsageError(
            f"{source} is frozen as version {frozen.version} and is not changed in place. Name another file with -o."
        )
    if taken.format != "canonical" or not source.is_file():
        raise UsageError(f"{source} is {taken.format}, not karat's own JSONL. Name a file to write with -o.")
    original = keep_original(source)
    write(made, source, format="canonical")
    return Applied(source, made, original, replace(review.settled(made), outdated=review.outdated))


def keep_original(source: Path) -> Path:
    """A copy of a file beside it, under a name that nothing has yet: qa.jsonl.original, qa.jsonl.original-2 ..."""
    from karat.core.writing import write_whole

    path, number = source.with_name(source.name + ORIGINAL), 1
    while path.exists():
        number += 1
        path = source.with_name(f"{source.name}{ORIGINAL}-{number}")
    write_whole(path, source.read_bytes())
    return path
