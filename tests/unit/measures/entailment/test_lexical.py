"""The lexical rule as a judge of claims: its verdicts, and how far it agrees with labels of people."""

import json
from collections import Counter
from pathlib import Path

import pytest

from karat.core.claims import ENTAILED, NEITHER
from karat.measures.entailment.judging import ClaimBatch, ClaimPremise
from karat.measures.entailment.lexical import LexicalJudge

ROOT = Path(__file__).parents[4]
PAIRS = ROOT / "tests" / "data" / "claim_pairs.jsonl"


def verdict(claim, *premise, question=""):
    batch = ClaimBatch("entail", ClaimPremise(premise, question), (claim,))
    ((found,),) = [reply.verdicts for reply in LexicalJudge().judge([batch])]
    return found


@pytest.mark.parametrize(
    ("claim", "premise", "expected"),
    [
        ("The pump delivers 40 litres.", ("The pump delivers 40 litres a minute.",), ENTAILED),
        ("The pump delivers 45 litres.", ("The pump delivers 40 litres a minute.",), NEITHER),
        ("The filter is red.", ("The pump delivers 40 litres a minute.",), NEITHER),
        ("The pump is red.", ("The pump is loud.", "The filter is red."), ENTAILED),  # a set is read as one text
        ("The pump is not loud.", ("The pump is loud.",), ENTAILED),  # it sees no negation, and says so
        ("Yes.", ("Yes, it is.",), ENTAILED),
        ("No.", ("Yes, it is.",), NEITHER),
        ("Paris.", ("",), NEITHER),
    ],
)
def test_a_text_entails_what_it_supports_and_never_contradicts(claim, premise, expected):
    assert verdict(claim, *premise)[0] == expected


def test_words_of_the_question_support_nothing():
    asked = "What is the capital of France?"
    assert verdict("The capital of France is Lyon.", "Paris", question=asked)[0] == NEITHER


def test_a_figure_that_is_missing_is_named():
    assert verdict("It takes 45 minutes.", "It takes 40 minutes.")[1] == "lacks 45"


def test_claims_are_sentences_without_citations_thoughts_and_repeats():
    (split,) = LexicalJudge().split([("Q?", "<think>Hm.</think>Oil is black [1]. Water is wet.[2] Oil is black.")])
    assert split.claims == ("Oil is black.", "Water is wet.")
    (nothing,) = LexicalJudge().split([("Q?", "[1] [2, 3]")])
    assert nothing.claims == ()


def test_its_agreement_with_labels_is_what_the_documents_say():
    """64 pairs of claim and premise, written and labelled by hand before the rule was run on them."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    assert Counter(row["label"] for row in rows) == {"entailed": 27, "neither": 19, "contradicted": 18}
    held = Counter((row["label"], verdict(row["claim"], row["premise"])[0] == ENTAILED) for row in rows)
    right = held["entailed", True] + held["neither", False] + held["contradicted", False]
    n, says = len(rows), sum(count for (_, entailed), count in held.items() if entailed)
    chance = (says * 27 + (n - says) * (n - 27)) / n**2
    kappa = (right / n - chance) / (1 - chance)
    page = (ROOT / "docs" / "how-to" / "judge-claims.md").read_text(encoding="utf-8")
    for figure in (
        f"{right} of {n} pairs ({right / n:.0%}, kappa {kappa:.2f})".replace("0.", "."),
        f"{held['entailed', True]} of 27 that are entailed",
        f"{held['neither', False]} of 19 that are not",
        f"{held['contradicted', True]} of 18 contradicted claims",
    ):
        assert figure in " ".join(page.split()), figure
