"""Nuggets by hand, and against the published scores written a second time."""

from __future__ import annotations

import random

import pytest

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, ClaimRows
from karat.core.language import parse
from karat.core.scores import MeasureResult
from karat.measures.dialects import dialect_named

Nuggets = list[tuple[bool, int]]  # vital, and what the answer says of it


def outcome(measure: str, *questions: Nuggets, dialect: str = "karat") -> MeasureResult:
    rows = ClaimRows(["a"], [f"q{i}" for i in range(len(questions))])
    for pair, nuggets in enumerate(questions):
        rows.claims(pair, "nugget", [f"n{i}" for i in range(len(nuggets))], vital=[vital for vital, _ in nuggets])
        for number, (_, verdict) in enumerate(nuggets, 1):
            rows.verdict(pair, "nugget", number, "answer", verdict)
    n = len(questions)
    answered = AnswerTable(
        rows.systems, rows.questions, texts=["?"] * n, answers=["said"] * n, references=[()] * n,
        contexts=[None] * n, answerable=[True] * n, claims=rows.table(),
    )  # fmt: skip
    result = dialect_named(dialect).meant(parse(measure)).of(answered)
    assert isinstance(result, MeasureResult)
    return result


WORKED: Nuggets = [(True, ENTAILED), (True, PARTIAL), (True, NEITHER), (False, ENTAILED), (False, CONTRADICTED)]


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("NuggetRecall", 1.5 / 3),
        ("NuggetRecall(strict)", 1 / 3),
        ("NuggetRecall(over=all)", 2.5 / 5),
        ("NuggetRecall(over=all, strict)", 2 / 5),
        ("NuggetRecall(over=weighted)", (1.5 + 0.5 * 1) / (3 + 0.5 * 2)),
        ("NuggetRecall(over=weighted, strict)", (1 + 0.5 * 1) / (3 + 0.5 * 2)),
    ],
)
def test_nugget_recall_by_hand(measure: str, value: float) -> None:
    result = outcome(measure, WORKED)
    assert result.values[0] == pytest.approx(value)
    assert (result.undefined, result.failed) == ({}, {})


def test_without_vital_nuggets() -> None:
    okay: Nuggets = [(False, ENTAILED), (False, NEITHER)]
    assert outcome("NuggetRecall", okay, []).undefined == {
        0: "the question has no vital nugget",
        1: "the question has no nuggets",
    }
    assert outcome("NuggetRecall(over=all)", okay).values[0] == 0.5
    assert outcome("NuggetRecall(over=weighted)", okay).values[0] == 0.5
    zero = outcome("NuggetRecall", okay, [], dialect="trec-rag")
    assert zero.values[0] == 0
    assert zero.undefined == {1: "the question has no nuggets"}  # no gold, which is no zero


def test_a_nugget_that_nobody_judged_fails_the_row() -> None:
    rows = ClaimRows(["a"], ["q"])
    rows.claims(0, "nugget", ["x", "y"], vital=[True, False])
    rows.verdict(0, "nugget", 1, "answer", ENTAILED)
    answered = AnswerTable(
        ("a",), ("q",), texts=["?"], answers=["said"], references=[()], contexts=[None], answerable=[True],
        claims=rows.table(),
    )  # fmt: skip
    result = parse("NuggetRecall").of(answered)
    assert isinstance(result, MeasureResult)
    assert result.failed == {0: "1 of 2 verdicts are missing (nugget by answer)"}


def test_published_scores_written_a_second_time() -> None:
    chance = random.Random(3)
    questions = [
        [(chance.random() < 0.6, chance.choice([ENTAILED, PARTIAL, NEITHER])) for _ in range(chance.randint(1, 8))]
        for _ in range(200)
    ]

    def second(nuggets: Nuggets, over: str, half: float) -> float:
        vital = [verdict for is_vital, verdict in nuggets if is_vital]
        okay = [verdict for is_vital, verdict in nuggets if not is_vital]
        points = [v.count(ENTAILED) + half * v.count(PARTIAL) for v in (vital, okay)]
        if over == "vital":
            return points[0] / len(vital) if vital else 0.0
        if over == "all":
            return sum(points) / len(nuggets)
        return (points[0] + 0.5 * points[1]) / (len(vital) + 0.5 * len(okay))

    for over in ("vital", "all", "weighted"):
        for strict in (False, True):
            name = f"NuggetRecall(over={over}, strict={str(strict).lower()})"
            values = outcome(name, *questions, dialect="trec-rag").values
            assert values == pytest.approx([second(one, over, 0.0 if strict else 0.5) for one in questions])


def test_the_track_scores_nuggets_and_citations_by_default() -> None:
    dialect = dialect_named("trec-rag")
    held = {"rankings": False, "answers": True, "references": False}
    assert dialect.measures(**held, contexts=False, nuggets=True) == [
        "NuggetRecall(over=vital, strict, empty=zero)",
        "NuggetRecall(over=vital, empty=zero)",
        "NuggetRecall(over=all, empty=zero)",
        "NuggetRecall(over=weighted, empty=zero)",
    ]
    assert dialect.measures(**held, contexts=True) == [
        "CitationPrecision(by=trec, most=1)",
        "CitationRecall(by=trec, most=1)",
    ]
