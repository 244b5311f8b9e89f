"""What judges of claims are asked and what they reply; and the keys by which a verdict is known again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Protocol

from karat.core.claims import ClaimTable, Relation, Side
from karat.core.text import drop_blocks
from karat.core.text.citations import cited_sentences

ClaimTask = Literal["entail", "support", "relevant", "used"]
"""What is asked of a claim. `support` knows partial verdicts; `relevant` and `used` are of sentences of passages."""
_TASK_OF_SIDE: dict[Side, ClaimTask] = {
    "answer": "entail", "reference": "entail", "sentence": "support", "nugget": "support",
}  # fmt: skip
GIVEN = "given"
"""Who judged what a file brought: it goes before what any judge says."""


def task_of(relation: Relation) -> ClaimTask:
    """What is asked for a relation. A side has one task, so that a claim and a premise have one verdict."""
    if relation == "context by question":
        return "relevant"
    if relation == "context by answer":
        return "used"
    return _TASK_OF_SIDE[side_of(relation)]


def side_of(relation: Relation) -> Side:
    """The side whose claims a relation holds against something."""
    side: Side = relation.partition(" by ")[0]  # type: ignore[assignment]
    return side


@dataclass(frozen=True)
class ClaimPremise:
    """What a claim is held against. An answer or a reference stands beside its question, which it may leave out."""

    texts: tuple[str, ...]
    question: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether it says nothing, and so entails nothing."""
        return not any(any(map(str.isalnum, text)) for text in self.texts)


@dataclass(frozen=True)
class ClaimBatch:
    """Claims that are held against one premise together."""

    task: ClaimTask
    premise: ClaimPremise
    claims: tuple[str, ...]


@dataclass(frozen=True)
class BatchVerdicts:
    """A verdict with its reason for each claim of a batch, or why there are none."""

    verdicts: tuple[tuple[int, str], ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class SplitText:
    """The claims of a text, or why they are not known."""

    claims: tuple[str, ...] = ()
    error: str | None = None


class ClaimJudge(Protocol):
    """Who splits texts into claims and says what entails them.

    `name` says who it is, `prompt` what it is asked: verdicts of the same name and prompt are the same judge's. `most`
    is how many claims it takes at a time.
    """

    name: str
    prompt: str
    most: int
    tasks: frozenset[ClaimTask]

    def split(self, texts: Sequence[tuple[str, str]]) -> list[SplitText]:
        """The claims of each (question, text)."""
        ...

    def judge(self, batches: Sequence[ClaimBatch]) -> list[BatchVerdicts]:
        """The verdicts on the claims of each batch."""
        ...

    def notes(self) -> list[str]:
        """What a reader should know of how it judged."""
        ...


@dataclass(frozen=True)
class Origin:
    """Who said something, asked what, and the key by which it is known again."""

    judge: str
    prompt: str = ""
    key: str = ""


@dataclass(frozen=True)
class StoredVerdict:
    """A verdict from before."""

    verdict: int
    reason: str
    origin: Origin


@dataclass(frozen=True)
class StoredSide:
    """The claims of a side of a pair, and by whom they are; by nobody where they stand in the texts as they are."""

    texts: tuple[str, ...]
    vital: tuple[bool, ...]
    cites: tuple[tuple[int, ...], ...]
    origin: Origin

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        origin: Origin | None = None,
        vital: Sequence[bool] | None = None,
        cites: Sequence[tuple[int, ...]] | None = None,
    ) -> StoredSide:
        """Claims that are all vital and cite nothing, unless that is said."""
        n = len(texts)
        return cls(tuple(texts), tuple(vital or (True,) * n), tuple(cites or ((),) * n), origin or Origin(""))


@dataclass(frozen=True)
class StoredClaims:
    """What was judged before: claims by system, question and side, and verdicts by their keys."""

    sides: Mapping[tuple[str, str, Side], StoredSide]
    verdicts: Mapping[str, StoredVerdict]

    def judges(self) -> list[tuple[str, str]]:
        """Everybody who gave a verdict, with what was asked, in order."""
        return sorted({(one.origin.judge, one.origin.prompt) for one in self.verdicts.values()})


@dataclass(frozen=True)
class FilledClaims:
    """A claims table with where each verdict and each side is from, and how much of it was judged now."""

    table: ClaimTable
    _: KW_ONLY
    origins: Sequence[Origin]  # by row of the verdicts
    sides: Mapping[tuple[int, Side], Origin]
    judged: int  # pairs of claim and premise
    known: int  # of them those known from before
    given: int  # of them those that a file brought
    changed: int  # of these, those that say something else than what was known
    several: int  # pairs of whose several references the first was used


def key_of(task: ClaimTask, claim: str, premise: ClaimPremise, judge: str, prompt: str) -> str:
    """The key of a verdict: the same for the same claim, premise texts, judge and prompt."""
    return digest_of((task, claim, premise.question, *premise.texts, judge, prompt))


def split_key(question: str, text: str, origin: Origin) -> str:
    """The key of the claims of a text."""
    return digest_of(("claims", question, text, origin.judge, origin.prompt))


def digest_of(parts: Iterable[str]) -> str:
    """A digest of texts, of which each keeps its own bounds."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:32]


def sentence_claims(text: str) -> tuple[str, ...]:
    """The sentences of a text as its claims, each once, without citation marks."""
    return tuple(dict.fromkeys(sentence for sentence, _ in cited_sentences(drop_blocks(text))))
