"""The flat form of a claims table: one row a verdict on a claim by a premise, read in columns from end to end.

Rows without claim say what no verdict can: a row of a side with neither number nor text, that the answer (or reference)
claims nothing; one whose verdict is `failed`, why a relation could not be judged; one of the side `passages`, in place
of a claim's number, how many passages an answer has. Without the last, the highest number that is named counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from karat.core.claims import PASSAGE, PASSAGES, PREMISES, RELATIONS, SIDES, UNJUDGED, ClaimTable, Relation
from karat.core.text.words import plural
from karat.files._columns import id_column
from karat.files.claims._words import (
    FAILED,
    PASSAGES_SIDE,
    WORD_OF,
    Premise,
    each,
    importance_of,
    passage_numbers,
    premise_of,
    side_of,
    verdict_of,
)
from karat.io import cells
from karat.io.cells import quoted
from karat.io.fields import CLAIMS, Columns
from karat.io.input import Input

if TYPE_CHECKING:
    import polars as pl

    from karat.core.judged import Bools, Ints

T = TypeVar("T")
_NONE, _FAILED = -3, -4  # codes beside those of verdicts: no verdict in this row, and a relation that failed
_NO_NUMBER = -1


class FlatClaims:
    """The rows of a flat claims table on their way into a ClaimTable; remembers what the notes must say."""

    def __init__(
        self,
        input: Input,
        frame: pl.DataFrame,
        rows: Sequence[int],
        systems: Sequence[str],
        questions: Sequence[str],
        *,
        system: str | None = None,
        passages: Sequence[int] | None = None,
    ) -> None:
        self.input, self.systems, self.questions = input, tuple(systems), tuple(questions)
        self.columns = Columns(CLAIMS, frame.columns)
        self.notes: list[str] = []
        self._frame, self._rows, self._system, self._given = frame, np.asarray(rows), system, passages
        self.pair = self._pairs()
        self._keep(self.pair >= 0)

    def _keep(self, chosen: Bools) -> None:
        """Go on with some of the rows."""
        if not chosen.all():
            self._frame, self._rows, self.pair = self._frame.filter(chosen), self._rows[chosen], self.pair[chosen]

    def _column(self, field: str, *, plain: bool = False) -> pl.Series:
        """A field as text, null where nothing stands; `plain` for prose, of which nothing is taken away."""
        import polars as pl

        names = self.columns.of[field]
        if not names:
            return pl.Series(field, [None] * self._frame.height, dtype=pl.String)
        column = self._frame[names[0]]
        if isinstance(column.dtype, pl.List):
            column = column.cast(pl.List(pl.String)).list.join(" " if plain else ",")
        with self.input.reading(columns=self.columns):
            self.columns.at = names[0]
            if not plain or column.dtype != pl.String:
                return id_column(column, from_floats=self.input.shape in ("csv", "tsv"))
        return column.set(column.str.strip_chars() == "", None)

    def _refuse(self, index: int, problem: str, remedy: str | None, field: str | None = None) -> None:
        name = self.columns.of[field][0] if field is not None and self.columns.of[field] else None
        raise self.input.error(problem, row=int(self._rows[index]), field=name, remedy=remedy)

    def _refuse_first(self, wrong: Bools, problem: str, remedy: str, field: str | None = None) -> None:
        if wrong.any():
            self._refuse(int(np.argmax(wrong)), problem, remedy, field)

    def _each(self, field: str, convert: Callable[[str], T]) -> tuple[pl.Series, dict[str, T]]:
        """The texts of a field and what each stands for; the first that stands for nothing is refused."""
        column = self._column(field)
        meanings, wrong = each(column, convert)
        if wrong:
            bad = column.is_in(list(wrong)).fill_null(False)
            index = int(bad.arg_max() or 0)
            self._refuse(index, wrong[column[index]].problem, wrong[column[index]].remedy, field)
        return column, meanings

    def _pairs(self) -> Ints:
        """The pair of each row, -1 where its system or question is not scored."""
        system, question = self._column("system"), self._column("question")
        self._refuse_first(question.is_null().to_numpy(), "no question", "Give every row the id of its question.")
        if system.null_count():
            name = self._system or (self.systems[0] if len(self.systems) == 1 else None)
            if name is None:
                problem = "no system, and there are several"
                remedy = "Add a column system, or say whose claims they are: --claims NAME=FILE."
                self._refuse(int(system.is_null().arg_max() or 0), problem, remedy)
            system = system.fill_null(name)
        places = _places(system, self.systems), _places(question, self.questions)
        strange = [np.unique(c.to_numpy()[at < 0]) for c, at in zip((system, question), places, strict=True)]
        for names, at, what in zip(strange, places, ("system", "question"), strict=True):
            if len(names):
                shown = ", ".join(map(quoted, names[:3].tolist())) + (", ..." if len(names) > 3 else "")
                left = plural(int((at < 0).sum()), "row")
                self.notes.append(f"{left} of {plural(len(names), what)} not scored here left out: {shown}")
        met = (places[0] >= 0) & (places[1] >= 0)
        if not met.any():
            what, names, known = (
                ("systems", strange[0], self.systems)
                if (places[0] < 0).all()
                else ("questions", strange[1], self.questions)
            )
            first = quoted(names[0]) if len(names) else "another"
            problem = f"none of its {what} is scored: it has {first}, and there is {quoted(known[0] if known else '')}"
            raise self.input.error(problem, remedy="Name the claims of these answers, with the same ids.")
        return np.where(met, places[0] * len(self.questions) + places[1], -1)

    def table(self) -> ClaimTable:
        """The claims table."""
        sides, side_names = self._each("side", side_of)
        self._refuse_first(sides.is_null().to_numpy(), "no side", f"Sides: {', '.join(SIDES)}.", "side")
        side = _coded(sides, {text: _side_code(name) for text, name in side_names.items()}, 0)
        passages = self._passages(side < 0)
        counted = side >= 0
        self._keep(counted)
        side = side[counted]
        known = np.zeros((len(self.systems) * len(self.questions), len(SIDES)), bool)
        verdicts, codes = self._each("verdict", verdict_of)
        verdict = _coded(verdicts, {text: _verdict_code(code) for text, code in codes.items()}, _NONE)
        premises, premise_of_text = self._each("premise", premise_of)
        failed = self._failed(verdict == _FAILED, side, premises, premise_of_text)
        known[self.pair[verdict != _FAILED], side[verdict != _FAILED]] = True
        numbers, texts = self._numbers(side)
        stands = (numbers != _NO_NUMBER) & (verdict != _FAILED)
        claim_of, claims = self._claims(side, numbers, texts, stands)
        judged = stands & premises.is_not_null().to_numpy()
        self._refuse_first(
            (verdict != _NONE) & (verdict != _FAILED) & ~judged, "a verdict without its claim or premise",
            'Say by what it was judged: reference, answer, or passages ("1", "1,3").', "premise",
        )  # fmt: skip
        return ClaimTable(
            self.systems, self.questions, known=known, failed=failed, **claims,
            **self._verdicts(judged, claim_of, verdict, premises, premise_of_text, passages),
        )  # fmt: skip

    def _passages(self, counts: Bools) -> Ints:
        """How many passages each pair has: as given, else as rows of the side `passages` say; -1 where neither does."""
        passages = np.full(len(self.systems) * len(self.questions), -1)
        column = self._column("claim")
        for index in np.flatnonzero(counts).tolist():
            number = column[index]
            if number is None or not number.isdecimal() or len(number) > 9:
                self._refuse(index, "no number of passages", "Write it in place of the claim's number.", "claim")
            pair, count = int(self.pair[index]), int(number)
            if passages[pair] not in (-1, count):
                self._refuse(index, f"{count} passages where another row says {passages[pair]}", "Keep one.", "claim")
            passages[pair] = count
        return passages if self._given is None else np.asarray(self._given, np.int64)

    def _failed(
        self, rows: Bools, side: Ints, premises: pl.Series, meant: Mapping[str, Premise]
    ) -> dict[tuple[int, Relation], str]:
        failed: dict[tuple[int, Relation], str] = {}
        reasons = self._column("reason", plain=True)
        for index in np.flatnonzero(rows).tolist():
            premise = "" if premises[index] is None else str(meant[premises[index]][0])
            relation: Relation = f"{SIDES[side[index]]} by {premise}"  # type: ignore[assignment]
            if relation not in RELATIONS:
                self._refuse(index, f"there is no relation {quoted(relation)} that could fail", None, "premise")
            failed[int(self.pair[index]), relation] = reasons[index] or "no reason is given"
        return failed

    def _numbers(self, side: Ints) -> tuple[Ints, pl.Series]:
        """The number of each row's claim, _NO_NUMBER where it has none, and its text.

        Claims without numbers are told apart by their texts, and numbered in their order.
        """
        import polars as pl

        texts, column = self._column("text", plain=True), self._column("claim")
        numbers = column.cast(pl.Int64, strict=False)
        if not self.columns.has("text") and numbers.null_count() > column.null_count():
            texts, column = self._column("claim", plain=True), pl.Series([None] * len(column), dtype=pl.String)
        if not column.null_count() < len(column):
            keys = pl.DataFrame({"pair": self.pair, "side": side, "text": texts}).with_row_index("row")
            first = keys.select(pl.col("row").min().over("pair", "side", "text")).to_series().cast(pl.Int64)
            return first.set(texts.is_null(), _NO_NUMBER).to_numpy(), texts
        bad = column.is_not_null() & (numbers.is_null() | (numbers < 0) | (numbers >= cells.GRADE_LIMIT))
        self._refuse_first(bad.to_numpy(), "the number of a claim is no whole number", "Number claims from 1.", "claim")
        lost = (numbers.is_null() & texts.is_not_null()).to_numpy()
        self._refuse_first(lost, "a claim without number, where others have one", "Number all claims.", "claim")
        return numbers.fill_null(_NO_NUMBER).to_numpy(), texts

    def _claims(self, side: Ints, numbers: Ints, texts: pl.Series, stands: Bools) -> tuple[Ints, dict[str, Any]]:
        """The claim of each row, and the columns of all claims."""
        key = ((self.pair * len(SIDES) + side) * cells.GRADE_LIMIT) + numbers
        held = np.flatnonzero(stands)
        claims, inverse = np.unique(key[held], return_inverse=True)
        claim_of = np.full(len(key), -1)
        claim_of[held] = inverse
        written = held[texts.is_not_null().to_numpy()[held]]
        first = np.full(len(claims), -1)
        first[claim_of[written[::-1]]] = written[::-1]
        if (lost := held[first[inverse] < 0]).size:
            self._refuse(int(lost[0]), "a claim without text", "Write what it claims.", "text")
        same = texts.gather(written) == texts.gather(first[claim_of[written]])
        if not same.all():
            at = int(written[int((~same).arg_max() or 0)])
            problem = f"claim {numbers[at]} has another text in {self.input.unit} {self._rows[first[claim_of[at]]]}"
            self._refuse(at, problem, "Give each claim a number of its own.", "text")
        return claim_of, {
            "pair": self.pair[first],
            "side": side[first],
            "texts": texts.gather(first).to_list(),
            "vital": self._vital(side, claim_of, first),
            "cites": self._cites(claim_of),
        }

    def _vital(self, side: Ints, claim_of: Ints, first: Ints) -> Bools:
        column, meant = self._each("importance", importance_of)
        words = _coded(column, {text: int(vital) for text, vital in meant.items()}, -1)
        vital = np.full(len(first), -1)
        stated = (words >= 0) & (claim_of >= 0)
        vital[claim_of[stated]] = words[stated]
        lost = first[(vital < 0) & (side[first] == SIDES.index("nugget"))]
        if lost.size:
            self._refuse(int(lost.min()), "a nugget without importance", "Write vital or okay.", "importance")
        is_vital: Bools = vital != 0
        return is_vital

    def _cites(self, claim_of: Ints) -> dict[int, tuple[int, ...]]:
        column, meant = self._each("cites", passage_numbers)
        filled = np.flatnonzero(column.is_not_null().to_numpy() & (claim_of >= 0)).tolist()
        return {int(claim_of[index]): meant[column[index]] for index in filled}

    def _verdicts(
        self,
        judged: Bools,
        claim_of: Ints,
        verdict: Ints,
        premises: pl.Series,
        meant: Mapping[str, Premise],
        passages: Ints,
    ) -> dict[str, Any]:
        """The columns of all verdicts, each (claim, premise) once, and how many passages each pair has."""
        distinct = sorted(set(meant.values()), key=lambda premise: (_kind_code(premise), premise))
        place = {premise: number for number, premise in enumerate(distinct)}
        at = _coded(premises, {text: place[premise] for text, premise in meant.items()}, -1)
        kind = np.array(list(map(_kind_code, distinct)) or [-1])
        rows = np.flatnonzero(judged)
        self._refuse_first(judged & (kind[at] < 0), "a premise without numbers", 'Write "1", or "1,3".', "premise")
        _, once, inverse = np.unique(claim_of[rows] * len(kind) + at[rows], return_index=True, return_inverse=True)
        code = np.where(verdict[rows] == _NONE, UNJUDGED, verdict[rows])
        differs = code != code[once][inverse]
        if differs.any():
            second = int(np.argmax(differs))
            first = int(once[inverse[second]])
            words = [WORD_OF.get(int(code[i]), "nothing") for i in (second, first)]
            problem = f"the verdict is {words[0]}, and {words[1]} in {self.input.unit} {self._rows[rows[first]]}"
            self._refuse(int(rows[second]), problem, "Keep one of the two.", "verdict")
        if len(once) < len(rows):
            self.notes.append(f"{plural(len(rows) - len(once), 'verdict')} given more than once, alike")
        empty = int((code[once] == UNJUDGED).sum())
        if empty:
            self.notes.append(f"{plural(empty, 'row')} without a verdict")
        unique_rows = rows[once]
        highest = np.array([max(members, default=0) for _, members in distinct] or [0])
        passages = self._checked(passages, unique_rows, highest[at[unique_rows]])
        sets = list(dict.fromkeys(at[unique_rows][kind[at[unique_rows]] == PASSAGES].tolist()))
        number = np.array([members[0] if members else 0 for _, members in distinct] or [0])
        number[sets] = np.arange(len(sets))
        reasons = self._column("reason", plain=True).gather(unique_rows)
        return {
            "claim": claim_of[unique_rows],
            "premise": kind[at[unique_rows]],
            "passage": number[at[unique_rows]],
            "sets": tuple(distinct[place][1] for place in sets),
            "verdict": code[once],
            "passages": passages,
            "reasons": {i: reasons[i] for i in np.flatnonzero(reasons.is_not_null().to_numpy()).tolist()},
        }

    def _checked(self, passages: Ints, rows: Ints, highest: Ints) -> Ints:
        """How many passages each pair has, none of them judged that is not there."""
        counted = passages[self.pair[rows]]
        beyond = (counted >= 0) & (highest > counted)
        if beyond.any():
            at = int(np.argmax(beyond))
            problem = f"a verdict by passage {highest[at]}, and there are {counted[at]}"
            self._refuse(int(rows[at]), problem, "Number passages from 1 in the order of the contexts.", "premise")
        seen = np.full(len(passages), -1)
        named = highest > 0
        np.maximum.at(seen, self.pair[rows[named]], highest[named])
        return np.where(passages >= 0, passages, seen)


def _places(names: pl.Series, known: Sequence[str]) -> Ints:
    """The place of each name among those that are known, -1 for others."""
    return _coded(names, {name: place for place, name in enumerate(known)}, -1)


def _coded(column: pl.Series, codes: Mapping[str, int], otherwise: int) -> Ints:
    import polars as pl

    if not codes:
        return np.full(len(column), otherwise)
    coded = column.replace_strict(list(codes), list(codes.values()), default=otherwise, return_dtype=pl.Int64)
    return coded.to_numpy()


def _kind_code(premise: Premise) -> int:
    """The kind of a premise; -1 for what only a relation can be by, as `cited` is."""
    name, members = premise
    if name in ("passage", "passages"):
        return (PASSAGE if name == "passage" else PASSAGES) if members else -1
    return PREMISES.index(name) if name in PREMISES else -1


def _side_code(name: str) -> int:
    return -1 if name == PASSAGES_SIDE else SIDES.index(name)


def _verdict_code(code: int | str) -> int:
    return _FAILED if code == FAILED else int(code)
