"""The published formulas over claims a second time, in plain Python over lists, for tests of karat's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, ClaimRows

SPELLED = {ENTAILED: "Entailment", NEITHER: "Neutral", CONTRADICTED: "Contradiction"}


@dataclass(frozen=True)
class JudgedCase:
    """Verdicts on one answer: by the reference and by each passage on its claims, and the same of the reference's."""

    answer: tuple[int, ...]
    reference: tuple[int, ...]
    answer_by: tuple[tuple[int, ...], ...]  # claim x passage
    reference_by: tuple[tuple[int, ...], ...]
    passages: int


def answers_of(cases: Sequence[JudgedCase], systems: Sequence[str] = ("s",)) -> AnswerTable:
    """Answers with these claims, system-major."""
    questions = [f"q{number}" for number in range(len(cases) // len(systems))]
    rows = ClaimRows(systems, questions)
    for pair, case in enumerate(cases):
        rows.passages(pair, case.passages)
        for side, by, verdicts, matrix in (
            ("answer", "reference", case.answer, case.answer_by),
            ("reference", "answer", case.reference, case.reference_by),
        ):
            rows.claims(pair, side, [f"{side} claim {number}" for number in range(len(verdicts))])
            for claim, verdict in enumerate(verdicts, 1):
                rows.verdict(pair, side, claim, by, verdict)
                for passage, one in enumerate(matrix[claim - 1], 1):
                    rows.verdict(pair, side, claim, "passage", one, passages=[passage])
    size = len(cases)
    return AnswerTable(
        tuple(systems), tuple(questions), texts=["?"] * size, answers=["said"] * size, references=[("true",)] * size,
        contexts=[("text",) * case.passages for case in cases], answerable=[True] * size, claims=rows.table(),
    )  # fmt: skip


def ragchecker_file(cases: Sequence[JudgedCase]) -> dict[str, Any]:
    """The cases as RAGChecker writes them."""
    results = []
    for number, case in enumerate(cases):
        words = [[[SPELLED[v] for v in row] for row in matrix] for matrix in (case.answer_by, case.reference_by)]
        results.append({
            "query_id": f"q{number}", "query": "?", "gt_answer": "true", "response": "said",
            "retrieved_context": [{"doc_id": str(p), "text": "text"} for p in range(case.passages)],
            "response_claims": [["answer", "claims", str(c)] for c in range(len(case.answer))],
            "gt_answer_claims": [["reference", "claims", str(c)] for c in range(len(case.reference))],
            "answer2response": [SPELLED[v] for v in case.answer],
            "response2answer": [SPELLED[v] for v in case.reference],
            "retrieved2response": words[0], "retrieved2answer": words[1],
        })  # fmt: skip
    return {"results": results, "metrics": {"overall": {}, "retriever": {}, "generator": {}}}


def by_formula(case: JudgedCase) -> dict[str, float | None]:
    """What karat's measures should give, None where nothing can be divided."""
    right = {c for c, verdict in enumerate(case.answer) if verdict == ENTAILED}
    said = {c for c, verdict in enumerate(case.reference) if verdict == ENTAILED}
    held = {c: {p for p, v in enumerate(row) if v == ENTAILED} for c, row in enumerate(case.answer_by)}
    found = {c: {p for p, v in enumerate(row) if v == ENTAILED} for c, row in enumerate(case.reference_by)}
    relevant = set().union(*found.values()) if found else set()
    n, m = len(case.answer), len(case.reference)
    counts = dict.fromkeys(("relevant", "irrelevant", "made up", "own", "faithful"), 0)
    for claim in range(n):
        if held[claim]:
            counts["faithful"] += 1
            if claim not in right:
                counts["relevant" if held[claim] & relevant else "irrelevant"] += 1
        else:
            counts["own" if claim in right else "made up"] += 1
    covered = [claim for claim in found if found[claim]]
    precision, recall = _over(len(right), n), _over(len(said), m)
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * len(right) * len(said) / (len(right) * m + len(said) * n) if right or said else 0.0
    return {
        "ClaimPrecision": precision,
        "ClaimRecall": recall,
        "ClaimF1": f1,
        "ContextClaimRecall": _over(len(covered), m),
        "ContextClaimPrecision": _over(len(relevant), case.passages) if m else None,
        "ContextUtilisation": _over(sum(claim in said for claim in covered), len(covered)),
        "NoiseSensitivity(in=relevant)": _over(counts["relevant"], n) if m else None,
        "NoiseSensitivity(in=irrelevant)": _over(counts["irrelevant"], n) if m else None,
        "ClaimHallucination": _over(counts["made up"], n),
        "SelfKnowledge": _over(counts["own"], n),
        "Faithfulness(by=claims)": _over(counts["faithful"], n),
    }


def _over(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def as_ragchecker(case: JudgedCase) -> dict[str, float]:
    """What RAGChecker prints of a case under its own names, found a third way: claim by claim, and 0 for nothing."""

    def mean(values: list[bool]) -> float:
        return sum(values) / len(values) if values else 0.0

    answer = [
        (v == ENTAILED, [one == ENTAILED for one in row]) for v, row in zip(case.answer, case.answer_by, strict=True)
    ]
    reference = [
        (v == ENTAILED, [one == ENTAILED for one in row])
        for v, row in zip(case.reference, case.reference_by, strict=True)
    ]
    useful = [any(row[p] for _, row in reference) for p in range(case.passages)]
    precision, recall = mean([ok for ok, _ in answer]), mean([ok for ok, _ in reference])
    retrieved = [ok for ok, row in reference if any(row)]
    from_useful = [any(a and b for a, b in zip(row, useful, strict=True)) for _, row in answer]
    from_others = [any(a and not b for a, b in zip(row, useful, strict=True)) for _, row in answer]
    noisy = bool(reference) and case.passages > 0
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision > 0 and recall > 0 else 0.0,
        "claim_recall": mean([any(row) for _, row in reference]),
        "context_precision": mean(useful) if reference else 0.0,
        "context_utilization": mean(retrieved),
        "noise_sensitivity_in_relevant": mean(
            [good and not ok for good, (ok, _) in zip(from_useful, answer, strict=True)]
        ) if noisy else 0.0,
        "noise_sensitivity_in_irrelevant": mean(
            [bad and not good and not ok for bad, good, (ok, _) in zip(from_others, from_useful, answer, strict=True)]
        ) if noisy else 0.0,
        "hallucination": mean([not any(row) and not ok for ok, row in answer]) if case.passages else 0.0,
        "self_knowledge": mean([not any(row) and ok for ok, row in answer]) if case.passages else 0.0,
        "faithfulness": mean([any(row) for _, row in answer]),
    }  # fmt: skip
