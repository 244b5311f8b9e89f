"""What all measures of the claims table share: who has no score, shares of claims, and which claims a score shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from karat.core.claims import CONTRADICTED, ENTAILED, PREMISES, SIDES, VERDICTS, ClaimTable, PremiseKind, Relation, Side
from karat.core.errors import UsageError
from karat.core.measure import EMPTY_ANSWER, AnswerTable, Bools, Floats, MeasureResult
from karat.core.text.words import plural
from karat.measures.answer._support import NO_CONTEXTS

Empty = Literal["undefined", "zero"]
"""What 0 of 0 is: karat leaves it out aloud, RAGChecker's code scores it 0."""

NOT_JUDGED = "its claims were not judged"
NO_PASSAGES = "there are no passages"
_NOTHING: dict[Side, str] = {
    "answer": "the answer claims nothing",
    "reference": "there is no reference answer that claims anything",
    "sentence": "the answer has no sentence",
    "nugget": "the question has no nuggets",
    "context": NO_PASSAGES,
}
_NOTHING_AT_ALL = "there is nothing to measure it on"
_REFERENCE = SIDES.index("reference")
_SHOWN_FIRST = {ENTAILED: 0, CONTRADICTED: 1}
_WORDS = {code: name for name, code in VERDICTS.items()}


def claims_of(answered: AnswerTable, measure: str) -> ClaimTable:
    """The claims table, which must have been made or imported."""
    if answered.claims is None:
        raise UsageError(
            f"{measure} needs claims and their verdicts, and there are none. Name a claims file with --claims, or let "
            "them be judged: --claims lexical, --claims nli:FOLDER, or --model NAME."
        )
    return answered.claims


def share(table: ClaimTable, marked: Bools, among: Bools) -> Floats:
    """Of the claims `among` the claims of each pair, the share that is marked; NaN where there are none."""
    return ratio(table.per_pair(marked & among), table.per_pair(among))


def share_of(table: ClaimTable, marked: Bools, side: Side) -> Floats:
    """Of all claims of a side of each pair, the share of these, which are marked among them."""
    return ratio(table.per_pair(marked), table.count(side))


def ratio(part: Floats, whole: Floats) -> Floats:
    """One by the other; NaN where that would divide by 0."""
    values: Floats = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return values


def share_of_answer(table: ClaimTable, marked: Bools, empty: Empty) -> Floats:
    """Of the answer's claims, the share that is marked; NaN without passages where RAGChecker's 0 is asked for."""
    values = share_of(table, marked, "answer")
    return np.where(table.passages == 0, np.nan, values) if empty == "zero" else values


def where_claimed(table: ClaimTable, values: Floats, side: Side) -> Floats:
    """The values of pairs that have claims of a side; NaN for others."""
    return np.where(table.count(side) > 0, values, np.nan)


def over_claims(
    answered: AnswerTable,
    measure: str,
    relations: Sequence[Relation],
    score: Callable[[ClaimTable], Floats],
    *,
    empty: Empty = "undefined",
    nothing: str | None = None,
    shown: ShownClaims | None = None,
) -> MeasureResult:
    """A score of each pair from the claims table: undefined or failed where what it needs is not known.

    `score` gives NaN where it would divide by 0; `nothing` says why that is, unless a side that has no claims does.
    `shown` says which claims stand behind a score.
    """
    table = claims_of(answered, measure)
    values = score(table)
    undefined: dict[int, str] = {}
    for pair in np.flatnonzero(np.isnan(values)).tolist():
        if empty == "zero":
            values[pair] = 0.0
        else:
            undefined[pair] = _why_nothing(answered, table, pair, relations) or nothing or _NOTHING_AT_ALL
    unjudged, failed = table.once(("not judged", *relations), lambda: _not_judged(table, relations))
    undefined |= unjudged
    details = {} if shown is None else _Details(shown, table, undefined.keys() | failed.keys())
    return MeasureResult(values, undefined, failed=failed, details=details)


def _sides(relations: Sequence[Relation]) -> tuple[Side, ...]:
    """The sides whose claims these relations hold against something."""
    names = {relation.partition(" by ")[0] for relation in relations}
    return tuple(side for side in SIDES if side in names)


def _why_nothing(answered: AnswerTable, table: ClaimTable, pair: int, relations: Sequence[Relation]) -> str | None:
    """Why a pair has nothing to measure: the first side that claims nothing."""
    side = next((side for side in _sides(relations) if table.count(side)[pair] == 0), None)
    if side == "answer" and not (answered.answers[pair] or "").strip():
        return EMPTY_ANSWER
    return None if side is None else _NOTHING[side]


