"""Filling the claims table: which claims and verdicts relations need, each judged once, whoever judges.

What a file gives goes before what is stored, and that before what a judge is asked. Which claims are asked about in one
call is no part of a verdict's key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.claims import NEITHER, PREMISES, SIDES, UNJUDGED, ClaimRows, ClaimTable, PremiseKind, Relation, Side
from karat.core.errors import UsageError
from karat.measures.entailment.judging import (
    GIVEN,
    BatchVerdicts,
    ClaimBatch,
    ClaimJudge,
    ClaimPremise,
    ClaimTask,
    FilledClaims,
    Origin,
    StoredClaims,
    StoredSide,
    StoredVerdict,
    key_of,
    side_of,
    split_key,
    task_of,
)
from karat.measures.entailment.sides import PairTexts, WantedVerdict

if TYPE_CHECKING:
    from karat.core.answered import AnswerTable

BLANK = "the premise says nothing"
_SPLIT_SIDES: tuple[Side, ...] = ("answer", "reference")
VerdictPlace = tuple[int, Side, int, PremiseKind, tuple[int, ...]]
"""Of a verdict: pair, side, number of the claim, premise."""
GivenPlace = tuple[str, PremiseKind, tuple[int, ...]]
"""Of a verdict that a file brought: the claim as it is compared, premise."""
ClaimQuestion = tuple[ClaimTask, str, ClaimPremise]
"""What a judge is asked: the task, the claim, the premise."""


def fill(
    answered: AnswerTable,
    relations: Sequence[Relation],
    judge: ClaimJudge | None,
    stored: StoredClaims | None = None,
    given: Sequence[ClaimTable] = (),
) -> FilledClaims:
    """The claims table of answers, with every verdict that the relations need and that somebody can give.

    Without a judge there is what is stored and given.
    """
    if judge is not None:
        for relation in relations:
            if task_of(relation) not in judge.tasks:
                raise UsageError(
                    f"{judge.name} cannot judge {relation!r}, which takes reading. Let a chat model judge: --claims "
                    "model, or name a claims file."
                )
    filling = _ClaimFilling(answered, tuple(relations), judge, stored or StoredClaims({}, {}), _given_of(given))
    filling.make_claims()
    filling.make_verdicts()
    return filling.filled()


@dataclass(frozen=True)
class _Given:
    """What a file brought, by system, question and side: claims, verdicts by claim and premise, and passages."""

    sides: Mapping[tuple[str, str, Side], StoredSide] = field(default_factory=dict)
    verdicts: Mapping[tuple[str, str, Side], Mapping[GivenPlace, tuple[int, str]]] = field(default_factory=dict)
    passages: Mapping[tuple[str, str], int] = field(default_factory=dict)
    failed: Mapping[tuple[str, str], Mapping[Relation, str]] = field(default_factory=dict)


class _ClaimFilling:
    """A table in the making. Pairs are gone through question by question: a budget that ends has paid for pairs."""

    def __init__(
        self,
        answered: AnswerTable,
        relations: tuple[Relation, ...],
        judge: ClaimJudge | None,
        stored: StoredClaims,
        given: _Given,
    ) -> None:
        self.answered, self.relations, self.judge, self.stored, self.given = answered, relations, judge, stored, given
        n = len(answered.questions)
        self.pairs = sorted(range(len(answered)), key=lambda pair: (pair % n, pair))
        self.texts = {pair: PairTexts.of(answered, pair) for pair in self.pairs}
        self.rows = ClaimRows(answered.systems, answered.questions)
        self.sides: dict[tuple[int, Side], StoredSide] = {}
        self.labels: dict[tuple[int, Side], list[str]] = {}
        self.origins: dict[VerdictPlace, Origin] = {}
        self.judges = [(GIVEN, ""), *(stored.judges() if judge is None else [(judge.name, judge.prompt)])]
        self.judged = self.known = self.used = self.changed = 0
        for pair, texts in self.texts.items():
            given_passages = given.passages.get(self.names(pair), -1)
            self.rows.passages(pair, given_passages if texts.contexts is None else len(texts.contexts))

    def names(self, pair: int) -> tuple[str, str]:
        """The system and the question of a pair."""
        s, q = divmod(pair, len(self.answered.questions))
        return self.answered.systems[s], self.answered.questions[q]

    def make_claims(self) -> None:
        """The claims of every side that a relation needs."""
        to_split: dict[tuple[str, str], list[tuple[int, Side]]] = {}
        for pair in self.pairs:
            for side in dict.fromkeys(map(side_of, self.relations)):
                known = self._known_side(pair, side)
                if known is not None:
                    self._take(pair, side, known)
                elif side in _SPLIT_SIDES and self.judge is not None:
                    texts = self.texts[pair]
                    to_split.setdefault((texts.question, texts.to_split(side)), []).append((pair, side))
        judge = self.judge
        for (question, text), places, reply in zip(
            to_split, to_split.values(), judge.split(list(to_split)) if judge and to_split else (), strict=True
        ):
            assert judge is not None
            origin = Origin(judge.name, judge.prompt)
            origin = replace(origin, key=split_key(question, text, origin))
            for pair, side in places:
                if reply.error is None:
                    self._take(pair, side, StoredSide.of(reply.claims, origin))
                else:
                    self._fail(pair, (r for r in self.relations if side_of(r) == side), reply.error)
        for pair, texts in self.texts.items():  # that there is none is known without splitting
            asked = any(relation.endswith("reference") for relation in self.relations)
            if asked and not texts.references and self._is_judged(pair):
                self.rows.claims(pair, "reference", ())

    def _is_judged(self, pair: int) -> bool:
        """Whether anybody judges a pair: files are the only judge where they are given without another."""
        if self.judge is not None or not self.given.sides:
            return True
        return any((*self.names(pair), side) in self.given.sides for side in SIDES)

    def _known_side(self, pair: int, side: Side) -> StoredSide | None:
        """The claims of a side as a file gives them, as they are stored, or as they stand in the texts."""
        texts, given = self.texts[pair], self.given.sides.get((*self.names(pair), side))
        if side in _SPLIT_SIDES:
            base = self.stored.sides.get((*self.names(pair), side))
            if base is not None and base.origin.key != texts.split_key(side, base.origin):
                base = None  # of a text that is no more
        else:
            base = texts.claims(side)
        if given is not None:
            given = replace(given, origin=Origin(GIVEN, "", texts.split_key(side, given.origin)))
            return given if base is None else self._corrected(pair, side, base, given)
        if side in _SPLIT_SIDES and not texts.to_split(side):
            return StoredSide.of(()) if self._is_judged(pair) else base
        is_mine = base is None or not base.origin.judge or (base.origin.judge, base.origin.prompt) in self.judges
        return base if is_mine or self.judge is None else None

    def _corrected(self, pair: int, side: Side, stored: StoredSide, given: StoredSide) -> StoredSide:
        """Which claims are meant where both are there: a file of some of the stored claims corrects those."""
        known = set(_labels(stored.texts))
        strange = [text for label, text in zip(_labels(given.texts), given.texts, strict=True) if label not in known]
        if not strange:
            return stored
        if len(strange) == len(given.texts) or (side not in _SPLIT_SIDES and len(given.texts) >= len(stored.texts)):
            return given  # claims of its own, or sentences as somebody else tells them apart
        system, question = self.names(pair)
        raise UsageError(
            f"the claims file has a claim that is not among the stored ones of {system}, question {question}, side "
            f"{side}, beside others that are: {strange[0][:80]!r}. Keep the texts of the claims as they are stored."
        )

    def _take(self, pair: int, side: Side, claims: StoredSide) -> None:
        self.sides[pair, side], self.labels[pair, side] = claims, _labels(claims.texts)
        self.rows.claims(pair, side, claims.texts, vital=claims.vital, cites=claims.cites)

    def _fail(self, pair: int, relations: Iterable[Relation], reason: str) -> None:
        for relation in relations:
            self.rows.failed.setdefault((pair, relation), reason)

    def make_verdicts(self) -> None:
        """Every verdict that the relations need: known ones, then what the judge says, each claim and premise once."""
        asked: dict[ClaimQuestion, list[tuple[int, WantedVerdict]]] = {}
        for pair, wanted in self._wanted():
            if (pair, *wanted.place) in self.origins:
                continue
            claim = self.sides[pair, wanted.side].texts[wanted.number - 1]
            question = task_of(wanted.relation), claim, self.texts[pair].premise(wanted)
            known = self._known_verdict(pair, wanted, question)
            if known is not None:
                self._put((pair, *wanted.place), known)
            else:
                asked.setdefault(question, []).append((pair, wanted))
        self._take_unasked()
        if self.judge is None:
            for pair in self.pairs:
                self.rows.failed |= {(pair, of): why for of, why in self.given.failed.get(self.names(pair), {}).items()}
            return
        batches = _batches(asked, self.judge.most)
        replies = self.judge.judge([batch for batch, _ in batches]) if batches else []
        for (batch, questions), reply in zip(batches, replies, strict=True):
            self._settle(batch, [asked[question] for question in questions], reply, self.judge)

    def _take_unasked(self) -> None:
        """What a file says of premises that no relation asks for here, or whose texts are not known."""
        for (pair, side), claims in self.sides.items():
            number_of = {label: number for number, label in enumerate(_labels(claims.texts), 1)}
            contexts = self.texts[pair].contexts
            for (text, kind, passages), (verdict, reason) in self.given.verdicts.get(
                (*self.names(pair), side), {}
            ).items():
                if contexts is not None and passages and max(passages) > len(contexts):
                    system, question = self.names(pair)
                    raise UsageError(
                        f"the claims file has a verdict by passage {max(passages)} on {system}, question {question}, "
                        f"side {side}, and there are {len(contexts)} passages. Number passages from 1, in the order "
                        "of the contexts."
                    )
                place: VerdictPlace = (pair, side, number_of.get(text, 0), kind, passages)
                if verdict != UNJUDGED and text in number_of and place not in self.origins:
                    self.used += 1
                    self._put(place, StoredVerdict(verdict, reason, Origin(GIVEN)))

    def _settle(
        self,
        batch: ClaimBatch,
        places: Sequence[list[tuple[int, WantedVerdict]]],
        reply: BatchVerdicts,
        judge: ClaimJudge,
    ) -> None:
        """Put the verdicts of a batch where they are wanted."""
        for number, wanting in enumerate(places):
            self.judged += 1
            if reply.error is not None:
                for pair, wanted in wanting:
                    self._fail(pair, (wanted.relation,), reply.error)
                continue
            verdict, reason = reply.verdicts[number]
            key = key_of(batch.task, batch.claims[number], batch.premise, judge.name, judge.prompt)
            stored = StoredVerdict(verdict, reason, Origin(judge.name, judge.prompt, key))
            for pair, wanted in wanting:
                self._put((pair, *wanted.place), stored)

    def _wanted(self) -> Iterator[tuple[int, WantedVerdict]]:
        for pair in self.pairs:
            for relation in self.relations:
                claims = self.sides.get((pair, side_of(relation)))
                if claims is not None:
                    yield from ((pair, wanted) for wanted in self.texts[pair].wanted(relation, claims.cites))

    def _known_verdict(self, pair: int, wanted: WantedVerdict, question: ClaimQuestion) -> StoredVerdict | None:
        """What a file gives, what is stored, and what needs no judge: a premise without words entails nothing."""
        stored = self._stored_verdict(question)
        side = self.given.verdicts.get((*self.names(pair), wanted.side), {})
        label = self.labels[pair, wanted.side][wanted.number - 1]
        verdict, reason = side.get((label, wanted.kind, wanted.passages), (UNJUDGED, ""))
        if verdict != UNJUDGED:
            self.used += 1
            if stored is not None and stored.verdict == verdict:
                return stored
            self.changed += stored is not None
            return StoredVerdict(verdict, reason, Origin(GIVEN, "", key_of(*question, GIVEN, "")))
        if stored is None and question[2].is_blank:
            return StoredVerdict(NEITHER, BLANK, Origin(""))
        self.known += stored is not None
        return stored

    def _stored_verdict(self, question: ClaimQuestion) -> StoredVerdict | None:
        if not self.stored.verdicts:
            return None
        keys = (key_of(*question, judge, prompt) for judge, prompt in self.judges)
        return next((verdict for key in keys if (verdict := self.stored.verdicts.get(key)) is not None), None)

    def _put(self, place: VerdictPlace, stored: StoredVerdict) -> None:
        self.origins[place] = stored.origin
        pair, side, number, kind, passages = place
        self.rows.verdict(pair, side, number, kind, stored.verdict, passages=passages, reason=stored.reason)

    def filled(self) -> FilledClaims:
        table = self.rows.table()
        return FilledClaims(
            table,
            origins=[self.origins[place] for place in places_of(table)],
            sides={place: claims.origin for place, claims in self.sides.items()},
            judged=self.judged, known=self.known, given=self.used, changed=self.changed,
            several=self._several(),
        )  # fmt: skip

    def _several(self) -> int:
        used = any("reference" in relation for relation in self.relations)
        return sum(len(texts.references) > 1 for texts in self.texts.values()) if used else 0


def places_of(table: ClaimTable) -> Iterator[VerdictPlace]:
    """Pair, side, number of the claim, and premise of each verdict of a table, in its order."""
    numbers = numbers_of(table)
    for claim, premise, at in zip(table.claim.tolist(), table.premise.tolist(), table.passage.tolist(), strict=True):
        kind = PREMISES[premise]
        members = (at,) if kind == "passage" else table.sets[at] if kind == "passages" else ()
        yield int(table.pair[claim]), SIDES[int(table.side[claim])], numbers[claim], kind, members


def numbers_of(table: ClaimTable) -> list[int]:
    """The number of each claim within its pair and side, from 1."""
    numbers: list[int] = []
    before: tuple[int, int] | None = None
    for at in zip(table.pair.tolist(), table.side.tolist(), strict=True):
        numbers.append(numbers[-1] + 1 if at == before else 1)
        before = at
    return numbers


def _batches(
    asked: Mapping[ClaimQuestion, list[tuple[int, WantedVerdict]]], most: int
) -> list[tuple[ClaimBatch, list[ClaimQuestion]]]:
    """Claims of one pair that share a task and a premise, together, up to so many; of passages, those of one."""
    groups: dict[tuple[int, ClaimTask, ClaimPremise, int], list[ClaimQuestion]] = {}
    for question, wanting in asked.items():
        pair, wanted = wanting[0]
        groups.setdefault((pair, question[0], question[2], wanted.within), []).append(question)
    return [
        (ClaimBatch(task, premise, tuple(claim for _, claim, _ in some)), list(some))
        for (_, task, premise, _), questions in groups.items()
        for some in _parts(questions, most)
    ]


def _parts(questions: Sequence[ClaimQuestion], most: int) -> Iterator[Sequence[ClaimQuestion]]:
    """The same in parts of so many."""
    return (questions[start : start + most] for start in range(0, len(questions), most))


def _labels(texts: Sequence[str]) -> list[str]:
    """Claims of a side as they are compared, blanks and case aside; of several alike, which of them."""
    times: Counter[str] = Counter()
    labels = []
    for text in texts:
        plain = " ".join(text.split()).casefold()
        labels.append(plain if not times[plain] else f"{plain}\n{times[plain]}")
        times[plain] += 1
    return labels


def _given_of(tables: Sequence[ClaimTable]) -> _Given:
    """What all tables say together. Claims of one side may stand in one of them alone."""
    whole = _Given({}, {}, {}, {})
    for one in map(_of_table, tables):
        for system, question, side in whole.sides.keys() & one.sides.keys():
            raise UsageError(
                f"two claims files have claims of {system}, question {question}, side {side}. Put them into one file."
            )
        whole = _Given(
            {**whole.sides, **one.sides}, {**whole.verdicts, **one.verdicts}, {**whole.passages, **one.passages},
            {**whole.failed, **one.failed},
        )  # fmt: skip
    return whole


def _of_table(table: ClaimTable) -> _Given:
    names = [(system, question) for system in table.systems for question in table.questions]
    claims: dict[tuple[str, str, Side], list[int]] = {
        (*names[pair], SIDES[side]): [] for pair, side in np.argwhere(table.known).tolist()
    }
    for row, (pair, side) in enumerate(zip(table.pair.tolist(), table.side.tolist(), strict=True)):
        claims.setdefault((*names[pair], SIDES[side]), []).append(row)
    sides = {
        place: StoredSide.of(
            [table.texts[row] for row in rows], Origin(GIVEN), [bool(table.vital[row]) for row in rows],
            [table.cites.get(row, ()) for row in rows],
        )
        for place, rows in claims.items()
    }  # fmt: skip
    labels = {place: _labels(side.texts) for place, side in sides.items()}
    verdicts: dict[tuple[str, str, Side], dict[GivenPlace, tuple[int, str]]] = {}
    for row, (pair, of_side, number, kind, passages) in enumerate(places_of(table)):
        place = (*names[pair], of_side)
        judged = int(table.verdict[row]), table.reasons.get(row, "")
        verdicts.setdefault(place, {})[labels[place][number - 1], kind, passages] = judged
    failed: dict[tuple[str, str], dict[Relation, str]] = {}
    for (pair, relation), why in table.failed.items():
        failed.setdefault(names[pair], {})[relation] = why
    counted = zip(names, table.passages.tolist(), strict=True)
    return _Given(sides, verdicts, {pair: number for pair, number in counted if number >= 0}, failed)
