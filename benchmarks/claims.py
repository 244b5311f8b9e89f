"""Claim measures of 1,000 answers with 10 passages and 8 claims on each side, from a stored table of 177,000 rows.

A claims table is written as Parquet and read again, which is timed apart. Then all eleven measures of every answer:
karat from the table that it read, in columns, nothing kept from earlier rounds; and a plain loop from the same rows as
Python tuples, which groups them by answer once, keeps a set of passages for each claim, finds the relevant passages
once, and has a plain function for each measure. Both look for missing verdicts, and must give the same values. The goal
is 20x. Processor time, the least of 15 rounds: what else the machine does only adds.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._race import race, verdict

if TYPE_CHECKING:
    from karat.core.answered import AnswerTable
    from karat.core.claims import ClaimTable, PremiseKind, Side
    from karat.core.measure import Measure

ANSWERS, PASSAGES, CLAIMS = 1_000, 10, 8
GOAL = 20.0
MEASURES = (
    "ClaimPrecision", "ClaimRecall", "ClaimF1", "ContextClaimRecall", "ContextClaimPrecision", "ContextUtilisation",
    "NoiseSensitivity(in=relevant)", "NoiseSensitivity(in=irrelevant)", "ClaimHallucination", "SelfKnowledge",
    "Faithfulness(by=claims)",
)  # fmt: skip
Rows = Iterable[tuple[str, str, int, str | None, str | None]]


def made(seed: int = 19) -> ClaimTable:
    """Claims and verdicts: one verdict in ten by a passage entails, six in ten by the other text."""
    from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, ClaimRows

    rng = np.random.default_rng(seed)
    rows = ClaimRows(["system"], [f"question-{number}" for number in range(ANSWERS)])
    codes = np.array([ENTAILED, NEITHER, CONTRADICTED])
    for pair in range(ANSWERS):
        rows.passages(pair, PASSAGES)
        sides: tuple[tuple[Side, PremiseKind], ...] = (("answer", "reference"), ("reference", "answer"))
        for side, by in sides:
            rows.claims(pair, side, [f"The {side} of question {pair} claims number {c}." for c in range(CLAIMS)])
            whole = rng.choice(codes, CLAIMS, p=(0.6, 0.3, 0.1)).tolist()
            single = rng.choice(codes, (CLAIMS, PASSAGES), p=(0.1, 0.85, 0.05)).tolist()
            for claim in range(CLAIMS):
                rows.verdict(pair, side, claim + 1, by, whole[claim])
                for passage in range(PASSAGES):
                    number = passage + 1
                    rows.verdict(pair, side, claim + 1, "passage", single[claim][passage], passages=[number])
    return rows.table()


def answers(table: ClaimTable) -> AnswerTable:
    """The answers whose claims these are."""
    from karat.core.answered import AnswerTable

    size = len(table.questions)
    return AnswerTable(
        table.systems, table.questions, texts=["?"] * size, answers=["said"] * size, references=[("true",)] * size,
        contexts=[("text",) * PASSAGES] * size, answerable=[True] * size, claims=table,
    )  # fmt: skip


def in_columns(measures: Sequence[Measure], answered: AnswerTable) -> np.ndarray:
    """karat: every measure of every answer, from a table of which nothing was computed before."""
    from karat.core.measure import MeasureResult

    assert answered.claims is not None
    fresh = replace(answered, claims=replace(answered.claims))
    results = (measure.of(fresh) for measure in measures)
    return np.stack([result.values for result in results if isinstance(result, MeasureResult)], axis=1)


class PlainClaim:
    """What the loops keep of a claim: whether the other text entails it, which passages do, and how many judged it."""

    __slots__ = ("judged", "passages", "right")

    def __init__(self) -> None:
        self.judged, self.right = 0, False
        self.passages: set[str] = set()


class PlainAnswer:
    """What the loops keep of an answer; its relevant passages are found once."""

    __slots__ = ("answer", "passages", "reference", "relevant")

    def __init__(self) -> None:
        self.answer: dict[int, PlainClaim] = {}
        self.reference: dict[int, PlainClaim] = {}
        self.passages = 0
        self.relevant: set[str] = set()


def grouped(rows: Rows) -> list[PlainAnswer]:
    """Rows by answer, each of which must have all its verdicts."""
    by_question: dict[str, PlainAnswer] = {}
    for question, side, claim, premise, found in rows:
        one = by_question.get(question)
        if one is None:
            one = by_question[question] = PlainAnswer()
        if side == "passages":
            one.passages = claim
            continue
        claims = one.answer if side == "answer" else one.reference
        entry = claims.get(claim)
        if entry is None:
            entry = claims[claim] = PlainClaim()
        if found is not None and premise is not None:
            entry.judged += 1
            if found == "entailed":
                if premise in ("reference", "answer"):
                    entry.right = True
                else:
                    entry.passages.add(premise)
                    if side == "reference":
                        one.relevant.add(premise)
    for question, one in by_question.items():
        if any(c.judged != one.passages + 1 for side in (one.answer, one.reference) for c in side.values()):
            raise ValueError(f"{question} lacks verdicts")
    return list(by_question.values())


def _mean(values: list[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _f1(one: PlainAnswer) -> float:
    precision, recall = _mean([c.right for c in one.answer.values()]), _mean([c.right for c in one.reference.values()])
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _relevant_noise(one: PlainAnswer) -> float:
    return _mean([not c.right and not c.passages.isdisjoint(one.relevant) for c in one.answer.values()])


def _irrelevant_noise(one: PlainAnswer) -> float:
    return _mean(
        [not c.right and bool(c.passages) and c.passages.isdisjoint(one.relevant) for c in one.answer.values()]
    )


PLAIN: tuple[Callable[[PlainAnswer], float], ...] = (
    lambda one: _mean([c.right for c in one.answer.values()]),
    lambda one: _mean([c.right for c in one.reference.values()]),
    _f1,
    lambda one: _mean([bool(c.passages) for c in one.reference.values()]),
    lambda one: len(one.relevant) / one.passages if one.passages else float("nan"),
    lambda one: _mean([c.right for c in one.reference.values() if c.passages]),
    _relevant_noise,
    _irrelevant_noise,
    lambda one: _mean([not c.right and not c.passages for c in one.answer.values()]),
    lambda one: _mean([c.right and not c.passages for c in one.answer.values()]),
    lambda one: _mean([bool(c.passages) for c in one.answer.values()]),
)
"""The measures as plain functions of an answer, in the order of MEASURES."""


def measure_by_measure(rows: Rows) -> list[list[float]]:
    """The plain loop: rows grouped once, then each measure of each answer."""
    answers = grouped(rows)
    return [[measure(one) for one in answers] for measure in PLAIN]


def main() -> None:
    import polars as pl

    from karat.core.language import parse_all
    from karat.files import read_claims, write_claims

    measures = parse_all(MEASURES)
    table = made()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.parquet"
        write_claims(table, path, judge="made")
        needed = ["question", "side", "claim", "premise", "verdict"]

        def read() -> AnswerTable:
            return answers(read_claims(path, table.systems, table.questions)[0])

        def rows() -> list[tuple[str, str, int, str | None, str | None]]:
            return pl.read_parquet(path, columns=needed).rows()

        stored, tuples = read(), rows()
        ours = in_columns(measures, stored)
        np.testing.assert_allclose(ours, np.transpose(measure_by_measure(tuples)), rtol=1e-12)
        seconds = race(
            {
                "measures": lambda: in_columns(measures, stored),
                "loop": lambda: measure_by_measure(tuples),
                "read": read,
                "read rows": rows,
            },
            rounds=15,
            clock=time.process_time,
            of_rounds=min,
        )
        size = path.stat().st_size
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print(
        f"{ANSWERS:,} answers x {PASSAGES} passages x {CLAIMS} + {CLAIMS} claims, {len(tuples):,} rows, {size:,} bytes"
    )
    count = len(MEASURES)
    print(verdict(f"{count} measures of a table that was read", seconds["measures"], seconds["loop"], GOAL))
    print(f"     reading before that: {seconds['read']:.4f} s with all checks; as tuples: {seconds['read rows']:.4f} s")