def _not_judged(table: ClaimTable, relations: Sequence[Relation]) -> tuple[dict[int, str], dict[int, str]]:
    """Pairs of which the claims or the passages are not known, and pairs of which verdicts are missing or failed."""
    undefined: dict[int, str] = {}
    failed: dict[int, str] = {}
    if any(relation.endswith(" by passage") for relation in relations):
        undefined |= dict.fromkeys(np.flatnonzero(table.passages < 0).tolist(), NO_CONTEXTS)
    for side in _sides(relations):
        unknown = np.flatnonzero(~table.known[:, SIDES.index(side)]).tolist()
        undefined |= dict.fromkeys(unknown, NOT_JUDGED)
    for relation in relations:
        lacking = table.lacking(relation)
        if lacking and relation.endswith(" by reference"):
            referred = ~table.known[:, _REFERENCE] | (table.count("reference") > 0)
            undefined |= {pair: _NOTHING["reference"] for pair in lacking if not referred[pair]}
            lacking = {pair: why for pair, why in lacking.items() if referred[pair]}
        failed |= lacking
        failed |= {pair: why for (pair, of), why in table.failed.items() if of == relation}
    return undefined, failed


@dataclass(frozen=True)
class ShownClaims:
    """Which claims stand behind a score: those of a side that `marked` marks, or all, with their verdicts.

    The verdict of a claim is that by the reference, the answer, or (`passage`) what single passages say of it.
    """

    side: Side
    by: PremiseKind
    marked: Callable[[ClaimTable], Bools] | None = None

    def of_pair(self, table: ClaimTable, pair: int) -> dict[str, Any]:
        """What is shown for a pair, in plain values."""
        begin, end = np.searchsorted(table.pair, (pair, pair + 1)).tolist()
        held = np.flatnonzero(table.of_side(self.side)[begin:end]) + begin
        chosen = held if self.marked is None else held[self.marked(table)[held]]
        listed = [self._claim(table, claim) for claim in chosen.tolist()]
        counts = sorted(Counter(claim["verdict"] for claim in listed).items())
        verdicts = ", ".join(f"{number} {word}" for word, number in counts)
        owner = "reference" if self.side == "reference" else "answer"
        some = plural(len(held), "claim") if self.marked is None else f"{len(listed)} of {plural(len(held), 'claim')}"
        reason = f"{some} of the {owner}{': ' if verdicts else ''}{verdicts}."
        return {"by": "claims", "reason": reason, "claims": listed}

    def _claim(self, table: ClaimTable, claim: int) -> dict[str, Any]:
        """A claim with its verdict, the passages that entail it (or, where they decide, contradict it), and why."""
        entailing = table.once(("passages of", self.side), lambda: _passages_of(table, table.entailments(self.side)))
        contexts = entailing.get(claim, [])
        if self.by == "passage":
            refuting = table.once(("refuted by", self.side), lambda: _refuted(table, self.side))
            verdict = "entailed" if contexts else "contradicted" if claim in refuting else "neither"
            contexts = contexts or refuting.get(claim, [])
        else:
            verdict = _WORDS.get(int(table.verdicts(self.side, self.by)[claim]), "not judged")
        reasons = table.once("reasons by claim", lambda: _reasons(table))
        return {
            "claim": table.texts[claim],
            "verdict": verdict,
            "contexts": contexts,
            "reason": reasons.get((claim, PREMISES.index(self.by)), ""),
        }


class _Details(Mapping[int, Mapping[str, Any]]):
    """What is shown for pairs that have a score, made when it is asked for: most of it never is."""

    def __init__(self, shown: ShownClaims, table: ClaimTable, without: Collection[int]) -> None:
        self._shown, self._table, self._without = shown, table, without

    def __getitem__(self, pair: int) -> Mapping[str, Any]:
        if pair in self._without or not 0 <= pair < self._table.pairs:
            raise KeyError(pair)
        return self._shown.of_pair(self._table, pair)

    def __iter__(self) -> Iterator[int]:
        return (pair for pair in range(self._table.pairs) if pair not in self._without)

    def __len__(self) -> int:
        return self._table.pairs - len(self._without)


def _passages_of(table: ClaimTable, rows: tuple[Any, Any]) -> dict[int, list[int]]:
    by_claim: dict[int, list[int]] = {}
    for claim, passage in zip(rows[0].tolist(), rows[1].tolist(), strict=True):
        by_claim.setdefault(claim, []).append(passage)
    return {claim: sorted(passages) for claim, passages in by_claim.items()}


def _refuted(table: ClaimTable, side: Side) -> dict[int, list[int]]:
    rows = table.by_passage(side, CONTRADICTED)
    return _passages_of(table, (table.claim[rows], table.passage[rows]))


def _reasons(table: ClaimTable) -> dict[tuple[int, int], str]:
    """Why the judge says so, by claim and kind of premise: of several passages the first whose verdict is shown."""
    reasons: dict[tuple[int, int], str] = {}
    for row in sorted(table.reasons, key=lambda row: (_SHOWN_FIRST.get(int(table.verdict[row]), 2), row)):
        reasons.setdefault((int(table.claim[row]), int(table.premise[row])), table.reasons[row])
    return reasons
