"""Measures of the claims table, by hand."""

from __future__ import annotations

import math

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, ClaimRows
from karat.measures.claims.claim_precision import claim_precision


def answers(rows: ClaimRows) -> AnswerTable:
    """One answer, reference and two contexts for each pair, with these claims."""
    pairs = len(rows.systems) * len(rows.questions)
    return AnswerTable(
        rows.systems, rows.questions, texts=["?"] * pairs, answers=["said"] * pairs, references=[("true",)] * pairs,
        contexts=[("one", "two")] * pairs, answerable=[True] * pairs, claims=rows.table(),
    )  # fmt: skip


def test_claim_precision_counts_what_the_reference_entails() -> None:
    rows = ClaimRows(["a"], ["q1", "q2", "q3"])
    rows.claims(0, "answer", ["x", "y", "z", "w"])
    for number, verdict in enumerate((ENTAILED, NEITHER, CONTRADICTED, ENTAILED), 1):
        rows.verdict(0, "answer", number, "reference", verdict)
    rows.claims(1, "answer", [])
    rows.claims(2, "answer", ["x", "y"])
    rows.verdict(2, "answer", 1, "reference", ENTAILED)
    result = claim_precision(answers(rows))
    assert result.values[0] == 0.5
    assert result.undefined == {1: "the answer claims nothing"}
    assert result.failed == {2: "1 of 2 verdicts are missing (answer by reference)"}
    assert math.isnan(result.values[1])
    assert claim_precision(answers(rows), empty="zero").values[1] == 0
