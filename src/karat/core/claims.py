"""The claims table: what texts claim, and which premises entail each claim. Judged once, all claim measures follow.

A row is a (claim, premise set) with its verdict. Claims stand on one of five sides: claims of the answer, claims of the
reference, sentences of the answer with what they cite, nuggets of the test set, sentences of the passages. A premise is
one passage, several passages together, the reference, the answer or the question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Bools, Floats, Ints

T = TypeVar("T")

Side = Literal["answer", "reference", "sentence", "nugget", "context"]
PremiseKind = Literal["passage", "passages", "reference", "answer", "question"]
Relation = Literal[
    "answer by reference", "reference by answer", "answer by passage", "reference by passage", "sentence by cited",
    "sentence by passages", "nugget by answer", "context by question", "context by answer",
]  # fmt: skip
"""What is held against what. `sentence by cited`: the cited passages together, each alone, and all but each."""
SIDES: tuple[Side, ...] = get_args(Side)
PREMISES: tuple[PremiseKind, ...] = get_args(PremiseKind)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ENTAILED, PARTIAL, NEITHER, CONTRADICTED, UNJUDGED = 2, 1, 0, -1, -2
VERDICTS = {"entailed": ENTAILED, "partial": PARTIAL, "neither": NEITHER, "contradicted": CONTRADICTED}
FIRST_CITED = 3  # citations of a sentence that ALCE's code counts
PASSAGE, PASSAGES = PREMISES.index("passage"), PREMISES.index("passages")


@dataclass(frozen=True, eq=False)
class ClaimTable:
    """Claims of all pairs (system x question, numbered system-major) in columns, and the verdicts on them.

    Claims are ordered by pair, then side, then number. `known` says of which pairs and sides the claims are known: an
    answer that claims nothing is known to claim nothing. `passages` is how many passages a pair has, -1 where that is
    not known. `vital` is the importance of a nugget, `cites` the passages (from 1) that a sentence cites, by claim.
    A verdict belongs to `claim` and a premise, each once: its kind, and the number of the passage or the place of the
    set in `sets`. `failed` says by pair and relation why something that was asked for could not be judged.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    _: KW_ONLY
    pair: Ints
    side: Ints
    texts: Sequence[str]
    vital: Bools
    cites: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    known: Bools  # pair x side
    passages: Ints
    claim: Ints
    premise: Ints
    passage: Ints
    sets: Sequence[tuple[int, ...]] = ()
    verdict: Ints
    reasons: Mapping[int, str] = field(default_factory=dict)  # by row: why the judge says so
    failed: Mapping[tuple[int, Relation], str] = field(default_factory=dict)
    made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)  # what measures share

    def __post_init__(self) -> None:
        for name in ("premise", "verdict"):  # codes of a byte: tables have millions of rows
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.int8))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once under this key and shared by all measures of this table."""
        if key not in self.made:
            self.made[key] = make()
        value: T = self.made[key]
        return value

    @property
    def pairs(self) -> int:
        return len(self.systems) * len(self.questions)

    def of_side(self, side: Side) -> Bools:
        """Which claims stand on a side."""
        return self.once(("side", side), lambda: self.side == SIDES.index(side))

    def per_pair(self, claims: Bools) -> Floats:
        """How many of the marked claims each pair has."""
        until = self.once("ends", lambda: np.searchsorted(self.pair, np.arange(self.pairs + 1)))
        before = np.zeros(len(claims) + 1, np.int32)  # marked claims before each
        np.cumsum(claims, dtype=np.int32, out=before[1:])
        held = before[until]
        return (held[1:] - held[:-1]).astype(np.float64)

    def count(self, side: Side) -> Floats:
        """How many claims of a side each pair has."""
        return self.once(("count", side), lambda: self.per_pair(self.of_side(side)))

    def verdicts(self, side: Side, premise: PremiseKind) -> Ints:
        """The verdict on each claim of a side by the one premise of a kind that a pair has; UNJUDGED elsewhere."""

        def make() -> Ints:
            rows = np.flatnonzero(self.premise == PREMISES.index(premise))
            by_claim = np.full(len(self.pair), UNJUDGED)
            by_claim[self.claim[rows]] = self.verdict[rows]
            return np.where(self.of_side(side), by_claim, UNJUDGED)

        return self.once(("verdicts", side, premise), make)

    def entailed(self, side: Side, premise: PremiseKind) -> Bools:
        """Which claims of a side the reference, the answer or the question entails."""
        return self.once(("entailed", side, premise), lambda: self.verdicts(side, premise) == ENTAILED)

    def entailments(self, side: Side) -> tuple[Ints, Ints]:
        """Claims of a side and the single passages that entail them, one entry for each such pair."""
        rows = self.by_passage(side, ENTAILED)
        return self.claim[rows], self.passage[rows]

    def by_passage(self, side: Side, verdict: int) -> Ints:
        """The rows of a verdict by a single passage on a claim of a side."""
        rows = self._by_passage(verdict)
        return self.once(("by passage", side, verdict), lambda: rows[self.of_side(side)[self.claim[rows]]])

    def _by_passage(self, verdict: int) -> Ints:
        """The same on claims of any side."""
        return self.once(
            ("by passage", verdict), lambda: np.flatnonzero((self.verdict == verdict) & (self.premise == PASSAGE))
        )

    def by_passages(self, side: Side, passages: Bools | None = None) -> Bools:
        """Which claims of a side some single passage entails; of these alone, where they are marked by pair x number.

        A passage is marked in its column: the first passage in column 0.
        """
        claim, passage = self.entailments(side)
        if passages is not None:
            keep = passages[self.pair[claim], passage - 1]
            claim = claim[keep]
        entailed = np.zeros(len(self.pair), bool)
        entailed[claim] = True
        return entailed

    @cached_property
    def relevant(self) -> Bools:
        """Pair x number: the passages that entail at least one claim of the reference."""
        claim, passage = self.entailments("reference")
        highest = self.passage[self._by_passage(ENTAILED)].max(initial=1)
        most = max(int(highest), int(self.passages.max(initial=0)))
        marked = np.zeros((self.pairs, most), bool)
        marked[self.pair[claim], passage - 1] = True
        return marked

    def set_verdicts(self, side: Side) -> dict[tuple[int, frozenset[int]], int]:
        """Verdicts on the claims of a side by claim and set of passages, those of single passages among them."""
        chosen = self.of_side(side)
        return {
            (claim, frozenset((number,) if premise == PASSAGE else self.sets[number])): verdict
            for claim, premise, number, verdict in zip(
                self.claim.tolist(), self.premise.tolist(), self.passage.tolist(), self.verdict.tolist(), strict=True
            )
            if premise in (PASSAGE, PASSAGES) and chosen[claim]
        }

    def lacking(self, relation: Relation) -> dict[int, str]:
        """Pairs whose claims are known and for which verdicts of a relation are missing, with what is missing."""
        return self.once(("lacking", relation), lambda: self._lacking(relation))

    def _lacking(self, relation: Relation) -> dict[int, str]:
        name, _, by = relation.partition(" by ")
        side: Side = name  # type: ignore[assignment]
        if by in ("cited", "passages"):
            return {}  # which sets are needed is for the measure to say
        if by == "passage":
            if self.once("complete", self._has_all_by_passage):
                return {}
            wanted = np.where(self.of_side(side), np.maximum(self.passages[self.pair], 0), 0)
            rows = (self.premise == PASSAGE) & (self.verdict != UNJUDGED)
            missing = np.maximum(wanted - np.bincount(self.claim[rows], minlength=len(wanted)), 0)
        else:
            premise: PremiseKind = by  # type: ignore[assignment]
            wanted = self.of_side(side)
            missing = wanted & (self.verdicts(side, premise) == UNJUDGED)
        if not missing.any():
            return {}
        lacks = np.bincount(self.pair, missing, minlength=self.pairs)
        total = np.bincount(self.pair, wanted, minlength=self.pairs)
        return {
            int(pair): f"{int(lacks[pair]):,} of {int(total[pair]):,} verdicts are missing ({relation})"
            for pair in np.flatnonzero(lacks)
        }

    def _has_all_by_passage(self) -> bool:
        """Whether single passages judged all claims, where that is told by counting: as many passages everywhere."""
        most = int(self.passages[self.pair].max(initial=0))
        if self.passages[self.pair].min(initial=most) != most or self.passage.max(initial=0) > most:
            return False
        rows = np.count_nonzero((self.premise == PASSAGE) & (self.verdict != UNJUDGED))
        return most >= 0 and bool(rows == most * len(self.pair))


def cited_sets(cites: Iterable[int], passages: int) -> list[tuple[int, ...]]:
    """The sets of passages that `sentence by cited` holds a sentence with these citations against.

    All cited together, each alone, and all but each, of the passages that are there: `passages` of them, or -1 where
    that is not known. Where more than three are cited, the same of the first three, which alone ALCE's code counts.

    >>> cited_sets((2, 1, 9), 5), cited_sets((7,), 5)
    ([(1, 2), (2,), (1,)], [])
    """
    there = [number for number in dict.fromkeys(cites) if number >= 1 and (passages < 0 or number <= passages)]
    sets: dict[tuple[int, ...], None] = {}
    for some in (there, there[:FIRST_CITED]):
        alone = [[number] for number in some]
        others = [[other for other in some if other != number] for number in some]
        sets.update(dict.fromkeys(tuple(sorted(group)) for group in (some, *alone, *others) if group))
    return list(sets)


class ClaimRows:
    """A claims table in the making: claims and verdicts one by one, in any order."""

    def __init__(self, systems: Sequence[str], questions: Sequence[str]) -> None:
        self.systems, self.questions = tuple(systems), tuple(questions)
        self._claims: dict[tuple[int, int, int], tuple[str, bool, tuple[int, ...]]] = {}
        self._verdicts: dict[tuple[int, int, int, int, tuple[int, ...]], tuple[int, str]] = {}
        self._known = np.zeros((len(self.systems) * len(self.questions), len(SIDES)), bool)
        self._passages = np.full(len(self._known), -1)
        self.failed: dict[tuple[int, Relation], str] = {}

    def passages(self, pair: int, number: int) -> None:
        """A pair has so many passages."""
        self._passages[pair] = number

    def claims(
        self,
        pair: int,
        side: Side,
        texts: Iterable[str],
        *,
        vital: Sequence[bool] | None = None,
        cites: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        """All claims of a side of a pair, none being known too. They are numbered from 1."""
        at = SIDES.index(side)
        self._known[pair, at] = True
        for number, text in enumerate(texts, 1):
            important = True if vital is None else vital[number - 1]
            self._claims[pair, at, number] = (text, important, () if cites is None else cites[number - 1])

    def verdict(
        self,
        pair: int,
        side: Side,
        number: int,
        premise: PremiseKind,
        verdict: int,
        *,
        passages: Iterable[int] = (),
        reason: str = "",
    ) -> None:
        """The verdict on a claim, by its number from 1, by a premise; `passages` are those of a set, or the one."""
        members = tuple(sorted(set(passages)))
        kind: PremiseKind = "passage" if premise == "passages" and len(members) == 1 else premise
        key = (pair, SIDES.index(side), number, PREMISES.index(kind), members)
        self._verdicts[key] = (verdict, reason)

    def table(self) -> ClaimTable:
        """The claims and verdicts so far. Verdicts on claims that are not there are an error of the caller."""
        keys = sorted(self._claims)
        row_of = {key: row for row, key in enumerate(keys)}
        held = [self._claims[key] for key in keys]
        sets: dict[tuple[int, ...], int] = {}
        rows = sorted(self._verdicts.items())
        passage = [
            members[0] if premise == PASSAGE else sets.setdefault(members, len(sets)) if premise == PASSAGES else 0
            for (_, _, _, premise, members), _ in rows
        ]
        return ClaimTable(
            self.systems,
            self.questions,
            pair=_ints(key[0] for key in keys),
            side=_ints(key[1] for key in keys),
            texts=[text for text, _, _ in held],
            vital=np.array([vital for _, vital, _ in held], bool),
            cites={row: cites for row, (_, _, cites) in enumerate(held) if cites},
            known=self._known.copy(),
            passages=self._passages.copy(),
            claim=_ints(row_of[key[:3]] for key, _ in rows),
            premise=_ints(key[3] for key, _ in rows),
            passage=_ints(passage),
            sets=tuple(sets),
            verdict=_ints(verdict for _, (verdict, _) in rows),
            reasons={row: reason for row, (_, (_, reason)) in enumerate(rows) if reason},
            failed=dict(self.failed),
        )


def _ints(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, np.int64)
