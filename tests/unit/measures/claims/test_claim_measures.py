"""Measures of the claims table, by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from claim_formulas import JudgedCase, answers_of, as_ragchecker, by_formula, ragchecker_file

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, ClaimRows
from karat.core.errors import UsageError
from karat.core.language import parse, parse_all
from karat.core.scores import EMPTY_ANSWER
from karat.files import read_claims
from karat.measures.claims.claim_precision import claim_precision
from karat.measures.compute import compute
from karat.measures.dialects import DIALECTS

E, N, C, P = ENTAILED, NEITHER, CONTRADICTED, PARTIAL
WORKED = JudgedCase(
    answer=(E, N, C, N, E),
    reference=(E, N, E, C),
    answer_by=((E, N, N), (E, E, N), (N, N, E), (N, C, N), (N, N, P)),
    reference_by=((E, N, N), (N, N, N), (N, N, N), (E, E, N)),
    passages=3,
)
"""Passages 1 and 2 are relevant. Claim 2 is wrong and from them, 3 wrong and from passage 3, 4 made up, 5 known."""
BY_HAND = {
    "ClaimPrecision": 2 / 5,
    "ClaimRecall": 2 / 4,
    "ClaimF1": 4 / 9,
    "ContextClaimRecall": 2 / 4,
    "ContextClaimPrecision": 2 / 3,
    "ContextUtilisation": 1 / 2,
    "NoiseSensitivity(in=relevant)": 1 / 5,
    "NoiseSensitivity(in=irrelevant)": 1 / 5,
    "ClaimHallucination": 1 / 5,
    "SelfKnowledge": 1 / 5,
    "Faithfulness(by=claims)": 3 / 5,
}


def answers(rows: ClaimRows) -> AnswerTable:
    """One answer, reference and two contexts for each pair, with these claims."""
    pairs = len(rows.systems) * len(rows.questions)
    return AnswerTable(
        rows.systems, rows.questions, texts=["?"] * pairs, answers=["said"] * pairs, references=[("true",)] * pairs,
        contexts=[("one", "two")] * pairs, answerable=[True] * pairs, claims=rows.table(),
    )  # fmt: skip


def outcome(name: str, case: JudgedCase | AnswerTable):
    return parse(name).of(case if isinstance(case, AnswerTable) else answers_of([case]))


@pytest.mark.parametrize("name", BY_HAND)
def test_a_worked_example(name):
    assert outcome(name, WORKED).values.tolist() == [pytest.approx(BY_HAND[name])]
    assert by_formula(WORKED)[name] == pytest.approx(BY_HAND[name])


def test_claim_precision_counts_what_the_reference_entails():
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


NO_ANSWER = JudgedCase((), (E,), (), ((E, N),), 2)
NO_REFERENCE = JudgedCase((E, N), (), ((E, N), (N, N)), (), 2)
NO_PASSAGES = JudgedCase((E, N), (E, C), ((), ()), ((), ()), 0)
NOTHING_FOUND = JudgedCase((N,), (E,), ((N,),), ((C,),), 1)


@pytest.mark.parametrize(
    ("name", "case", "value"),
    [
        ("ClaimPrecision", NO_ANSWER, "the answer claims nothing"),
        ("ClaimRecall", NO_ANSWER, 1.0),
        ("ClaimF1", NO_ANSWER, "the answer claims nothing"),
        ("ClaimF1", NO_REFERENCE, "there is no reference answer that claims anything"),
        ("ClaimRecall", NO_REFERENCE, "there is no reference answer that claims anything"),
        ("ContextClaimRecall", NO_REFERENCE, "there is no reference answer that claims anything"),
        ("ContextClaimPrecision", NO_REFERENCE, "there is no reference answer that claims anything"),
        ("ContextClaimPrecision", NO_PASSAGES, "there are no passages"),
        ("ContextClaimPrecision", NOTHING_FOUND, 0.0),
        ("ContextClaimRecall", NO_PASSAGES, 0.0),
        ("ContextUtilisation", NOTHING_FOUND, "no passage entails a claim of the reference"),
        ("NoiseSensitivity", NO_REFERENCE, "there is no reference answer that claims anything"),
        ("NoiseSensitivity(in=irrelevant)", NO_ANSWER, "the answer claims nothing"),
        ("NoiseSensitivity(in=irrelevant)", NO_PASSAGES, 0.0),
        ("ClaimHallucination", NO_PASSAGES, 0.5),
        ("SelfKnowledge", NO_PASSAGES, 0.5),
        ("Faithfulness(by=claims)", NO_PASSAGES, 0.0),
        ("Faithfulness(by=claims)", NO_ANSWER, "the answer claims nothing"),
        ("Faithfulness(by=claims, scale=liverag)", NO_PASSAGES, -1.0),
        ("Faithfulness(by=claims, scale=liverag)", WORKED, 0.0),
    ],
)
def test_what_is_undefined_is_no_zero(name, case, value):
    result = outcome(name, case)
    if isinstance(value, str):
        assert result.undefined == {0: value}
        assert not math.isfinite(result.values[0])
        assert dict(result.details) == {}
        assert outcome(f"{name.removesuffix(')')}{', ' if '(' in name else '('}empty=zero)", case).values.tolist() == [
            0
        ]
    else:
        assert result.undefined == {}
        assert result.values.tolist() == [value]


def test_what_was_not_judged_has_no_score():
    rows = ClaimRows(["a"], ["q1", "q2", "q3"])
    rows.claims(0, "answer", ["x"])
    rows.verdict(0, "answer", 1, "reference", ENTAILED)
    rows.passages(1, 2)
    rows.claims(1, "answer", ["x"])
    rows.verdict(1, "answer", 1, "passage", ENTAILED, passages=[1])
    rows.failed[1, "answer by reference"] = "the judge answered nonsense"
    table = answers(rows)
    assert outcome("Faithfulness(by=claims)", table).undefined == {
        0: "no context texts are known",
        2: "its claims were not judged",
    }
    assert outcome("Faithfulness(by=claims)", table).failed == {1: "1 of 2 verdicts are missing (answer by passage)"}
    assert outcome("ClaimPrecision", table).failed == {1: "the judge answered nonsense"}
    assert outcome("ClaimRecall(empty=zero)", table).undefined == dict.fromkeys(range(3), "its claims were not judged")
    with pytest.raises(UsageError, match="SelfKnowledge needs claims and their verdicts, and there are none"):
        outcome("SelfKnowledge", replace(table, claims=None))


def test_an_empty_answer_is_called_so():
    table = replace(answers_of([NO_ANSWER]), answers=["  "])
    assert outcome("ClaimPrecision", table).undefined == {0: EMPTY_ANSWER}


def test_a_score_shows_its_claims():
    noise = outcome("NoiseSensitivity(in=relevant)", WORKED).details[0]
    assert noise == {
        "by": "claims",
        "reason": "1 of 5 claims of the answer: 1 neither.",
        "claims": [{"claim": "answer claim 1", "verdict": "neither", "contexts": [1, 2], "reason": ""}],
    }
    faithful = outcome("Faithfulness(by=claims)", WORKED).details[0]
    assert faithful["reason"] == "5 claims of the answer: 1 contradicted, 3 entailed, 1 neither."
    assert [(one["verdict"], one["contexts"]) for one in faithful["claims"]] == [
        ("entailed", [1]), ("entailed", [1, 2]), ("entailed", [3]), ("contradicted", [2]), ("neither", []),
    ]  # fmt: skip
    used = outcome("ContextUtilisation", WORKED).details[0]
    assert [one["claim"] for one in used["claims"]] == ["reference claim 0", "reference claim 3"]
    assert [one["verdict"] for one in used["claims"]] == ["entailed", "contradicted"]
    scores = compute([parse("ClaimRecall")], ("s",), ("q0",), answered=answers_of([WORKED]))
    assert json.loads(json.dumps(scores.detail(0, 0, 0)))["reason"].startswith("4 claims of the reference: ")


def test_the_reasons_of_the_judge_are_shown():
    rows = ClaimRows(["a"], ["q1"])
    rows.claims(0, "answer", ["x"])
    rows.verdict(0, "answer", 1, "reference", CONTRADICTED, reason="it says the reverse")
    shown = outcome("ClaimPrecision", answers(rows)).details[0]["claims"]
    assert shown == [{"claim": "x", "verdict": "contradicted", "contexts": [], "reason": "it says the reverse"}]


def test_the_reason_shown_is_that_of_the_passage_that_decides():
    rows = ClaimRows(["a"], ["q1"])
    rows.passages(0, 2)
    rows.claims(0, "reference", ["x", "y"])
    for claim, verdicts in enumerate([(C, E), (N, C)]):
        for passage, verdict in enumerate(verdicts, 1):
            rows.verdict(0, "reference", claim + 1, "passage", verdict, passages=(passage,), reason=f"says {verdict}")
    shown = outcome("ContextClaimRecall", answers(rows)).details[0]["claims"]
    assert [(one["verdict"], one["contexts"], one["reason"]) for one in shown] == [
        ("entailed", [2], f"says {E}"), ("contradicted", [2], f"says {C}"),
    ]  # fmt: skip


def test_in_is_a_parameter_of_the_language():
    assert str(parse("noise_sensitivity(IN=irrelevant)")) == "NoiseSensitivity(in=irrelevant)"
    assert str(parse("NoiseSensitivity")) == "NoiseSensitivity(in=relevant)"
    assert parse("NoiseSensitivity(in=irrelevant)").keywords == {"in_": "irrelevant", "empty": "undefined"}
    with pytest.raises(UsageError, match="in=both is not one of relevant, irrelevant"):
        parse("NoiseSensitivity(in=both)")
    with pytest.raises(UsageError, match="It takes in, empty"):
        parse("NoiseSensitivity(of=relevant)")


CASES = (WORKED, NO_ANSWER, NO_REFERENCE, NO_PASSAGES, NOTHING_FOUND, JudgedCase((), (), (), (), 0))


def test_ragcheckers_figures_are_reproduced_from_its_file(tmp_path):
    cases = [replace(WORKED, answer_by=(*WORKED.answer_by[:4], (N, N, N))), *CASES[1:]]
    path = tmp_path / "checked.json"
    path.write_text(json.dumps(ragchecker_file(cases)))
    answered = answers_of(cases)
    table, _ = read_claims(path, answered.systems, answered.questions)
    dialect = DIALECTS["ragchecker"]
    names = list(dialect.names)
    measures = parse_all(names, meant=dialect.meant, names=dialect.names)
    scores = compute(measures, answered.systems, answered.questions, answered=replace(answered, claims=table))
    assert (scores.status == 0).all()
    figures = [as_ragchecker(case) for case in cases]
    expected = np.array([[figure[name] for name in names] for figure in figures])
    np.testing.assert_allclose(scores.values[0], expected, rtol=1e-15)
    assert scores.values[0, 0, names.index("noise_sensitivity_in_irrelevant")] == pytest.approx(1 / 5)
    assert scores.values[0, 3, names.index("hallucination")] == 0.0


def test_bare_names_are_ragcheckers_in_its_dialect_alone():
    dialect = DIALECTS["ragchecker"]
    ours = {name: str(parse(name, names=dialect.names)) for name in ("precision", "Claim_Recall", "faithfulness")}
    assert ours == {
        "precision": "ClaimPrecision(empty=zero)",
        "Claim_Recall": "ContextClaimRecall(empty=zero)",
        "faithfulness": "Faithfulness(by=claims, empty=zero)",
    }
    assert str(parse("claim_recall")) == "ClaimRecall"
    assert str(dialect.meant(parse("ClaimRecall", names=dialect.names))) == "ClaimRecall(empty=zero)"
    assert str(dialect.meant(parse("ClaimRecall(empty=undefined)"))) == "ClaimRecall"
    assert str(parse("Precision@5", names=dialect.names)) == "Precision@5"
    default = dialect.measures(rankings=False, answers=True, references=True, contexts=False)
    assert default == list(dialect.names.values())
